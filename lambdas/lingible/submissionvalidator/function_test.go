package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
)

// judge notes what it is asked to validate, cannot read the id "broken", and has no time for "busy".
type judge struct {
	mu    sync.Mutex
	asked []string
}

func (j *judge) Validate(_ context.Context, slug, id string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked = append(j.asked, slug+" "+id)
	return map[string]error{"broken": errors.New("the item cannot be read"), "busy": retry.ErrBusy}[id]
}

// The records whose submission cannot be read are in the queue of failures, and those that may be validated later come
// again; the others are validated.
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
		`{"PK":{"S":"TERM#rizz"},"SK":{"S":"SUBMISSION#busy"}}`,
	}
	var records []string
	for i, key := range keys {
		records = append(records,
			fmt.Sprintf(`{"eventID":"e%d","eventName":"INSERT","dynamodb":{"Keys":%s,"SequenceNumber":"%d"}}`, i, key,
				i))
	}
	var event trigger.Records
	must.OK(t, json.Unmarshal([]byte(`{"Records":[`+strings.Join(records, ",")+`]}`), &event))
	var log bytes.Buffer
	judge := &judge{}
	failures := &triggertest.Queue{}
	batch := &trigger.Stream{Failures: failures, Parallel: true, Log: slog.New(slog.NewJSONHandler(&log, nil))}
	response, err := (&function{judge: judge.Validate, batch: batch}).handle(t.Context(), event)
	var failed []string
	for _, failure := range response.BatchItemFailures {
		failed = append(failed, failure.ItemIdentifier)
	}
	slices.Sort(judge.asked)
	if err != nil || fmt.Sprint(failed) != "[7]" ||
		fmt.Sprint(judge.asked) != "[a#b 3 no-cap 1 rizz broken rizz busy]" {
		t.Errorf("got %v, failed %v, asked %q", err, failed, judge.asked)
	}
	if got := slices.Sorted(maps.Keys(failures.Failures())); fmt.Sprint(got) != "[1 2 3 4 5]" {
		t.Errorf("the queue of failures has %v", got)
	}
	if lines := strings.Count(log.String(), "a change of a table is not handled"); lines != 6 ||
		strings.Contains(log.String(), "zoe") {
		t.Errorf("logged %s", log.String())
	}
}
