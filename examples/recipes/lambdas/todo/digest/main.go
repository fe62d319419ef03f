// Command digest is the function of the recipe Schedule.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

func main() {
	kit.StartEvent("todo", func(_ context.Context, e kit.Environment) (func(context.Context, struct{}) error, error) {
		return func(ctx context.Context, _ struct{}) error {
			// Here people would be told. An error makes the run come again, once.
			e.Log.InfoContext(ctx, "good morning")
			return nil
		}, nil
	})
}
