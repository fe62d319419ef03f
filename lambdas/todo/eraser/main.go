// Command eraser is the Lambda function that finishes deletions of users whose
// request died or ran out of time. From the table's stream, or from the publisher of
// events, it gets the counts of users who are being deleted.
package main

import (
	"context"

	lambdaevents "github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/events"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

func main() {
	kit.StartResponder("todo", func(_ context.Context,
		environment kit.Environment) (func(context.Context, events.Records) (lambdaevents.DynamoDBEventResponse, error),
		error) {
		db, err := dynamo.Open(environment, todo.Platform(), "eraser")
		if err != nil {
			return nil, err
		}
		failures, err := events.FailureQueue(environment)
		if err != nil {
			return nil, err
		}
		// Where events are published, the publisher passes deletions on by a queue.
		passed := events.NewQueue(environment.AWS, environment.Getenv(schema.PassedQueueVariable("eraser")))
		f := &function{
			erase:   (&service.Service{DB: db}).Erase,
			batch:   &events.Stream{Failures: failures, Log: environment.Log, Defer: passed.Defer},
			metrics: environment.Metrics,
		}
		return f.handle, nil
	})
}
