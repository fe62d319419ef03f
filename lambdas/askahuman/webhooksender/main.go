// Command webhooksender is the Lambda function that sends the webhooks of a queue to the endpoints of agents.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/queue"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/secret"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/schema"
)

// keyAge is for how long the platform's key is kept: an operator who replaces it waits no longer.
const keyAge = time.Hour

func main() {
	kit.StartResponder("askahuman", func(_ context.Context, environment kit.Environment) (func(context.Context, events.SQSEvent) (events.SQSEventResponse, error), error) {
		variables, err := environment.Require(schema.WebhookQueueVariable, schema.WebhookSecretVariable)
		if err != nil {
			return nil, err
		}
		store, err := dynamodb.Open(environment, "webhooksender")
		if err != nil {
			return nil, err
		}
		f := &function{
			sender: &webhooks.Sender{
				Keys:   &webhooks.Secrets{Key: secret.New(environment.AWS, variables[1], keyAge).Value, Store: store},
				Poster: &webhook.Client{Addresses: webhook.AddressesOf(environment.Getenv)},
			},
			plan: schema.WebhookRetries(), queue: queue.New(environment.AWS, variables[0]), log: environment.Log, metrics: environment.Metrics,
		}
		return f.handle, nil
	})
}
