package engine_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/local/engine"
)

// abandoned reads the batch that a message to the failure queue names.
func abandoned(t testing.TB, body string) engine.Batch {
	t.Helper()
	var message struct {
		RequestContext struct{ FunctionArn string }
		Info           struct{ ShardID, StartSequenceNumber, EndSequenceNumber, StreamArn string } `json:"DDBStreamBatchInfo"`
	}
	if err := json.Unmarshal([]byte(body), &message); err != nil {
		t.Fatal(err)
	}
	i := message.Info
	return engine.Batch{FunctionARN: message.RequestContext.FunctionArn, StreamARN: i.StreamArn, Shard: i.ShardID, First: i.StartSequenceNumber, Last: i.EndSequenceNumber}
}

const failed = `"StartingPosition": "TRIM_HORIZON", "MaximumRetryAttempts": 0, "FunctionResponseTypes": ["ReportBatchItemFailures"],
	"DestinationConfig": {"OnFailure": {"Destination": {"Fn::GetAtt": ["Failed", "Arn"]}}}`

func TestBatchAgain(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	broken.Store(true)
	to := newConsumer(func(records []events.DynamoDBEventRecord) (string, error) {
		if broken.Load() {
			return "", errors.New("cannot")
		}
		return "", nil
	})
	f := stream(t, failed+`, "BatchSize": 2`, to, plain("1", "2", "3", "4", "5")...)
	first, second := abandoned(t, <-f.messages), abandoned(t, <-f.messages)
	if _, err := f.streams.Again(t.Context(), first); err == nil || !strings.Contains(err.Error(), "cannot") {
		t.Errorf("got %v while the function fails", err)
	}
	broken.Store(false)
	for _, batch := range []engine.Batch{second, first, first} {
		if records, err := f.streams.Again(t.Context(), batch); err != nil || records != 2 {
			t.Fatalf("got %d, %v", records, err)
		}
	}
	got := names(to.until(t, func([][]events.DynamoDBEventRecord) bool { return true }))
	if last := strings.Join(got[len(got)-3:], ", "); last != "3 4, 1 2, 1 2" {
		t.Errorf("got %s", last)
	}
	for name, test := range map[string]struct {
		batch engine.Batch
		err   error
	}{
		"OtherFunction": {engine.Batch{FunctionARN: "other", StreamARN: first.StreamARN}, engine.ErrNoMapping},
		"OtherShard":    {engine.Batch{FunctionARN: first.FunctionARN, StreamARN: first.StreamARN, Shard: "shardId-00000000000000000000-00000000", First: first.First, Last: first.Last}, engine.ErrRecordsGone},
	} {
		if _, err := f.streams.Again(t.Context(), test.batch); !errors.Is(err, test.err) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A function that names a record that failed has not taken the batch.
func TestBatchAgainInPart(t *testing.T) {
	t.Parallel()
	to := newConsumer(func(records []events.DynamoDBEventRecord) (string, error) {
		return `{"batchItemFailures": [{"itemIdentifier": "` + records[len(records)-1].Change.SequenceNumber + `"}]}`, nil
	})
	f := stream(t, failed, to, plain("1", "2")...)
	// The first record is done, so the second one alone is given up.
	batch := abandoned(t, <-f.messages)
	if _, err := f.streams.Again(t.Context(), batch); err == nil || !strings.Contains(err.Error(), "0 of 1 records") {
		t.Errorf("got %v", err)
	}
}

// The sweeper announces a deletion once. The record is of an expired item when it comes again, too.
func TestBatchAgainOfExpiredItems(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	broken.Store(true)
	to := newConsumer(func(records []events.DynamoDBEventRecord) (string, error) {
		if broken.Load() {
			return "", errors.New("cannot")
		}
		return "", nil
	})
	f := stream(t, failed+`, "FilterCriteria": {"Filters": [{"Pattern": "{\"userIdentity\": {\"type\": [\"Service\"]}}"}]}`, to)
	put(t, f.client, "sessions", session("expired", seconds(time.Now().Add(-time.Hour))))
	if _, err := f.sweeper.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	batch := abandoned(t, <-f.messages)
	broken.Store(false)
	if records, err := f.streams.Again(t.Context(), batch); err != nil || records != 1 {
		t.Fatalf("got %d, %v", records, err)
	}
	batches := to.until(t, func(batches [][]events.DynamoDBEventRecord) bool { return len(batches) == 2 })
	if identity := batches[1][0].UserIdentity; identity == nil || identity.Type != "Service" {
		t.Errorf("got identity %+v", identity)
	}
}
