package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"
)

// judge notes what it is asked to validate, and fails for the id "broken".
type judge struct {
	mu    sync.Mutex
	asked []string
}

func (j *judge) Validate(_ context.Context, slug, id string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked = append(j.asked, slug+" "+id)
	if id == "broken" {
		return errors.New("the item cannot be read")
	}
	return nil
}

// The records whose submission cannot be read are reported; the others are validated.
func TestBatch(t *testing.T) {
	t.Parallel()
	keys := []string{
		`{"PK":{"S":"TERM#no-cap"},"SK":{"S":"SUBMISSION#1"}}`,
		`{"PK":{"S":"TERM#rizz"},"SK":{"S":"SUBMISSION#broken"}}`,
		`{}`,
		`{"PK":{"N":"1"},"SK":{"L":[]}}`,
		`{"PK":{"S":"USER#zoe"},"SK":{"S":"SUBMISSION#2"}}`,
		`{"PK":{"S":"TERM#rizz"},"SK":{"S":"METADATA#lexicon"}}`,
		`{"PK":{"S":"TERM#a#b"},"SK":{"S":"SUBMISSION#3"}}`,
	}
	var records []string
	for i, key := range keys {
		records = append(records, fmt.Sprintf(`{"eventID":"e%d","eventName":"INSERT","dynamodb":{"Keys":%s,"SequenceNumber":"%d"}}`, i, key, i))
	}
	var event events.DynamoDBEvent
	if err := json.Unmarshal([]byte(`{"Records":[`+strings.Join(records, ",")+`]}`), &event); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	judge := &judge{}
	response, err := (&function{moderation: judge, log: slog.New(slog.NewJSONHandler(&log, nil))}).handle(t.Context(), event)
	var failed []string
	for _, failure := range response.BatchItemFailures {
		failed = append(failed, failure.ItemIdentifier)
	}
	slices.Sort(failed)
	slices.Sort(judge.asked)
	if err != nil || fmt.Sprint(failed) != "[1 2 3 4 5]" || fmt.Sprint(judge.asked) != "[a#b 3 no-cap 1 rizz broken]" {
		t.Errorf("got %v, failed %v, asked %q", err, failed, judge.asked)
	}
	if lines := strings.Count(log.String(), "a submission could not be read or written"); lines != 5 || strings.Contains(log.String(), "zoe") {
		t.Errorf("logged %s", log.String())
	}
}
