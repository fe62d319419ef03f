// Command compactor is the Lambda function that merges a lake's small objects,
// each time that its schedule invokes it.
package main

import (
	"context"
	"encoding/json"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/bucket"
	"github.com/onesynth-cdk/onesynth/lambdas/lake"
	"github.com/onesynth-cdk/onesynth/schema"
)

func main() {
	kit.StartResponder("lake", func(_ context.Context,
		environment kit.Environment) (func(context.Context, json.RawMessage) (lake.Report, error), error) {
		values, err := environment.Require("LAKE_DEFINITION", "LAKE_BUCKET")
		if err != nil {
			return nil, err
		}
		definition, err := schema.ParseLakeDefinition(values[0])
		if err != nil {
			return nil, err
		}
		compactor := lake.NewCompactor(definition, bucket.New(environment.AWS, values[1], lake.ContentType))
		compactor.Log, compactor.Metrics = environment.Log, environment.Metrics
		return func(ctx context.Context, _ json.RawMessage) (lake.Report, error) { return compactor.Run(ctx) }, nil
	})
}
