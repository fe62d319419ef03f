// Command bye says where it is.
package main

func main() { println("french/bye") }
