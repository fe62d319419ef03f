package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

// profiles are the profiles of all users.
type profiles interface {
	// AddProfile adds the profile of an attempt, and reports whether it was not there yet.
	AddProfile(ctx context.Context, attempt clarity.Attempt, retention time.Duration) (added bool, err error)
}

// function is the profiler.
type function struct {
	profiles  profiles
	retention time.Duration // zero: for ever
	now       func() time.Time
	log       *slog.Logger
	metrics   *kit.Metrics
}

// handle adds the profiles of a batch. It answers with the records whose profile it could not add,
// and goes on with the others: the profiles of a user do not depend on the order of the records.
func (f *function) handle(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	var response events.DynamoDBEventResponse
	count := 0
	for _, record := range event.Records {
		added, err := f.add(ctx, record.Change.NewImage)
		if err != nil {
			f.log.ErrorContext(ctx, "an attempt has no profile yet", "event_id", record.EventID, "error", err.Error())
			response.BatchItemFailures = append(response.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: record.Change.SequenceNumber})
		}
		if added {
			count++
		}
	}
	f.metrics.Emit(ctx, kit.Count("ProfilesAdded", count))
	return response, nil
}

func (f *function) add(ctx context.Context, image map[string]events.DynamoDBAttributeValue) (added bool, err error) {
	attempt, evaluated, err := attemptOf(image)
	if err != nil || !evaluated {
		return false, err
	}
	// The profile of such an attempt may have been removed, and must not count a second time.
	if ends := attempt.Evaluation.EvaluatedAt.Add(f.retention); f.retention > 0 && !f.now().Before(ends) {
		f.log.WarnContext(ctx, "an attempt gets no profile: it was evaluated longer ago than profiles are kept", "attempt_id", attempt.ID)
		return false, nil
	}
	return f.profiles.AddProfile(ctx, attempt, f.retention)
}

// attemptOf reads an attempt, if it is completed and evaluated.
func attemptOf(image map[string]events.DynamoDBAttributeValue) (attempt clarity.Attempt, evaluated bool, err error) {
	text, err := json.Marshal(image)
	if err != nil {
		return attempt, false, fmt.Errorf("write the image: %w", err)
	}
	item, err := attributevalue.UnmarshalMapJSON(text)
	if err != nil {
		return attempt, false, fmt.Errorf("read the image: %w", err)
	}
	var state struct {
		Status     clarity.Status           `dynamodbav:"status"`
		Evaluation clarity.EvaluationStatus `dynamodbav:"evaluationStatus"`
	}
	if err := attributevalue.UnmarshalMap(item, &state); err != nil {
		return attempt, false, fmt.Errorf("read the status of the attempt: %w", err)
	}
	if state.Status != clarity.Completed || state.Evaluation != clarity.EvaluationDone {
		return attempt, false, nil
	}
	if err := attributevalue.UnmarshalMap(item, &attempt); err != nil {
		return attempt, false, fmt.Errorf("read the attempt: %w", err)
	}
	if err := attempt.CheckEvaluated(); err != nil {
		return attempt, false, fmt.Errorf("read the attempt %q: %w", attempt.ID, err)
	}
	return attempt, true, nil
}
