// Command webhookqueuer is the Lambda function that puts a webhook into the queue when a question has ended whose agent
// wants one. It gets the changes of questions from the table's stream.
package main

import (
	"context"

	lambdaevents "github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/events"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

func main() {
	kit.StartResponder("askahuman", func(_ context.Context,
		environment kit.Environment) (func(context.Context, events.Records) (lambdaevents.DynamoDBEventResponse, error),
		error) {
		url, err := environment.Require(askahuman.WebhookQueueVariable)
		if err != nil {
			return nil, err
		}
		failures, err := events.FailureQueue(environment)
		if err != nil {
			return nil, err
		}
		f := &function{
			send:    events.NewQueue(environment.AWS, url[0]).Send,
			batch:   &events.Stream{Failures: failures, Parallel: true, Log: environment.Log},
			metrics: environment.Metrics,
		}
		return f.handle, nil
	})
}
