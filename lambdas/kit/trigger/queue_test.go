package trigger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/queue"
)

var plan = []time.Duration{5 * time.Second, 5 * time.Minute, 10 * time.Hour}

func message(id string, received int) events.SQSMessage {
	return events.SQSMessage{MessageId: id, ReceiptHandle: "receipt " + id, Body: id,
		Attributes: map[string]string{"ApproximateReceiveCount": fmt.Sprint(received)}}
}

// Messages are handled at once. Those that failed come again by the plan, or when what failed says, and after the last
// attempt at once.
func TestMessages(t *testing.T) {
	t.Parallel()
	var mutex sync.Mutex
	deferred := map[string]time.Duration{}
	last := map[string]bool{}
	var givenUp []string
	b := trigger.Messages{
		GiveUp: func(_ context.Context, m events.SQSMessage, cause error) error {
			if m.MessageId == "hopeless, and the queue is away" {
				return errors.New("SQS is away")
			}
			mutex.Lock()
			defer mutex.Unlock()
			givenUp = append(givenUp, m.MessageId+": "+cause.Error())
			return nil
		},
		Plan: plan, Random: func() float64 { return 0.5 },
		Defer: func(_ context.Context, receipt string, wait time.Duration) error {
			mutex.Lock()
			defer mutex.Unlock()
			deferred[strings.TrimPrefix(receipt, "receipt ")] = wait
			return nil
		},
		Failed: func(_ context.Context, message events.SQSMessage, attempt trigger.Attempt, err error) {
			mutex.Lock()
			defer mutex.Unlock()
			last[message.MessageId] = attempt.Last
		},
	}
	event := events.SQSEvent{Records: []events.SQSMessage{
		message("good", 1), message("first", 1), message("second", 2), message("third", 3), message("last", 4),
		message("more", 5), message("later", 1), message("sooner", 3), message("never", 1),
		{MessageId: "odd", ReceiptHandle: "odd"},
		message("hopeless", 1), message("hopeless, and the queue is away", 1),
	}}
	var together sync.WaitGroup
	together.Add(len(event.Records))
	response := must.Get(b.Each(t.Context(), event, func(_ context.Context, m events.SQSMessage) error {
		together.Done()
		together.Wait()
		after := map[string]time.Duration{"later": time.Minute, "sooner": time.Minute, "never": 24 * time.Hour}
		switch {
		case m.MessageId == "good":
			return nil
		case after[m.MessageId] > 0:
			return fmt.Errorf("endpoint: %w", &trigger.LaterError{After: after[m.MessageId], Err: errors.New("busy")})
		}
		if strings.HasPrefix(m.MessageId, "hopeless") {
			return fmt.Errorf("it is no message: %w", trigger.ErrHopeless)
		}
		return errors.New("failed")
	}))(t)
	if diff := cmp.Diff([]string{"hopeless: it is no message: no further attempt can succeed"}, givenUp); diff != "" ||
		!last["hopeless"] {
		t.Errorf("given up (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]time.Duration{
		"first": 5 * time.Second, "second": 5 * time.Minute, "third": 10 * time.Hour, "last": 0, "more": 0,
		"later": time.Minute, "sooner": 10 * time.Hour, "never": 11 * time.Hour, "odd": 5 * time.Second,
		"hopeless, and the queue is away": 5 * time.Second,
	}, deferred); diff != "" {
		t.Errorf("deferred (-want +got):\n%s", diff)
	}
	if !last["last"] || !last["more"] || last["third"] || last["never"] {
		t.Errorf("the last attempts are %v", last)
	}
	var failed []string
	for _, f := range response.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	if diff := cmp.Diff([]string{"first", "second", "third", "last", "more", "later", "sooner", "never", "odd",
		"hopeless, and the queue is away"}, failed); diff != "" {
		t.Errorf("failed (-want +got):\n%s", diff)
	}
}

