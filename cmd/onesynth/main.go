// Command onesynth runs cloud assemblies on this machine, talks to such a run, and checks an assembly before it is
// deployed.
package main

import (
	"os"

	"github.com/onesynth-cdk/onesynth/run/command"
)

func main() { os.Exit(command.Main(os.Args[1:])) }
