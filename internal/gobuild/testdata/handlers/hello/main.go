package main

import "example.com/handlers/greeting"

func main() { println(greeting.Of("hello")) }
