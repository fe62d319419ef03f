package main

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
)

// function is the submission validator.
type function struct {
	// judge judges the submission of a term, by its slug, with an id.
	judge func(ctx context.Context, slug, id string) error
	batch *trigger.Stream
}

// handle validates the submissions of a batch, all at once: none depends on another.
func (f *function) handle(ctx context.Context, event trigger.Records) (events.DynamoDBEventResponse, error) {
	return f.batch.Each(ctx, event, f.validate)
}

func (f *function) validate(ctx context.Context, change events.DynamoDBStreamRecord) error {
	slug, isTerm := strings.CutPrefix(trigger.Text(change.Keys, "PK"), "TERM#")
	id, isSubmission := strings.CutPrefix(trigger.Text(change.Keys, "SK"), "SUBMISSION#")
	if !isTerm || !isSubmission {
		return errors.New("the record has not the key of a submission")
	}
	return f.judge(ctx, slug, id)
}
