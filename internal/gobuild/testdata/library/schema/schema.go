package schema

//go:noinline
func S() string { panic("schema") }
