package main

import (
	"example.com/a"
	"example.com/b/sub"
	"example.com/library/schema"
)

func main() { println(a.A(), sub.B, schema.S()) }
