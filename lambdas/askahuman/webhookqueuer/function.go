package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
)

type function struct {
	send    func(ctx context.Context, body string) error
	batch   *trigger.Stream
	metrics *kit.Metrics
}

// handle queues the webhooks of a batch of changes, in no order. A change comes again if its webhook could not be
// queued; those after it then may be queued twice, with the same id.
func (f *function) handle(ctx context.Context, event trigger.Records) (events.DynamoDBEventResponse, error) {
	var queued atomic.Int64
	response, err := f.batch.Each(ctx, event, func(ctx context.Context,
		change events.DynamoDBStreamRecord) error {
		message, wanted, err := webhooks.Of(change)
		if err != nil || !wanted {
			return err
		}
		body, err := json.Marshal(message)
		if err != nil {
			return fmt.Errorf("write the message: %w", err)
		}
		if err := f.send(ctx, string(body)); err != nil {
			return err
		}
		queued.Add(1)
		return nil
	})
	f.metrics.Emit(ctx, kit.Count("WebhooksQueued", int(queued.Load())))
	return response, err
}
