// Command hello says where it is.
package main

func main() { println("french/hello") }
