// Command start panics while it starts.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

func main() {
	kit.StartEvent("planted", func(context.Context, kit.Environment) (func(context.Context, any) error, error) {
		var limits map[string]int
		limits["links"] = 1
		return nil, nil
	})
}
