package webhooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webhook"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

// The tests of the package cover the access patterns of the secrets.
func TestMain(m *testing.M) {
	database := askahuman.Platform().Database
	database.AccessPatterns = slices.DeleteFunc(database.AccessPatterns, func(p schema.AccessPattern) bool {
		return !strings.HasSuffix(p.Name, "WebhookSecret")
	})
	os.Exit(dynamotest.Covering(m.Run, database)())
}

// change is a record of the stream, whose question had one status and has another. URL may be empty.
func change(t *testing.T, was, is, url string) (record events.DynamoDBStreamRecord) {
	t.Helper()
	image := func(status string) string {
		text := fmt.Sprintf(
			`{"question_id":{"S":"q1"},"status":{"S":%q},"agent_id":{"S":"ada"},"prompt":{"S":"a secret"},"required_responses":{"N":"5"},"current_responses":{"N":"3"},
			"created_at":{"S":"2026-02-02T09:30:00.000Z"},"deadline":{"S":"2026-02-02T10:30:00.000Z"}`, status)
		if strings.HasPrefix(status, "CLOSED") {
			text += `,"closed_at":{"S":"2026-02-02T09:45:00.125Z"}`
		}
		if url != "" {
			text += fmt.Sprintf(`,"callback_url":{"S":%q}`, url)
		}
		return text + "}"
	}
	text := `{"Keys":{"question_id":{"S":"q1"}},"NewImage":` + image(is)
	if was != "" {
		text += `,"OldImage":` + image(was)
	}
	must.OK(t, json.Unmarshal([]byte(text+"}"), &record))
	return record
}

const endpoint = "https://agent.example.com/hooks?token=t0ken"

func TestOf(t *testing.T) {
	t.Parallel()
	closed, ok, err := webhooks.Of(change(t, "OPEN", "CLOSED", endpoint))
	if err != nil || !ok {
		t.Fatalf("got %v, %v", ok, err)
	}
	want := `{"type":"question.closed","timestamp":"2026-02-02T09:45:00.125Z","data":{"question_id":"q1","status":"CLOSED","required_responses":5,"current_responses":3,` +
		`"created_at":"2026-02-02T09:30:00.000Z","closed_at":"2026-02-02T09:45:00.125Z","poll_url":"/agent/questions/q1"}}`
	if diff := cmp.Diff(want, string(closed.Body)); diff != "" || closed.AgentID != "ada" || closed.URL != endpoint {
		t.Errorf("got %+v (-want +got):\n%s", closed, diff)
	}
	// A duplicate of the record, and another shard, are the same webhook.
	for _, again := range []events.DynamoDBStreamRecord{change(t, "OPEN", "CLOSED", endpoint),
		change(t, "PARTIAL#3", "CLOSED#3", endpoint)} {
		if m, ok, err := webhooks.Of(again); err != nil || !ok || m.ID != closed.ID || string(m.Body) != want {
			t.Errorf("got %+v, %v, %v", m, ok, err)
		}
	}
	expired, ok, err := webhooks.Of(change(t, "PARTIAL", "EXPIRED", endpoint))
	if err != nil || !ok || expired.ID == closed.ID ||
		!strings.Contains(string(expired.Body), `"type":"question.expired","timestamp":"2026-02-02T10:30:00.000Z"`) ||
		!strings.Contains(string(expired.Body), `"expired_at":"2026-02-02T10:30:00.000Z"`) ||
		strings.Contains(string(expired.Body), "closed_at") {
		t.Errorf("got %+v, %v, %v", expired, ok, err)
	}
	for _, other := range []struct{ was, is, url string }{
		{"OPEN", "CLOSED", ""}, {"OPEN", "PARTIAL", endpoint}, {"CLOSED", "CLOSED", endpoint},
		{"EXPIRED#1", "EXPIRED#1", endpoint}, {"", "OPEN", endpoint}, {"", "CLOSED", endpoint}, {"OPEN", "", endpoint},
	} {
		if m, ok, err := webhooks.Of(change(t, other.was, other.is, other.url)); ok || err != nil {
			t.Errorf("%+v: got %+v, %v", other, m, err)
		}
	}
	odd := change(t, "OPEN", "CLOSED", endpoint)
	odd.NewImage["closed_at"] = events.NewStringAttribute("yesterday")
	if _, _, err := webhooks.Of(odd); err == nil {
		t.Error("an item that cannot be read gives a webhook")
	}
}

// poster answers as it is told, and keeps what it was sent.
type poster struct {
	answer webhook.Answer
	err    error
	header http.Header
	url    string
}

func (p *poster) Post(_ context.Context, url string, header http.Header, _ []byte) (webhook.Answer, error) {
	p.url, p.header = url, header
	return p.answer, p.err
}

func now() time.Time { return time.Date(2026, 2, 2, 9, 45, 1, 0, time.UTC) }

func secretsOf(db *dynamo.DB) *webhooks.Secrets {
	return &webhooks.Secrets{Key: func(context.Context) (string, error) { return "key", nil }, DB: db, Clock: now}
}

