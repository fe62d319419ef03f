package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/stream"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// function is the profiler.
type function struct {
	service   *service.Service
	retention time.Duration // zero: for ever
	now       func() time.Time
	batch     *stream.Batch
	log       *slog.Logger
	metrics   *kit.Metrics
}

// handle adds the profiles of a batch. One that it could not add holds up no other: the profiles of a user do not
// depend on the order of the records.
func (f *function) handle(ctx context.Context, event stream.Event) (events.DynamoDBEventResponse, error) {
	count := 0
	response, err := f.batch.Each(ctx, event, func(ctx context.Context, change events.DynamoDBStreamRecord) error {
		added, err := f.add(ctx, change.NewImage)
		if added {
			count++
		}
		return err
	})
	f.metrics.Emit(ctx, kit.Count("ProfilesAdded", count))
	return response, err
}

func (f *function) add(ctx context.Context, image stream.Image) (added bool, err error) {
	attempt, evaluated, err := attemptOf(image)
	if err != nil || !evaluated {
		return false, err
	}
	// The profile of such an attempt may have been removed, and must not count a second time.
	if ends := time.Time(attempt.Evaluation.EvaluatedAt).Add(f.retention); f.retention > 0 && !f.now().Before(ends) {
		f.log.WarnContext(ctx, "an attempt gets no profile: it was evaluated longer ago than profiles are kept",
			"attempt_id", attempt.ID)
		return false, nil
	}
	return f.service.AddProfile(ctx, attempt, f.retention)
}

// attemptOf reads an attempt, if it is completed and evaluated.
func attemptOf(image stream.Image) (attempt clarity.Attempt, evaluated bool, err error) {
	var state struct {
		Status     clarity.Status           `dynamodbav:"status"`
		Evaluation clarity.EvaluationStatus `dynamodbav:"evaluationStatus"`
	}
	if err := stream.Read(image, &state); err != nil {
		return attempt, false, fmt.Errorf("read the status of the attempt: %w", err)
	}
	if state.Status != clarity.Completed || state.Evaluation != clarity.EvaluationDone {
		return attempt, false, nil
	}
	if err := stream.Read(image, &attempt); err != nil {
		return attempt, false, fmt.Errorf("read the attempt: %w", err)
	}
	if err := attempt.CheckEvaluated(); err != nil {
		return attempt, false, fmt.Errorf("read the attempt %q: %w", attempt.ID, err)
	}
	return attempt, true, nil
}
