// Command scenarioseeder is the Lambda function that `onesynth seed clarity` invokes: it loads the
// scenarios that Clarity begins with.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/scenarios"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
)

func main() {
	kit.StartResponder("clarity", func(_ context.Context, environment kit.Environment) (func(context.Context, seed.Request) (seed.Progress, error), error) {
		initial, err := scenarios.Initial()
		if err != nil {
			return nil, err
		}
		store, err := dynamodb.Open(environment, "scenarioseeder")
		if err != nil {
			return nil, err
		}
		return seed.Load(initial, store.AddScenario), nil
	})
}
