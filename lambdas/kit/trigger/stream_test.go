package trigger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/smithy-go"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
)

// record is a change of an item of that name.
func record(sequence, item string) json.RawMessage {
	return json.RawMessage(
		fmt.Sprintf(
			`{"eventID":"e%[1]s","eventName":"MODIFY","dynamodb":{"Keys":{"PK":{"S":%[2]q}},"NewImage":{"n":{"N":"3"},"tags":{"L":[{"S":"a"}]}},"SequenceNumber":"%[1]s"}}`,
			sequence, item))
}

func batchOf(items ...string) (event trigger.Records) {
	for i, item := range items {
		event.Records = append(event.Records, record(fmt.Sprint(i), item))
	}
	return event
}

// left are the sequence numbers that come again.
func left(response events.DynamoDBEventResponse) (all []string) {
	for _, failure := range response.BatchItemFailures {
		all = append(all, failure.ItemIdentifier)
	}
	return all
}

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// What no attempt can handle is in the queue of failures at once, with its cause and itself. What may heal comes again,
// and so does what is unfinished. Nothing else waits for any of these, in parallel or not.
func TestStream(t *testing.T) {
	t.Parallel()
	outcomes := map[string]error{
		"unreadable": errors.New("it has no amount"), "busy": fmt.Errorf("stored: %w", retry.ErrBusy),
		"unfinished": fmt.Errorf("later: %w", trigger.ErrUnfinished),
		"refused":    &smithy.GenericAPIError{Code: "ValidationException"},
		"forbidden":  &smithy.GenericAPIError{Code: "AccessDeniedException"},
	}
	event := batchOf("good", "unreadable", "busy", "unfinished", "panics", "refused", "forbidden", "last")
	event.Records = slices.Insert(event.Records, 1,
		json.RawMessage(`{"eventID":"odd","dynamodb":{"SequenceNumber":"odd","Keys":{"PK":{"X":1}}}}`),
		json.RawMessage(`5`))
	for _, parallel := range []bool{false, true} {
		var log strings.Builder
		var queue triggertest.Queue
		var mutex sync.Mutex
		var handled []string
		b := &trigger.Stream{Failures: &queue, Parallel: parallel, Log: slog.New(slog.NewTextHandler(&log, nil))}
		ctx := lambdacontext.NewContext(t.Context(),
			&lambdacontext.LambdaContext{AwsRequestID: "r1", InvokedFunctionArn: "arn:f"})
		response, err := b.Each(ctx, event, func(_ context.Context, change events.DynamoDBStreamRecord) error {
			name := trigger.Text(change.Keys, "PK")
			mutex.Lock()
			handled = append(handled, name)
			mutex.Unlock()
			if name == "panics" {
				var none []int
				_ = none[len(name)]
			}
			return outcomes[name]
		})
		if got := fmt.Sprint(left(response)); err != nil || got != "[2 3 6]" {
			t.Errorf("parallel %t: %s come again, %v", parallel, got, err)
		}
		failures := queue.Failures()
		if got := fmt.Sprint(slices.Sorted(maps.Keys(failures))); got != "[ 1 4 5 odd]" {
			t.Errorf("parallel %t: the queue has %s", parallel, got)
		}
		if f := failures["1"]; f.Cause != "it has no amount" || f.EventID != "e1" || f.EventName != "MODIFY" ||
			string(f.Record) != string(event.Records[3]) ||
			f.RequestContext != (trigger.RequestContext{RequestID: "r1", FunctionARN: "arn:f"}) {
			t.Errorf("got %+v", f)
		}
		if got := failures["4"].Cause; !strings.Contains(got, "index out of range") {
			t.Errorf("the cause of a panic is %q", got)
		}
		if got := failures["odd"].Cause; !strings.Contains(got, "read the record") {
			t.Errorf("the cause of an unreadable record is %q", got)
		}
		want := []string{"good", "unreadable", "busy", "unfinished", "panics", "refused", "forbidden", "last"}
		if parallel {
			slices.Sort(want)
			slices.Sort(handled)
		}
		if !slices.Equal(handled, want) {
			t.Errorf("parallel %t: handled %q", parallel, handled)
		}
		if got := strings.Count(log.String(), "is not handled"); got != 7 ||
			strings.Count(log.String(), "given_up=true") != 5 {
			t.Errorf("logged %d failures: %s", got, &log)
		}
	}
}

// Records of one item wait for one that comes again, and not for one that was given up.
func TestOrder(t *testing.T) {
	t.Parallel()
	var handled []string
	b := &trigger.Stream{Failures: &triggertest.Queue{}, Log: silent}
	response, err := b.Each(t.Context(), batchOf("busy", "spoiled", "busy", "spoiled", "other"),
		func(_ context.Context, change events.DynamoDBStreamRecord) error {
			handled = append(handled, change.SequenceNumber)
			return map[string]error{"busy": retry.ErrBusy,
				"spoiled": errors.New("spoiled")}[trigger.Text(change.Keys, "PK")]
		})
	if got := fmt.Sprint(handled, left(response)); err != nil || got != "[0 1 3 4] [0 2]" {
		t.Errorf("got %s, %v", got, err)
	}
}

