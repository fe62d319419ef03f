// Command submissionvalidator is the Lambda function that validates new submissions. It gets them
// from the stream of the submissions.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/setup"
)

func main() {
	kit.StartResponder("lingible", func(_ context.Context, environment kit.Environment) (func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error), error) {
		moderation, err := setup.Validator(environment, "submissionvalidator")
		if err != nil {
			return nil, err
		}
		return (&function{moderation: moderation, log: environment.Log}).handle, nil
	})
}
