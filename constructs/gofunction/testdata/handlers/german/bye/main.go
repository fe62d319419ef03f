// Command bye says where it is.
package main

func main() { println("german/bye") }