// tables are those of the platform.
func tables(t *testing.T) *dynamo.DB {
	t.Helper()
	return dynamotest.Open(t, askahuman.Platform().Database).DB
}

// none are tables in which nothing is.
func none(t *testing.T) *dynamo.DB {
	t.Helper()
	db, _ := dynamotest.Refused(t, askahuman.Platform().Database, nil)
	return db
}

func TestSend(t *testing.T) {
	t.Parallel()
	keys := secretsOf(tables(t))
	must.Get(keys.Rotate(t.Context(), "ada"))(t)
	m, _, err := webhooks.Of(change(t, "OPEN", "CLOSED", endpoint))
	must.OK(t, err)
	p := &poster{answer: webhook.Answer{Status: 204}}
	outcome, err := (&webhooks.Sender{Keys: keys, Post: p.Post, Clock: now}).Send(t.Context(), m)
	if err != nil || outcome.Gone || outcome.Took != 875*time.Millisecond {
		t.Errorf("got %+v, %v", outcome, err)
	}
	secrets, err := keys.Valid(t.Context(), "ada")
	if err != nil || len(secrets) != 2 {
		t.Fatalf("got %d secrets, %v", len(secrets), err)
	}
	// Each of the secrets verifies it, and another agent's does not.
	for _, secret := range secrets {
		if err := webhook.Verify(p.header, m.Body, now(), secret); err != nil {
			t.Error(err)
		}
	}
	others, err := keys.Valid(t.Context(), "bob")
	if err != nil || webhook.Verify(p.header, m.Body, now(), others...) == nil {
		t.Errorf("another agent's secret verifies it, or: %v", err)
	}
	if p.url != endpoint || p.header.Get("Webhook-Id") != m.ID || p.header.Get("Content-Type") != "application/json" {
		t.Errorf("sent to %s with %v", p.url, p.header)
	}
}

// A failure says when to come again, if the endpoint does, and never has the endpoint's address.
func TestSendErr(t *testing.T) {
	t.Parallel()
	m, _, err := webhooks.Of(change(t, "OPEN", "CLOSED", endpoint))
	must.OK(t, err)
	refused := &webhook.ForbiddenError{Address: "10.0.0.1", Reason: "a private address"}
	for name, test := range map[string]struct {
		poster poster
		want   error
		later  time.Duration
	}{
		"Redirect": {poster{answer: webhook.Answer{Status: 302}}, webhooks.ErrAnswer, 0},
		"Failed":   {poster{answer: webhook.Answer{Status: 500}}, webhooks.ErrAnswer, 0},
		"Busy": {poster{answer: webhook.Answer{Status: 503, RetryAfter: time.Minute}}, webhooks.ErrAnswer,
			time.Minute},
		"Forbidden": {poster{err: &url.Error{Op: "Post", URL: endpoint, Err: refused}}, refused, 0},
		"TimedOut": {poster{err: &url.Error{Op: "Post", URL: endpoint, Err: context.DeadlineExceeded}},
			context.DeadlineExceeded, 0},
	} {
		_, err := (&webhooks.Sender{Keys: secretsOf(none(t)), Post: test.poster.Post, Clock: now}).Send(t.Context(), m)
		later, _ := errors.AsType[*trigger.LaterError](err)
		if !errors.Is(err, test.want) || strings.Contains(err.Error(), "t0ken") || (later != nil) != (test.later > 0) ||
			later != nil && later.After != test.later {
			t.Errorf("%s: got %v", name, err)
		}
	}
	outcome, err := (&webhooks.Sender{Keys: secretsOf(none(t)),
		Post:  (&poster{answer: webhook.Answer{Status: 410}}).Post,
		Clock: now}).Send(t.Context(), m)
	if err != nil || !outcome.Gone {
		t.Errorf("410: got %+v, %v", outcome, err)
	}
	without := &webhooks.Secrets{Key: func(context.Context) (string, error) {
		return "", errors.New("no key")
	}, DB: none(t)}
	p := &poster{}
	if _, err := (&webhooks.Sender{Keys: without, Post: p.Post}).Send(t.Context(), m); err == nil || p.header != nil {
		t.Errorf("without a key: got %v, sent %v", err, p.header)
	}
}

// A rotation that loses to as many others as there can be at once is carried out. One that always loses ends with its
// invocation.
func TestRotateContended(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		losses int
		want   error
	}{"Losing 20 times": {20, nil}, "Losing always": {math.MaxInt, retry.ErrStale}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
				defer cancel()
				losses := test.losses
				db, _ := dynamotest.Refused(t, askahuman.Platform().Database, func(operation string) dynamotest.Answer {
					if operation != "UpdateItem" || losses == 0 {
						return dynamotest.Answer{}
					}
					losses--
					return dynamotest.Answer{Code: "ConditionalCheckFailedException"}
				})
				secrets, err := secretsOf(db).Rotate(ctx, "ada")
				if !errors.Is(err, test.want) || (len(secrets) == 2) != (test.want == nil) {
					t.Errorf("got %d secrets, %v; want %v", len(secrets), err, test.want)
				}
			})
		})
	}
}
