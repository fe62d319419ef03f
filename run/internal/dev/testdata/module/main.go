package main

import _ "example.com/m/schema"

func main() {}
