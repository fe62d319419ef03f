// Command eraser is the Lambda function that finishes deletions of users whose
// request died or ran out of time. From the table's stream it gets the counts of
// users who are being deleted.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/queue"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/stream"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/dynamodb"
)

func main() {
	kit.StartResponder("todo", func(_ context.Context, environment kit.Environment) (func(context.Context, stream.Event) (events.DynamoDBEventResponse, error), error) {
		store, err := dynamodb.Open(environment, "eraser")
		if err != nil {
			return nil, err
		}
		failures, err := queue.Failures(environment)
		if err != nil {
			return nil, err
		}
		f := &function{
			eraser: todo.Eraser{Store: store}, batch: &stream.Batch{Failures: failures, Log: environment.Log},
			metrics: environment.Metrics,
		}
		return f.handle, nil
	})
}
