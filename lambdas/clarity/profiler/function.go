package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// function is the profiler.
type function struct {
	service   *service.Service
	retention time.Duration // zero: for ever
	clock     wire.Clock
	batch     *trigger.Stream
	log       *slog.Logger
	metrics   *kit.Metrics
}

// handle adds the profiles of a batch. One that it could not add holds up no other: the profiles of a user do not
// depend on the order of the records.
func (f *function) handle(ctx context.Context, event trigger.Records) (events.DynamoDBEventResponse, error) {
	count := 0
	response, err := f.batch.Each(ctx, event, func(ctx context.Context,
		change events.DynamoDBStreamRecord) error {
		added, err := f.add(ctx, change.NewImage)
		if added {
			count++
		}
		return err
	})
	f.metrics.Emit(ctx, kit.Count("ProfilesAdded", count))
	return response, err
}

func (f *function) add(ctx context.Context, image trigger.Image) (added bool, err error) {
	attempt, evaluated, err := service.EvaluatedIn(image)
	if err != nil || !evaluated {
		return false, err
	}
	// The profile of such an attempt may have been removed, and must not count a second time.
	ends := time.Time(attempt.Evaluation.EvaluatedAt).Add(f.retention)
	if f.retention > 0 && !f.clock.Now().Before(ends) {
		f.log.WarnContext(ctx, "an attempt gets no profile: it was evaluated longer ago than profiles are kept",
			"attempt_id", attempt.ID)
		return false, nil
	}
	return f.service.AddProfile(ctx, attempt, f.retention)
}
