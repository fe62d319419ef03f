// Command postman is the Lambda function that writes messages to guests, about events on the platform's bus.
package main

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-lambda-go/events"

	"example.com/booking/hotel"
	"example.com/booking/lambdas/booking"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
)

func main() {
	kit.StartEvent("booking", func(_ context.Context, e kit.Environment) (
		func(context.Context, events.EventBridgeEvent) error, error) {
		db, err := dynamo.Open(e, hotel.Platform(), hotel.Postman)
		service := &booking.Service{DB: db}
		return func(ctx context.Context, event events.EventBridgeEvent) error {
			var detail booking.Detail
			if err := json.Unmarshal(event.Detail, &detail); err != nil {
				return err
			}
			return service.Tell(ctx, event.DetailType, detail.ID, event.Time, detail.BookingEvent)
		}, err
	})
}