// Waits differ by a twentieth at most.
func TestSpread(t *testing.T) {
	t.Parallel()
	for random, want := range map[float64]time.Duration{0: 285 * time.Second, 0.999999: 315 * time.Second} {
		var got time.Duration
		b := trigger.Messages{Plan: plan, Random: func() float64 {
			return random
		}, Defer: func(_ context.Context, _ string, wait time.Duration) error {
			got = wait
			return nil
		}}
		if _, err := b.Each(t.Context(), events.SQSEvent{Records: []events.SQSMessage{message("a", 2)}},
			func(context.Context, events.SQSMessage) error {
				return errors.New("no")
			}); err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}

// A message that cannot be deferred still counts as failed.
func TestUndeferred(t *testing.T) {
	t.Parallel()
	told := ""
	b := trigger.Messages{
		Plan: plan, Defer: func(context.Context, string, time.Duration) error { return errors.New("SQS is away") },
		Undeferred: func(_ context.Context, m events.SQSMessage, err error) {
			told = m.MessageId + ": " +
				err.Error()
		},
	}
	response, err := b.Each(t.Context(), events.SQSEvent{Records: []events.SQSMessage{message("a", 1)}},
		func(context.Context, events.SQSMessage) error {
			return errors.New("no")
		})
	if err != nil || len(response.BatchItemFailures) != 1 || told != "a: SQS is away" {
		t.Errorf("got %+v, %v, told %q", response, err, told)
	}
}

func TestQueue(t *testing.T) {
	t.Parallel()
	const address = "https://sqs.eu-central-1.amazonaws.com/000000000000/webhooks"
	var mutex sync.Mutex
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var in map[string]any
		if err := json.Unmarshal(body, &in); err != nil {
			t.Error(err)
		}
		mutex.Lock()
		defer mutex.Unlock()
		requests = append(requests, fmt.Sprint(r.Header.Get("X-Amz-Target"), " ", in))
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if in["MessageBody"] == "refuse" || in["ReceiptHandle"] == "gone" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type":"com.amazonaws.sqs#InvalidMessageContents","message":"no"}`)
			return
		}
		_, _ = io.WriteString(w, `{"MessageId":"1"}`)
	}))
	t.Cleanup(server.Close)
	q := queue.New(aws.Config{Region: "eu-central-1",
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""), BaseEndpoint: &server.URL},
		address)
	if err := q.Send(t.Context(), "hello"); err != nil {
		t.Error(err)
	}
	if err := q.Defer(t.Context(), "r", 10*time.Hour); err != nil {
		t.Error(err)
	}
	if err := q.Send(t.Context(), "refuse"); err == nil || !strings.Contains(err.Error(), "SQS SendMessage") {
		t.Errorf("got %v", err)
	}
	if err := q.Defer(t.Context(), "gone", 0); err == nil ||
		!strings.Contains(err.Error(), "SQS ChangeMessageVisibility") {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]string{
		"AmazonSQS.SendMessage map[MessageBody:hello QueueUrl:" + address + "]",
		"AmazonSQS.ChangeMessageVisibility map[QueueUrl:" + address + " ReceiptHandle:r VisibilityTimeout:36000]",
	}, requests[:2]); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	for text, want := range map[string]string{
		"a\tb\r\nc\x7f\ufffd😀": "a\tb\r\nc\x7f\ufffd😀", "{\"a\":\"\ufffe\uffff\"}": `{"a":"\ufffe\uffff"}`,
		"a\x00": "U+0000 at byte 2", "\x0b": "U+000B", "\x1f": "U+001F",
		"ü\ufffe": "U+FFFE at byte 3", "\uffff": "U+FFFF",
		"a\xff": "not UTF-8", "": "empty message",
	} {
		requests = nil
		err := q.Send(t.Context(), text)
		if err == nil && !strings.Contains(fmt.Sprint(requests), "MessageBody:"+want+" ") {
			t.Errorf("%q: sent %q", text, requests)
		}
		if err != nil && (!errors.Is(err, trigger.ErrRefusedText) || !strings.Contains(err.Error(), want) ||
			len(requests) > 0) {
			t.Errorf("%q: got %v after %q", text, err, requests)
		}
	}
	for cause, want := range map[string]string{"no\x00\ufffe": `no\u0000\ufffe`, "": "unknown"} {
		requests = nil
		if err := q.GiveUp(t.Context(), events.SQSMessage{Body: "m"}, errors.New(cause)); err != nil ||
			!strings.Contains(fmt.Sprint(requests), "StringValue:"+want+"]") {
			t.Errorf("%q: gave up with %q, %v", cause, requests, err)
		}
	}
}
