// Command hotelhook is the Lambda function that tells the hotel of bookings by webhooks.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"example.com/booking/hotel"
	"example.com/booking/lambdas/booking"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/queue"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
)

func main() {
	kit.StartResponder("booking", func(ctx context.Context, e kit.Environment) (
		func(context.Context, events.SQSEvent) (events.SQSEventResponse, error), error) {
		db, err := dynamo.Open(e, hotel.Platform(), hotel.HotelHook)
		if err != nil {
			return nil, err
		}
		signing, err := booking.ReadWebhookSecret(ctx, e)
		if err != nil {
			return nil, err
		}
		urls, err := e.Require(hotel.WebhookQueue)
		if err != nil {
			return nil, err
		}
		failures, err := queue.OfFailures(e)
		if err != nil {
			return nil, err
		}
		hook := booking.Hook{Service: &booking.Service{DB: db}, Secret: signing,
			Client: &webhook.Client{Addresses: webhook.AddressesOf(e.Getenv)}}
		batch := trigger.Messages{Plan: hotel.WebhookPlan, Defer: queue.New(e.AWS, urls[0]).Defer,
			GiveUp: failures.GiveUp,
			Failed: func(ctx context.Context, _ events.SQSMessage, attempt trigger.Attempt, err error) {
				e.Log.WarnContext(ctx, "the hotel has not taken a webhook", "attempt", attempt.Number, "error", err)
			}}
		return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
			return batch.Each(ctx, event, func(ctx context.Context, message events.SQSMessage) error {
				return hook.Send(ctx, message.Body, time.Now())
			})
		}, nil
	})
}
