package words

//go:noinline
func All() string { return "greetings " }
