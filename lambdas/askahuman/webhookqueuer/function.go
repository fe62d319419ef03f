package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/stream"
)

// sender puts messages into the queue of webhooks.
type sender interface {
	Send(ctx context.Context, body string) error
}

type function struct {
	queue   sender
	log     *slog.Logger
	metrics *kit.Metrics
}

// handle queues the webhooks of a batch of changes. A change comes again if its webhook could not be queued; those before it then
// may be queued twice, with the same id.
func (f *function) handle(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	var queued atomic.Int64
	response, err := stream.Batch{Parallel: true, Failed: f.failed}.Each(ctx, event, func(ctx context.Context, change events.DynamoDBStreamRecord) error {
		message, wanted, err := webhooks.Of(change)
		if err != nil || !wanted {
			return err
		}
		body, err := json.Marshal(message)
		if err != nil {
			return fmt.Errorf("write the message: %w", err)
		}
		if err := f.queue.Send(ctx, string(body)); err != nil {
			return err
		}
		queued.Add(1)
		return nil
	})
	f.metrics.Emit(ctx, kit.Count("WebhooksQueued", int(queued.Load())))
	return response, err
}

func (f *function) failed(ctx context.Context, eventID string, err error) {
	f.log.ErrorContext(ctx, "a webhook was not queued", "event_id", eventID, "error", err.Error())
}
