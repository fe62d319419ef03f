package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/stream"
)

// validator is the moderation.
type validator interface {
	// Validate judges the submission of a term, by its slug, with an id.
	Validate(ctx context.Context, slug, id string) error
}

// function is the submission validator.
type function struct {
	moderation validator
	log        *slog.Logger
}

// handle validates the submissions of a batch, all at once. It answers with the records whose
// submission it could not read or write.
func (f *function) handle(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
	return stream.Batch{Parallel: true, Failed: f.failed}.Each(ctx, event, f.validate)
}

func (f *function) validate(ctx context.Context, change events.DynamoDBStreamRecord) error {
	slug, isTerm := strings.CutPrefix(stream.Text(change.Keys, "PK"), "TERM#")
	id, isSubmission := strings.CutPrefix(stream.Text(change.Keys, "SK"), "SUBMISSION#")
	if !isTerm || !isSubmission {
		return errors.New("the record has not the key of a submission")
	}
	return f.moderation.Validate(ctx, slug, id)
}

func (f *function) failed(ctx context.Context, eventID string, err error) {
	f.log.ErrorContext(ctx, "a submission could not be read or written", "event_id", eventID, "error", err.Error())
}
