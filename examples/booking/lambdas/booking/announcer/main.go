// Command announcer is the Lambda function that hands new and cancelled bookings on, as they come from the bus.
package main

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-lambda-go/events"

	"example.com/booking/hotel"
	"example.com/booking/lambdas/booking"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/queue"
)

func main() {
	kit.StartEvent("booking", func(_ context.Context, e kit.Environment) (
		func(context.Context, events.EventBridgeEvent) error, error) {
		urls, err := e.Require(hotel.WebhookQueue, hotel.WaitListQueue)
		if err != nil {
			return nil, err
		}
		hook, waitList := queue.New(e.AWS, urls[0]), queue.New(e.AWS, urls[1])
		return func(ctx context.Context, event events.EventBridgeEvent) error {
			var detail booking.Detail
			if err := json.Unmarshal(event.Detail, &detail); err != nil {
				return err
			}
			return booking.Announce(ctx, event.DetailType, detail, hook, waitList)
		}, nil
	})
}
