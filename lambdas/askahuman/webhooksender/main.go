// Command webhooksender is the Lambda function that sends the webhooks of a queue to the endpoints of agents.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/setup"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/queue"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

func main() {
	kit.StartResponder("askahuman", func(_ context.Context,
		environment kit.Environment) (func(context.Context, events.SQSEvent) (events.SQSEventResponse,
		error), error) {
		url, err := environment.Require(askahuman.WebhookQueueVariable)
		if err != nil {
			return nil, err
		}
		deliveries, err := service.Open(environment, "webhooksender")
		if err != nil {
			return nil, err
		}
		secrets, err := setup.WebhookSecrets(environment, deliveries.DB)
		if err != nil {
			return nil, err
		}
		failures, err := queue.OfFailures(environment)
		if err != nil {
			return nil, err
		}
		f := &function{
			sender: &webhooks.Sender{Keys: secrets,
				Post: (&webhook.Client{Addresses: webhook.AddressesOf(environment.Getenv)}).Post},
			deliveries: deliveries, plan: askahuman.WebhookRetries(),
			queue: queue.New(environment.AWS, url[0]), failures: failures,
			log: environment.Log, metrics: environment.Metrics,
		}
		if !deliveries.Parts.WithoutModeration {
			f.sender.CheckAgent = deliveries.CheckAgent
		}
		return f.handle, nil
	})
}
