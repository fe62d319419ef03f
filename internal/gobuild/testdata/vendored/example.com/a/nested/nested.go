package nested

//go:noinline
func N() string { panic("nested") }
