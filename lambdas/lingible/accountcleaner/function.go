package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

// function is the account cleaner.
type function struct {
	// clean reports whether nothing is left of a user; if not, it is called again.
	clean   func(ctx context.Context, user string) (complete bool, err error)
	batch   *trigger.Stream
	metrics *kit.Metrics
}

// handle cleans the accounts of a batch. One that fails holds up no other: accounts have nothing in common. One for
// which there was no time is delivered again.
func (f *function) handle(ctx context.Context, event trigger.Records) (events.DynamoDBEventResponse, error) {
	cleaned := 0
	response, err := f.batch.Each(ctx, event, func(ctx context.Context,
		change events.DynamoDBStreamRecord) error {
		user, err := service.DeletedUser(change)
		if user == "" {
			return err
		}
		complete, err := f.clean(ctx, user)
		if complete {
			cleaned++
		} else if err == nil {
			err = trigger.ErrUnfinished
		}
		return err
	})
	f.metrics.Emit(ctx, kit.Count("AccountsCleaned", cleaned))
	return response, err
}
