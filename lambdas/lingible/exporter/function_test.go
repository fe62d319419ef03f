package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

// exporter notes the slugs that it is asked for, and answers with err.
type exporter struct {
	asked []string
	err   error
}

func (e *exporter) Export(_ context.Context, changed []string) (int, error) {
	e.asked = changed
	return len(changed), e.err
}

// The changes of terms that cannot be read are in the queue of failures. Without an export, all changes come again.
func TestBatch(t *testing.T) {
	t.Parallel()
	var event trigger.Records
	for i, key := range []string{"TERM#no-cap", "TERM#rizz", "EXPORT"} {
		event.Records = append(event.Records, json.RawMessage(
			fmt.Sprintf(`{"dynamodb":{"Keys":{"PK":{"S":%q}},"SequenceNumber":"%d"}}`, key, i)))
	}
	exports, failures := &exporter{}, &triggertest.Queue{}
	f := &function{export: exports.Export, batch: &trigger.Stream{Failures: failures,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))}}
	exports.err = service.ErrExportRunning
	if _, err := f.handle(t.Context(), event); !errors.Is(err, service.ErrExportRunning) ||
		!slices.Equal(exports.asked, []string{"no-cap", "rizz"}) {
		t.Errorf("got %v, asked for %q", err, exports.asked)
	}
	exports.err = &service.UnreadableTermsError{
		Causes: map[string]error{"rizz": errors.New("it has no gloss"), "old": errors.New("nor has this one")}}
	if response, err := f.handle(t.Context(), event); err != nil || response.BatchItemFailures != nil ||
		len(failures.Failures()) != 1 || failures.Failures()["1"].Cause != "it has no gloss" {
		t.Errorf("got %v, %v, and the queue has %v", response, err, failures.Failures())
	}
}
