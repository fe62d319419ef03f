// Command onesynth-lake answers SQL on the lakes of a local run, and checks the views of lakes, for the command
// onesynth. It is a command of its own because it alone has DuckDB.
package main

import (
	"os"

	"github.com/onesynth-cdk/onesynth/run/lake"
)

func main() { os.Exit(lake.Main()) }
