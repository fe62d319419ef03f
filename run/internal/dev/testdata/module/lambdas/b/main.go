package main

import (
	_ "example.com/library"
	_ "example.com/m/kit"
)

func main() {}
