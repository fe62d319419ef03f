package trigger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
)

// Records may come by a queue: the answer then names the messages that come again, and each is put off for seconds. What
// no attempt can handle is in the queue of failures, as a record and not as a message.
func TestEachOfAQueue(t *testing.T) {
	t.Parallel()
	var event trigger.Records
	for i, item := range []string{"good", "unfinished", "unreadable"} {
		body := must.Get(json.Marshal(map[string]string{"eventSource": "aws:sqs", "messageId": "m" + item,
			"receiptHandle": "r" + item, "body": string(record(fmt.Sprint(i), item))}))(t)
		event.Records = append(event.Records, body)
	}
	if changes := event.Changes(); len(changes) != 3 || trigger.Text(changes[1].Keys, "PK") != "unfinished" {
		t.Errorf("got the changes %+v", changes)
	}
	var queue triggertest.Queue
	put := map[string]time.Duration{}
	b := &trigger.Stream{Failures: &queue, Log: silent, Defer: func(_ context.Context, receipt string,
		wait time.Duration) error {
		put[receipt] = wait
		return errors.New("the queue is away")
	}}
	response, err := b.Each(t.Context(), event, func(_ context.Context,
		change events.DynamoDBStreamRecord) error {
		return map[string]error{"unfinished": trigger.ErrUnfinished,
			"unreadable": errors.New("no")}[trigger.Text(change.Keys, "PK")]
	})
	got := map[string]any{"error": err, "left": left(response), "put off": put,
		"record": string(queue.Failures()["2"].Record), "failures": len(queue.Failures())}
	want := map[string]any{"error": nil, "left": []string{"munfinished"},
		"put off": map[string]time.Duration{"runfinished": 10 * time.Second},
		"record":  string(record("2", "unreadable")), "failures": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}
