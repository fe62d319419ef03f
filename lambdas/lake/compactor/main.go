// Command compactor is the Lambda function that merges a lake's small objects,
// each time that its schedule invokes it.
package main

import (
	"context"
	"encoding/json"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/lake"
)

func main() {
	kit.StartResponder("lake", func(_ context.Context,
		environment kit.Environment) (func(context.Context, json.RawMessage) (lake.Report, error), error) {
		definition, objects, err := lake.Open(environment)
		if err != nil {
			return nil, err
		}
		compactor := lake.NewCompactor(definition, objects)
		compactor.Log, compactor.Metrics = environment.Log, environment.Metrics
		return func(ctx context.Context, _ json.RawMessage) (lake.Report, error) { return compactor.Run(ctx) }, nil
	})
}
