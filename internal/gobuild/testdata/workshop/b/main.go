package main

import "example.com/m/shared"

func main() { println(shared.Text()) }
