// Command accountcleaner is the Lambda function that removes everything of users who have deleted
// their accounts. It gets their profiles from the stream of the users.
package main

import (
	"context"

	lambdaevents "github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/events"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

func main() {
	kit.StartResponder("lingible", func(_ context.Context,
		environment kit.Environment) (func(context.Context, events.Records) (lambdaevents.DynamoDBEventResponse, error),
		error) {
		db, err := dynamo.Open(environment, lingible.Platform(), "accountcleaner")
		if err != nil {
			return nil, err
		}
		failures, err := events.FailureQueue(environment)
		if err != nil {
			return nil, err
		}
		f := &function{
			clean:   (&service.Service{DB: db}).CleanAccount,
			batch:   &events.Stream{Failures: failures, Log: environment.Log},
			metrics: environment.Metrics,
		}
		return f.handle, nil
	})
}
