package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/jsii-runtime-go"
)

// main runs the examples in turn, or makes a mistake. After each example it moves the assembly away.
func main() {
	if os.Args[1] == "mistake" {
		mistake(os.Args[2])
		return
	}
	defer jsii.Close()
	for _, example := range examples {
		fmt.Println(example.name)
		example.run()
		if err := os.Rename(os.Getenv("CDK_OUTDIR"), filepath.Join(os.Args[2], example.name)); err != nil {
			panic(err)
		}
	}
}
