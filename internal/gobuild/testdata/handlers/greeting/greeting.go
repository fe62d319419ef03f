package greeting

import "example.com/handlers/words"

func Of(name string) string { return words.All() + name }
