package a

import "example.com/a/nested"

func A() string { return "a" + nested.N() }
