// Command submissionvalidator is the Lambda function that validates new submissions. It gets them
// from the stream of the submissions.
package main

import (
	"context"

	lambdaevents "github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/events"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/setup"
)

func main() {
	kit.StartResponder("lingible", func(_ context.Context,
		environment kit.Environment) (func(context.Context, events.Records) (lambdaevents.DynamoDBEventResponse, error),
		error) {
		s, err := setup.Speaking(environment, "submissionvalidator")
		if err != nil {
			return nil, err
		}
		failures, err := events.FailureQueue(environment)
		if err != nil {
			return nil, err
		}
		f := &function{judge: s.Validate, batch: &events.Stream{Failures: failures, Parallel: true,
			Log: environment.Log}}
		return f.handle, nil
	})
}
