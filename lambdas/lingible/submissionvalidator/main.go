// Command submissionvalidator is the Lambda function that validates new submissions. It gets them
// from the stream of the submissions.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/queue"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/stream"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/setup"
)

func main() {
	kit.StartResponder("lingible", func(_ context.Context,
		environment kit.Environment) (func(context.Context, stream.Event) (events.DynamoDBEventResponse, error),
		error) {
		s, err := setup.Speaking(environment, "submissionvalidator")
		if err != nil {
			return nil, err
		}
		failures, err := queue.Failures(environment)
		if err != nil {
			return nil, err
		}
		f := &function{judge: s.Validate, batch: &stream.Batch{Failures: failures, Parallel: true,
			Log: environment.Log}}
		return f.handle, nil
	})
}
