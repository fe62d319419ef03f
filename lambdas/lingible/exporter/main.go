// Command exporter is the Lambda function that exports the lexicon to Amazon S3. It gets the keys of
// the changed terms from the stream of the lexicon.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/queue"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/stream"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/setup"
)

func main() {
	kit.StartResponder("lingible", func(_ context.Context, environment kit.Environment) (func(context.Context, stream.Event) (events.DynamoDBEventResponse, error), error) {
		store, err := dynamodb.Open(environment, "exporter")
		if err != nil {
			return nil, err
		}
		exporter, err := setup.Exporter(environment, store)
		if err != nil {
			return nil, err
		}
		failures, err := queue.Failures(environment)
		if err != nil {
			return nil, err
		}
		f := &function{
			exporter: exporter, batch: &stream.Batch{Failures: failures, Log: environment.Log},
			metrics: environment.Metrics,
		}
		return f.handle, nil
	})
}
