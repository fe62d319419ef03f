package main

import (
	"context"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/stream"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/dynamodb"
)

// function is the account cleaner.
type function struct {
	accounts interface {
		// CleanAccount reports whether nothing is left of a user; if not, it is called again.
		CleanAccount(ctx context.Context, user string) (complete bool, err error)
	}
	log     *slog.Logger
	metrics *kit.Metrics
}

// handle cleans the accounts of a batch. Those that failed, or for which there was no time, are
// delivered again.
func (f *function) handle(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	cleaned := 0
	response, err := stream.Batch{Failed: f.failed}.Each(ctx, event, func(ctx context.Context, change events.DynamoDBStreamRecord) error {
		user, ok := dynamodb.DeletedUser(change)
		if !ok {
			return nil
		}
		complete, err := f.accounts.CleanAccount(ctx, user)
		if complete {
			cleaned++
		} else if err == nil {
			err = stream.ErrUnfinished
		}
		return err
	})
	f.metrics.Emit(ctx, kit.Count("AccountsCleaned", cleaned))
	return response, err
}

func (f *function) failed(ctx context.Context, eventID string, err error) {
	f.log.ErrorContext(ctx, "an account is not cleaned yet", "event_id", eventID, "error", err.Error())
}
