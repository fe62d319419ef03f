// Package eraser starts the function that goes on with deletions.
package eraser

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/queue"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/stream"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Start starts the eraser of a platform as a Lambda function. setup returns it with Of and Erase. Its Names are those
// of the metrics that the platform has of the function.
func Start[D comparable](platform schema.Platform, function string, setup func(*dynamo.DB) ownership.Eraser[D]) {
	stream.Start(platform.Name, func(environment kit.Environment,
		batch *trigger.Stream) (trigger.Function, error) {
		db, err := dynamo.Open(environment, platform, function)
		if err != nil {
			return nil, err
		}
		// Where events are published, the publisher passes deletions on by a queue.
		passed := queue.New(environment.AWS, environment.Getenv(schema.PassedQueueVariable(function)))
		batch.Defer = passed.Defer
		e := setup(db)
		e.Batch, e.Metrics = batch, environment.Metrics
		for _, metric := range schema.MetricsOf(function, platform.Metrics) {
			e.Names = append(e.Names, metric.Name)
		}
		return e.Handle, nil
	})
}
