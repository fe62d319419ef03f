package stream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/stream"
)

// batch is one of four changes, whose items have the numbers 0 to 3.
func batch(t *testing.T) (event events.DynamoDBEvent) {
	t.Helper()
	var records []string
	for i := range 4 {
		records = append(records, fmt.Sprintf(`{"eventID":"e%[1]d","dynamodb":{"Keys":{"PK":{"S":"item %[1]d"}},"NewImage":{"n":{"N":"%[1]d"},"tags":{"L":[{"S":"a"}]}},"SequenceNumber":"s%[1]d"}}`, i))
	}
	if err := json.Unmarshal([]byte(`{"Records":[`+strings.Join(records, ",")+`]}`), &event); err != nil {
		t.Fatal(err)
	}
	return event
}

// What is not handled comes again, in the order of the batch. Only what failed is told.
func TestEach(t *testing.T) {
	t.Parallel()
	for _, parallel := range []bool{false, true} {
		var failed []string
		var together sync.WaitGroup
		together.Add(4)
		var order []string
		note := func(_ context.Context, eventID string, err error) { failed = append(failed, eventID+" "+err.Error()) }
		response, err := stream.Batch{Parallel: parallel, Failed: note}.Each(t.Context(), batch(t), func(_ context.Context, change events.DynamoDBStreamRecord) error {
			name := stream.Text(change.Keys, "PK")
			if parallel {
				together.Done()
				together.Wait()
			} else {
				order = append(order, name)
			}
			return map[string]error{"item 1": errors.New("busy"), "item 2": fmt.Errorf("later: %w", stream.ErrUnfinished)}[name]
		})
		if got := fmt.Sprint(response.BatchItemFailures); err != nil || got != "[{s1} {s2}]" {
			t.Errorf("got %s, %v", got, err)
		}
		if got := fmt.Sprint(failed); got != "[e1 busy]" {
			t.Errorf("failed: %s", got)
		}
		if !parallel && fmt.Sprint(order) != "[item 0 item 1 item 2 item 3]" {
			t.Errorf("handled %v", order)
		}
	}
}

func TestImage(t *testing.T) {
	t.Parallel()
	change := batch(t).Records[3].Change
	if got := stream.Text(change.NewImage, "n") + stream.Text(change.NewImage, "tags") + stream.Text(nil, "PK"); got != "" {
		t.Errorf("got the text %q", got)
	}
	var item struct {
		N    int      `dynamodbav:"n"`
		Tags []string `dynamodbav:"tags"`
	}
	if err := stream.Read(change.NewImage, &item); err != nil || item.N != 3 || fmt.Sprint(item.Tags) != "[a]" {
		t.Errorf("got %+v, %v", item, err)
	}
	var other struct {
		N []string `dynamodbav:"n"`
	}
	if err := stream.Read(change.NewImage, &other); err == nil {
		t.Errorf("got %+v", other)
	}
}
