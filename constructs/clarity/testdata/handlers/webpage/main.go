// Command webpage stands in for the handler of that name: the template does not depend
// on what a handler does.
package main

func main() { println("webpage") }
