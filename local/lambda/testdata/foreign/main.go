// The smallest program, to be built for a processor that the machine does not have.
package main

func main() {}
