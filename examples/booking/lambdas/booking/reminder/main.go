// Command reminder is the Lambda function that reminds guests of the next day's arrival.
package main

import (
	"context"
	"time"

	"example.com/booking/hotel"
	"example.com/booking/lambdas/booking"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
)

func main() {
	kit.StartEvent("booking", func(_ context.Context, e kit.Environment) (func(context.Context, struct{}) error,
		error) {
		db, err := dynamo.Open(e, hotel.Platform(), hotel.Reminder)
		service := &booking.Service{DB: db}
		return func(ctx context.Context, _ struct{}) error {
			reminded, err := service.Remind(ctx, time.Now())
			e.Metrics.Emit(ctx, kit.Count("Reminded", reminded))
			return err
		}, err
	})
}
