package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
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
	together, count := f.together(ctx, event)
	response, err := f.batch.Each(ctx, event, func(ctx context.Context,
		change events.DynamoDBStreamRecord) error {
		if together[trigger.Text(change.NewImage, "attemptId")] {
			return nil
		}
		added, err := f.add(ctx, change.NewImage)
		if added {
			count++
		}
		return err
	})
	f.metrics.Emit(ctx, kit.Count("ProfilesAdded", count))
	return response, err
}

// together adds the profiles of users who have several attempts in the batch, those of each in one transaction. It
// returns the ids of these attempts, and how many profiles it has added. A user's attempts that do not go together are
// left for one after the other.
func (f *function) together(ctx context.Context, event trigger.Records) (done map[string]bool, added int) {
	users := map[string][]clarity.Attempt{}
	for _, change := range event.Changes() {
		attempt, evaluated, err := service.EvaluatedIn(change.NewImage)
		if err == nil && evaluated && !f.isLate(attempt) {
			users[attempt.UserID] = append(users[attempt.UserID], attempt)
		}
	}
	done = map[string]bool{}
	for _, attempts := range users {
		if len(attempts) < 2 {
			continue
		}
		n, err := f.service.AddProfiles(ctx, attempts, f.retention)
		if err != nil {
			continue
		}
		added += n
		for _, attempt := range attempts {
			done[attempt.ID] = true
		}
	}
	return done, added
}

func (f *function) add(ctx context.Context, image trigger.Image) (added bool, err error) {
	attempt, evaluated, err := service.EvaluatedIn(image)
	if err != nil || !evaluated {
		return false, err
	}
	if f.isLate(attempt) {
		f.log.WarnContext(ctx, "an attempt gets no profile: it was evaluated longer ago than profiles are kept",
			"attempt_id", attempt.ID)
		return false, nil
	}
	return f.service.AddProfile(ctx, attempt, f.retention)
}

// isLate says that the profile of an attempt may have been removed, so that it must not count a second time.
func (f *function) isLate(attempt clarity.Attempt) bool {
	ends := time.Time(attempt.Evaluation.EvaluatedAt).Add(f.retention)
	return f.retention > 0 && !f.clock.Now().Before(ends)
}
