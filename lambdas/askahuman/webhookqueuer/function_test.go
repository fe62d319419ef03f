package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

// full is a queue that takes no message about one question.
type full struct {
	refused string
	mutex   sync.Mutex
	taken   []string
}

func (q *full) Send(_ context.Context, body string) error {
	var m webhooks.Message
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return err
	}
	if strings.Contains(string(m.Body), `"`+q.refused+`"`) {
		return fmt.Errorf("SQS: %w", retry.ErrUnanswered)
	}
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.taken = append(q.taken, m.URL)
	return nil
}

func record(n int, was, is string) string {
	image := func(status string) string {
		return fmt.Sprintf(
			`{"question_id":{"S":"q%d"},"status":{"S":%q},"agent_id":{"S":"ada"},"callback_url":{"S":"https://agent.example.com/%[1]d"},"closed_at":{"S":"2026-02-02T09:45:00.125Z"}}`,
			n, status)
	}
	return fmt.Sprintf(`{"eventID":"e%d","dynamodb":{"NewImage":%s,"OldImage":%s,"SequenceNumber":"%[1]d"}}`, n,
		image(is), image(was))
}

// Each question that has ended is queued; what the queue does not take comes again, and what cannot be read is in the
// queue of failures.
func TestHandle(t *testing.T) {
	t.Parallel()
	var output bytes.Buffer
	log := must.Get(kit.NewLogger(&output, "", "webhookqueuer"))(t)
	queue := &full{refused: "q3"}
	failures := &triggertest.Queue{}
	batch := &trigger.Stream{Failures: failures, Parallel: true, Log: log}
	f := &function{send: queue.Send, batch: batch,
		metrics: &kit.Metrics{Namespace: "Onesynth/askahuman", Function: "webhookqueuer", Writer: &output}}
	// Its time of creation is no time.
	spoiled := strings.Replace(record(5, "OPEN", "CLOSED"), `"agent_id":`, `"created_at":{"S":"yesterday"},"agent_id":`,
		1)
	event := `{"Records":[` + strings.Join([]string{record(1, "OPEN", "CLOSED"), record(2, "CLOSED", "CLOSED"),
		record(3, "PARTIAL#1", "EXPIRED#1"), record(4, "OPEN", "EXPIRED"), spoiled}, ",") + `]}`
	answer, err := kit.NewResponder(log, f.handle).Invoke(t.Context(), []byte(event))
	var response events.DynamoDBEventResponse
	if err != nil || json.Unmarshal(answer, &response) != nil || len(response.BatchItemFailures) != 1 ||
		response.BatchItemFailures[0].ItemIdentifier != "3" {
		t.Errorf("got %s, %v", answer, err)
	}
	slices.Sort(queue.taken)
	if diff := cmp.Diff([]string{"https://agent.example.com/1", "https://agent.example.com/4"},
		queue.taken); diff != "" {
		t.Errorf("queued (-want +got):\n%s", diff)
	}
	if f := failures.Failures(); len(f) != 1 || !strings.Contains(f["5"].Cause, "yesterday") ||
		string(f["5"].Record) != spoiled {
		t.Errorf("the queue of failures has %v", f)
	}
	if !strings.Contains(output.String(), `"event_id":"e3"`) ||
		!strings.Contains(output.String(), "no answer in time") {
		t.Errorf("wrote %s", &output)
	}
	metricstest.Complete(t, output.String(), schema.MetricsOf("webhookqueuer", askahuman.Platform().Metrics))
}
