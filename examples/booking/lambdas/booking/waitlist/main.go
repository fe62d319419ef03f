// Command waitlist is the Lambda function that gives nights that are free again to guests who wait.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"example.com/booking/hotel"
	"example.com/booking/lambdas/booking"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/queue"
)

func main() {
	kit.StartResponder("booking", func(_ context.Context, e kit.Environment) (
		func(context.Context, events.SQSEvent) (events.SQSEventResponse, error), error) {
		db, err := dynamo.Open(e, hotel.Platform(), hotel.WaitList)
		if err != nil {
			return nil, err
		}
		urls, err := e.Require(hotel.WaitListQueue)
		if err != nil {
			return nil, err
		}
		failures, err := queue.OfFailures(e)
		if err != nil {
			return nil, err
		}
		service := &booking.Service{DB: db}
		batch := trigger.Messages{Plan: hotel.WaitListPlan, Defer: queue.New(e.AWS, urls[0]).Defer,
			GiveUp: failures.GiveUp,
			Failed: func(ctx context.Context, _ events.SQSMessage, attempt trigger.Attempt, err error) {
				e.Log.ErrorContext(ctx, "the waiting list is not served", "attempt", attempt.Number, "error", err)
			}}
		return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
			return batch.Each(ctx, event, func(ctx context.Context, message events.SQSMessage) error {
				var freed booking.Freed
				if err := json.Unmarshal([]byte(message.Body), &freed); err != nil {
					return fmt.Errorf("%w: %w", trigger.ErrHopeless, err)
				}
				promoted, err := service.Promote(ctx, freed)
				e.Metrics.Emit(ctx, kit.Count("BookedFromWaitingList", promoted))
				return err
			})
		}, nil
	})
}
