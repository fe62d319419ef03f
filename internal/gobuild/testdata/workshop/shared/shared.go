package shared

func Text() string { return "x" }
