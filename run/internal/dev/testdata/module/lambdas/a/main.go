package main

import (
	_ "example.com/m/kit"
	_ "example.com/m/schema"
)

func main() {}
