// Command writer is the Lambda function that writes the changes of a table's
// stream to its lake.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/queue"
	"github.com/onesynth-cdk/onesynth/lambdas/lake"
)

func main() {
	kit.StartEvent("lake", func(_ context.Context,
		environment kit.Environment) (func(context.Context, trigger.Records) error, error) {
		definition, objects, err := lake.Open(environment)
		if err != nil {
			return nil, err
		}
		failures, err := queue.OfFailures(environment)
		if err != nil {
			return nil, err
		}
		writer := lake.NewWriter(definition, objects.Put, failures)
		writer.Log, writer.Metrics = environment.Log, environment.Metrics
		return writer.Handle, nil
	})
}
