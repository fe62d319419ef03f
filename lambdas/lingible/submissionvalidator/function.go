package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"
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
func (f *function) handle(ctx context.Context, event events.DynamoDBEvent) (response events.DynamoDBEventResponse, _ error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, record := range event.Records {
		all.Go(func() {
			err := f.validate(ctx, record.Change.Keys)
			if err == nil {
				return
			}
			f.log.ErrorContext(ctx, "a submission could not be read or written", "event_id", record.EventID, "error", err.Error())
			mu.Lock()
			defer mu.Unlock()
			response.BatchItemFailures = append(response.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: record.Change.SequenceNumber})
		})
	}
	all.Wait()
	return response, nil
}

func (f *function) validate(ctx context.Context, keys map[string]events.DynamoDBAttributeValue) error {
	part := func(name, prefix string) (string, error) {
		if value := keys[name]; value.DataType() == events.DataTypeString {
			if rest, ok := strings.CutPrefix(value.String(), prefix); ok {
				return rest, nil
			}
		}
		return "", fmt.Errorf("the record has no %s that begins with %s", name, prefix)
	}
	slug, err := part("PK", "TERM#")
	if err != nil {
		return err
	}
	id, err := part("SK", "SUBMISSION#")
	if err != nil {
		return err
	}
	return f.moderation.Validate(ctx, slug, id)
}
