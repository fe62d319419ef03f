// Command profilecreator is the Lambda function that creates the profile of a user whose sign-up
// Amazon Cognito has confirmed.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/setup"
)

func main() {
	kit.StartResponder("lingible", func(_ context.Context,
		environment kit.Environment) (func(context.Context,
		events.CognitoEventUserPoolsPostConfirmation) (events.CognitoEventUserPoolsPostConfirmation, error), error) {
		s, err := setup.Service(environment, "profilecreator")
		if err != nil {
			return nil, err
		}
		f := &function{service: s, log: environment.Log}
		return f.handle, nil
	})
}
