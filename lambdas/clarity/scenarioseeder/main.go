// Command scenarioseeder is the Lambda function that `onesynth seed clarity` invokes: it loads the
// scenarios that Clarity begins with.
package main

import (
	"context"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/scenarios"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

func main() {
	kit.StartResponder("clarity", func(_ context.Context, environment kit.Environment) (seed.Handler, error) {
		initial, err := scenarios.Initial()
		if err != nil {
			return nil, err
		}
		db, err := dynamo.Open(environment, clarity.Platform(), "scenarioseeder")
		if err != nil {
			return nil, err
		}
		return seed.Load(initial, service.NewScenarios(db, nil).Add), nil
	})
}