// What may heal is tried for a bounded time, which begins anew when it has healed.
func TestPatience(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var queue triggertest.Queue
	var failure error
	b := &trigger.Stream{Failures: &queue, Log: silent, Clock: func() time.Time { return now }}
	attempt := func(err error) []string {
		failure = err
		response := must.Get(b.Each(t.Context(), batchOf("a"),
			func(context.Context, events.DynamoDBStreamRecord) error {
				return failure
			}))(t)
		return left(response)
	}
	for range 2 {
		if attempt(retry.ErrBusy) == nil {
			t.Error("it was given up at its first failure")
		}
		now = now.Add(trigger.Patience - time.Millisecond)
		if attempt(retry.ErrUnanswered) == nil {
			t.Error("it was given up too soon")
		}
		attempt(nil)
		now = now.Add(time.Hour)
	}
	for range 20 {
		if attempt(trigger.ErrUnfinished) == nil {
			t.Error("it was given up, and was only unfinished")
		}
		now = now.Add(time.Hour)
	}
	attempt(retry.ErrBusy)
	now = now.Add(trigger.Patience)
	queue.Err = errors.New("SQS is away")
	if attempt(retry.ErrBusy) == nil {
		t.Error("it is neither in the queue of failures nor comes again")
	}
	queue.Err = nil
	if attempt(retry.ErrBusy) != nil || !strings.Contains(queue.Failures()["0"].Cause, retry.ErrBusy.Error()) {
		t.Errorf("the queue has %+v", queue.Failures())
	}
}

// A record that hangs leaves time to those that follow it.
func TestHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		handled := 0
		b := &trigger.Stream{Failures: &triggertest.Queue{}, Log: silent}
		event := batchOf("hangs", "good", "good too", "hangs too", "never begins")
		event.Records[3], event.Records[4] = record("3", "hangs too"), record("4", "never begins")
		response, err := b.Each(ctx, event, func(ctx context.Context, change events.DynamoDBStreamRecord) error {
			if name := trigger.Text(change.Keys, "PK"); !strings.HasPrefix(name, "good") {
				<-ctx.Done()
				return ctx.Err()
			}
			handled++
			return nil
		})
		if got := fmt.Sprint(left(response)); err != nil || got != "[0 3 4]" || handled != 2 {
			t.Errorf("%s come again, %v; %d were handled", got, err, handled)
		}
	})
}

// By hand, a failure is one of the invocation, and the queue gets no second message.
func TestAgain(t *testing.T) {
	t.Parallel()
	var queue triggertest.Queue
	b := &trigger.Stream{Failures: &queue, Log: silent}
	event := batchOf("a", "b")
	event.Again = true
	var failure error
	again := func() error {
		_, err := b.Each(t.Context(), event, func(context.Context, events.DynamoDBStreamRecord) error {
			return failure
		})
		return err
	}
	for _, failure = range []error{errors.New("still spoiled"), retry.ErrBusy, trigger.ErrUnfinished} {
		if err := again(); !errors.Is(err, failure) {
			t.Errorf("got %v, want %v", err, failure)
		}
	}
	if failure = nil; again() != nil || len(queue.Failures()) > 0 {
		t.Errorf("got %v, and the queue has %v", again(), queue.Failures())
	}
}

func TestImage(t *testing.T) {
	t.Parallel()
	change := batchOf("a").Changes()[0]
	if got := trigger.Text(change.NewImage, "n") + trigger.Text(change.NewImage, "tags") +
		trigger.Text(nil, "PK"); got != "" {
		t.Errorf("got the text %q", got)
	}
	var item struct {
		N    int      `dynamodbav:"n"`
		Tags []string `dynamodbav:"tags"`
	}
	if err := trigger.Read(change.NewImage, &item); err != nil || item.N != 3 || fmt.Sprint(item.Tags) != "[a]" {
		t.Errorf("got %+v, %v", item, err)
	}
	var other struct {
		N []string `dynamodbav:"n"`
	}
	if err := trigger.Read(change.NewImage, &other); err == nil {
		t.Errorf("got %+v", other)
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\ufffe", 130_000) // 390 KB, as long as an item
	image := `{"title":{"S":"` + long + `"}}`
	message, err := trigger.Failure{Cause: "too long",
		Record: json.RawMessage(`{"dynamodb":{"Keys":{"PK":{"S":"a"}},"NewImage":` + image + `,"OldImage":` + image +
			`}}`)}.Message(t.Context())
	var got trigger.Failure
	if err != nil || json.Unmarshal([]byte(message), &got) != nil ||
		!strings.Contains(got.Omitted, "NewImage and OldImage") ||
		string(got.Record) != `{"dynamodb":{"Keys":{"PK":{"S":"a"}}}}` {
		t.Errorf("got %v, %.500s", err, message)
	}
	for name, raw := range map[string]json.RawMessage{
		"NoImages": json.RawMessage(`{"eventID":"e","x":"` + long + `"}`),
		"NoJSON":   json.RawMessage(long),
	} {
		message, err := trigger.Failure{Cause: strings.Repeat("ü", trigger.MaxFailureBytes),
			Record: raw}.Message(t.Context())
		var got trigger.Failure
		if err != nil || len(message) > trigger.MaxFailureBytes || json.Unmarshal([]byte(message), &got) != nil ||
			got.Record != nil || !strings.Contains(got.Omitted, "the record") {
			t.Errorf("%s: got %v, %.300s", name, err, message)
		}
	}
	message, err = trigger.Failure{Cause: "\ufffe\uffff\xff",
		Record: json.RawMessage(`{"a":"` + "\uffff\xff" + `"}`)}.Message(t.Context())
	if err != nil || strings.ContainsAny(message, "\ufffe\uffff") || !json.Valid([]byte(message)) {
		t.Errorf("got %v, %q", err, message)
	}
	if strings.ToValidUTF8(message, "") != message {
		t.Errorf("%q is no UTF-8", message)
	}
}
