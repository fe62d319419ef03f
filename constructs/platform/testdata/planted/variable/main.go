// Command variable requires a variable whose name is misspelt.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

func main() {
	kit.StartEvent("planted", func(_ context.Context, e kit.Environment) (func(context.Context, any) error, error) {
		_, err := e.Require("LINK_TABLE")
		return func(context.Context, any) error { return nil }, err
	})
}
