// Command gate is a handler to build: what it does is of no matter.
package main

func main() { println("gate") }
