package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
)

// function is the eraser.
type function struct {
	erase   func(context.Context, service.Deletion) (complete bool, err error)
	batch   *trigger.Stream
	metrics *kit.Metrics
}

// handle completes the deletions of a batch. One that fails holds up no other: users have nothing in common. One for
// which there was no time is delivered again.
func (f *function) handle(ctx context.Context, event trigger.Records) (events.DynamoDBEventResponse, error) {
	erased, failed := 0, 0
	response, err := f.batch.Each(ctx, event, func(ctx context.Context,
		change events.DynamoDBStreamRecord) error {
		deletion, ok := service.DeletionOf(change)
		if !ok {
			return nil
		}
		complete, err := f.erase(ctx, deletion)
		switch {
		case err != nil:
			failed++
		case complete:
			erased++
		default:
			err = trigger.ErrUnfinished
		}
		return err
	})
	f.metrics.Emit(ctx, kit.Count("UsersErased", erased), kit.Count("EraserFailures", failed))
	return response, err
}
