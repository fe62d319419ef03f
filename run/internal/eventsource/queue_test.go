package eventsource_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/eventsource"
	"github.com/onesynth-cdk/onesynth/run/internal/services"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// worker is the function: handle says which of a batch's bodies fail, or that all do.
type worker struct {
	handle func(ctx context.Context, bodies []string) (failed []string, err error)

	mutex   sync.Mutex
	batches [][]string
	working int
	most    int
	events  []events.SQSMessage
}

func (w *worker) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	var event events.SQSEvent
	if err := json.Unmarshal(payload, &event); err != nil || function != "worker" {
		return nil, fmt.Errorf("invoked %s: %w", function, err)
	}
	var bodies []string
	for _, record := range event.Records {
		bodies = append(bodies, record.Body)
	}
	w.mutex.Lock()
	w.batches = append(w.batches, bodies)
	w.events = append(w.events, event.Records...)
	w.working++
	w.most = max(w.most, w.working)
	w.mutex.Unlock()
	defer func() {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.working--
	}()
	failed, err := w.handle(ctx, bodies)
	if err != nil {
		return nil, err
	}
	response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for _, record := range event.Records {
		if slices.Contains(failed, record.Body) {
			response.BatchItemFailures = append(response.BatchItemFailures,
				events.SQSBatchItemFailure{ItemIdentifier: record.MessageId})
		}
	}
	return json.Marshal(response)
}

func (w *worker) delivered() (all []string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, batch := range w.batches {
		all = append(all, batch...)
	}
	slices.Sort(all)
	return all
}

type fixture struct {
	worker   *worker
	server   *services.Services
	source   *assembly.Assembly
	mappings *eventsource.Mappings
	ended    <-chan struct{}
	stop     context.CancelFunc
}

func start(t *testing.T, mapping string, handle func(ctx context.Context, bodies []string) ([]string, error)) *fixture {
	t.Helper()
	f := &fixture{worker: &worker{handle: handle},
		source: assemblytest.LoadFile(t, "testdata/queue.json", "MAPPING", mapping)}
	f.server = must.Get(services.New(services.Options{Assembly: f.source,
		DynamoDB: dynamodb.ServiceOptions{EngineURL: "http://127.0.0.1:1"}}))(t)
	f.mappings = f.read(t)
	ctx, stop := context.WithCancel(t.Context())
	f.stop = stop
	f.ended = must.Get(f.mappings.Start(ctx, nil))(t)
	t.Cleanup(func() {
		stop()
		<-f.ended
	})
	return f
}

func (f *fixture) read(t *testing.T) *eventsource.Mappings {
	t.Helper()
	return must.Get(eventsource.Read(f.source, eventsource.Options{Invoke: f.worker, Queue: f.server.Queue}))(t)
}

func (f *fixture) send(bodies ...string) {
	for _, body := range bodies {
		f.server.Queue("work").Send(body, map[string]sqs.MessageAttribute{
			"Kind": {DataType: "String", StringValue: "test"}, "Raw": {DataType: "Binary", BinaryValue: []byte{1}}})
	}
}

// until waits for a state of the queues, the mappings and what the function has got.
func (f *fixture) until(t *testing.T, what string, reached func() bool) {
	t.Helper()
	wait.Until(t, what, func() (any, bool) {
		return fmt.Sprintf("work %q, failed %q, delivered %q, mappings %+v", f.left("work"), f.left("failed"),
			f.worker.delivered(), f.mappings.Queues()), reached()
	})
}

// A message in the queue of failures leads to the last attempt to handle it.
func TestAttempts(t *testing.T) {
	t.Parallel()
	recorder, invocations := trace.New(trace.Options{}), atomic.Int32{}
	f := start(t, "", func(ctx context.Context, _ []string) ([]string, error) {
		err := fmt.Errorf("failure %d", invocations.Add(1))
		id := fmt.Sprintf("%08x-0000-4000-8000-000000000000", invocations.Load())
		recorder.Invoke(ctx, id, "worker", "worker", 128).End(err.Error())
		return nil, err
	})
	f.send("one")
	f.until(t, "the message has failed for good", func() bool {
		f.server.Queue("work").Due()
		return len(f.left("failed")) == 1
	})
	id := f.server.Queue("failed").Messages()[0].ID
	if got := recorder.Attempts([]string{id})[id]; got.Error != "failure 2" || got.Function != "worker" ||
		got.Request == "" {
		t.Errorf("got %+v", got)
	}
}

func (f *fixture) left(name string) (bodies []string) {
	for _, message := range f.server.Queue(name).Messages() {
		bodies = append(bodies, message.Body)
	}
	slices.Sort(bodies)
	return bodies
}

// A function gets the messages that pass a filter, and the others are deleted. These are what "Using event filtering
// with an Amazon SQS event source" says of bodies and patterns.
func TestQueueFilters(t *testing.T) {
	t.Parallel()
	bodies := []string{`{"size": 7, "name": "x"}`, ` {"size": 9}`, `plain`, `{"name": "y"}`, `7`}
	for name, test := range map[string]struct {
		patterns []string
		want     []string
	}{
		"JSON":            {[]string{`{"body": {"size": [{"numeric": ["<", 9]}]}}`}, bodies[:1]},
		"one of two":      {[]string{`{"body": {"size": [9]}}`, `{"body": {"name": ["y"]}}`}, []string{bodies[1], bodies[3]}},
		"text":            {[]string{`{"body": ["plain"]}`}, bodies[2:3]},
		"metadata":        {[]string{`{"messageAttributes": {"Kind": {"stringValue": ["test"]}}}`}, bodies},
		"metadata, other": {[]string{`{"messageAttributes": {"Kind": {"stringValue": ["x"]}}}`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var filters []map[string]string
			for _, pattern := range test.patterns {
				filters = append(filters, map[string]string{"Pattern": pattern})
			}
			criteria := must.Get(json.Marshal(map[string]any{"Filters": filters}))(t)
			f := start(t, `, "FilterCriteria": `+string(criteria),
				func(context.Context, []string) ([]string, error) { return nil, nil })
			f.send(bodies...)
			f.until(t, "all messages are done", func() bool {
				return len(f.left("work")) == 0 && f.mappings.Queues()[0].Waiting == 0
			})
			if got := f.worker.delivered(); !slices.Equal(got, slices.Sorted(slices.Values(test.want))) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got := f.mappings.Queues()[0]; got.Read != len(bodies) || got.Filtered != len(bodies)-len(test.want) ||
				got.Done != len(test.want) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// The messages that a function names come again when their time has come, and are then in the queue of failures. The
// others are done.
func TestDelivers(t *testing.T) {
	t.Parallel()
	f := start(t, `, "FunctionResponseTypes": ["ReportBatchItemFailures"]`,
		func(_ context.Context, bodies []string) ([]string, error) {
			return []string{"bad"}, nil
		})
	f.send("one", "bad", "two")
	f.until(t, "the good messages are done", func() bool {
		return slices.Equal(f.left("work"), []string{"bad"}) && f.mappings.Queues()[0].Waiting == 0
	})
	first := f.worker.events[0]
	if first.EventSource != "aws:sqs" || !strings.HasSuffix(first.EventSourceARN, ":work") ||
		first.Attributes["ApproximateReceiveCount"] != "1" || first.ReceiptHandle == "" || first.AWSRegion == "" ||
		*first.MessageAttributes["Kind"].StringValue != "test" ||
		string(first.MessageAttributes["Raw"].BinaryValue) != "\x01" {
		t.Errorf("got the record %+v", first)
	}
	if got := f.server.Queue("work").Due(); got != 1 {
		t.Errorf("%d messages are due, want one", got)
	}
	f.until(t, "the second attempt", func() bool {
		return len(f.worker.delivered()) == 4 && f.mappings.Queues()[0].Waiting == 0
	})
	f.server.Queue("work").Due()
	f.until(t, "the message is given up", func() bool { return slices.Equal(f.left("failed"), []string{"bad"}) })
	if diff := cmp.Diff([]string{"bad", "bad", "one", "two"}, f.worker.delivered()); diff != "" ||
		f.left("work") != nil {
		t.Errorf("handed over (-want +got):\n%s\nleft: %v", diff, f.left("work"))
	}
	if got := f.mappings.Queues()[0]; got.Done != 2 || got.Returned != 2 || got.Failures != 0 ||
		got.Function != "worker" || got.Queue != "work" {
		t.Errorf("got %+v", got)
	}
}

// A batch fails as a whole if the function does, or if its answer makes no sense.
func TestFails(t *testing.T) {
	t.Parallel()
	f := start(t, "", func(context.Context, []string) ([]string, error) { return nil, errors.New("the function died") })
	f.send("a", "b")
	f.until(t, "the function fails", func() bool {
		d := f.mappings.Queues()[0]
		return d.Returned == 2 && d.Failures > 0
	})
	if diff := cmp.Diff([]string{"a", "b"}, f.left("work")); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

// As many invocations run at once as the mapping allows, and no more. A slow one holds up no other.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	release, three := make(chan struct{}), make(chan struct{})
	var begun atomic.Int32
	f := start(t, `, "BatchSize": 1, "ScalingConfig": {"MaximumConcurrency": 3}`,
		func(ctx context.Context, bodies []string) ([]string, error) {
			if begun.Add(1) == 3 {
				close(three)
			}
			<-three
			if bodies[0] == "slow" {
				<-release
			}
			return nil, nil
		})
	f.send("slow", "slow")
	for i := range 20 {
		f.send(fmt.Sprint(i))
	}
	f.until(t, "the quick messages are done", func() bool {
		return slices.Equal(f.left("work"), []string{"slow", "slow"})
	})
	// What the function has is not due.
	if got := f.server.Queue("work").Due(); got != 0 {
		t.Errorf("%d messages are due, which the function has", got)
	}
	close(release)
	f.until(t, "all are done", func() bool { return f.left("work") == nil })
	if f.worker.most != 3 {
		t.Errorf("%d invocations at once, want 3", f.worker.most)
	}
}

// A window gathers more than ten messages.
func TestWindow(t *testing.T) {
	t.Parallel()
	f := start(t,
		`, "BatchSize": 25, "MaximumBatchingWindowInSeconds": 300, "ScalingConfig": {"MaximumConcurrency": 2}`,
		func(context.Context, []string) ([]string, error) {
			return nil, nil
		})
	for i := range 50 {
		f.send(fmt.Sprint(i))
	}
	f.until(t, "all are done", func() bool { return f.left("work") == nil })
	for _, batch := range f.worker.batches {
		if len(batch) != 25 {
			t.Errorf("got a batch of %d", len(batch))
		}
	}
}

// A mapping that another assembly has, too, goes on. Another one ends, and its successor begins: nothing is lost.
func TestNextAssembly(t *testing.T) {
	t.Parallel()
	f := start(t, "", func(context.Context, []string) ([]string, error) { return nil, nil })
	f.send("first")
	f.until(t, "the first is done", func() bool {
		return len(f.worker.delivered()) == 1 && f.mappings.Queues()[0].Done == 1
	})
	same := f.read(t)
	sameEnded := must.Get(same.Start(t.Context(), f.mappings))(t)
	f.send("second")
	f.until(t, "the second is done", func() bool { return same.Queues()[0].Done == 2 })
	f.source = assemblytest.LoadFile(t, "testdata/queue.json", "MAPPING", `, "BatchSize": 3`)
	other := f.read(t)
	otherEnded := must.Get(other.Start(t.Context(), same))(t)
	<-sameEnded
	f.send("third")
	f.until(t, "the third is done", func() bool { return other.Queues()[0].Done == 3 })
	f.source = assemblytest.Load(t, `{"Work": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "work"}}}`)
	must.Get(f.read(t).Start(t.Context(), other))(t)
	<-otherEnded
	f.send("fourth")
	if diff := cmp.Diff([]string{"first", "second", "third"}, f.worker.delivered()); diff != "" {
		t.Error(diff)
	}
}

// A redrive policy may come and go while messages die: each is in its queue or in the queue of failures, never lost.
func TestRedrivePolicyGoes(t *testing.T) {
	t.Parallel()
	const all = 300
	with := func(policy string) *assembly.Assembly {
		return assemblytest.Load(t, `{"Failed": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "failed"}},
			"Work": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "work", "VisibilityTimeout": 0`+policy+`}}}`)
	}
	sources := []*assembly.Assembly{with(""),
		with(`, "RedrivePolicy": {"deadLetterTargetArn": {"Fn::GetAtt": ["Failed", "Arn"]}, "maxReceiveCount": 1}`)}
	server := must.Get(services.New(services.Options{Assembly: sources[0],
		DynamoDB: dynamodb.ServiceOptions{EngineURL: "http://127.0.0.1:1"}}))(t)
	work, failed := server.Queue("work"), server.Queue("failed")
	for i := range all {
		work.Send(fmt.Sprint(i), nil)
	}
	ctx, stop := context.WithCancel(t.Context())
	var taking sync.WaitGroup
	for range 4 {
		taking.Go(func() {
			for received := work.Take(ctx, 10); len(received) > 0; received = work.Take(ctx, 10) {
				for _, one := range received {
					work.Acknowledge(one.Receipt, false)
				}
			}
		})
	}
	for i := 0; len(failed.Messages()) < all; i++ {
		apply := must.Get(server.Prepare(sources[i%2], nil))(t)
		apply()
	}
	stop()
	taking.Wait()
	if left := len(work.Messages()); left != 0 || len(failed.Messages()) != all {
		t.Errorf("%d messages are left, and %d are in the queue of failures, want %d", left, len(failed.Messages()),
			all)
	}
}

// A panic of the run's own fails a batch, or one look into the queue. It is reported, and the mapping goes on.
func TestPanics(t *testing.T) {
	t.Parallel()
	f := start(t, `, "BatchSize": 1`, func(_ context.Context, bodies []string) ([]string, error) {
		if bodies[0] == "bad" {
			panic("a bug of the run")
		}
		return nil, nil
	})
	f.send("bad", "good")
	f.until(t, "the good message is done", func() bool {
		d := f.mappings.Queues()[0]
		return d.Done == 1 && d.Failures == 1 && d.Waiting == 0
	})
	f.stop()
	<-f.ended
	var report strings.Builder
	looks := 0
	mappings := must.Get(eventsource.Read(f.source,
		eventsource.Options{Invoke: f.worker, Log: slog.New(slog.NewTextHandler(&report, nil)),
			Queue: func(arn string) *sqs.Queue {
				if looks++; looks == 1 {
					panic("another bug of the run")
				}
				return f.server.Queue(arn)
			}}))(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := must.Get(mappings.Start(ctx, nil))(t)
	f.send("better")
	f.until(t, "the mapping goes on", func() bool { return mappings.Queues()[0].Done == 1 })
	stop()
	<-ended
	if !strings.Contains(report.String(), "another bug of the run") {
		t.Errorf("reported %s", &report)
	}
}

func TestReadErr(t *testing.T) {
	t.Parallel()
	for mapping, want := range map[string]string{
		`, "BatchSize": 11`:                                                 "got BatchSize 11",
		`, "BatchSize": 0`:                                                  "got BatchSize 0",
		`, "MaximumBatchingWindowInSeconds": 301`:                           "got MaximumBatchingWindowInSeconds 301",
		`, "ScalingConfig": {"MaximumConcurrency": 1}`:                      "got MaximumConcurrency 1",
		`, "FilterCriteria": {"Filters": [{"Pattern": "{}"}]}`:              "filter pattern",
		`, "EventSourceArn": "arn:aws:sqs:us-east-1:000000000000:other"`:    "got event source",
		`, "FunctionName": "nobody"`:                                        `got function "nobody"`,
		`, "BatchSize": 10000, "MaximumBatchingWindowInSeconds": 1, "A": 1`: "denied",
	} {
		source := assemblytest.LoadFile(t, "testdata/queue.json", "MAPPING", mapping)
		_, err := eventsource.Read(source, eventsource.Options{
			Authorise: func(function, action, resource string) error {
				if function != "worker" || !strings.HasSuffix(resource, ":work") {
					t.Errorf("asked for %s on %s by %s", action, resource, function)
				}
				return errors.New("denied " + action)
			}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", mapping, err, want)
		}
	}
	for _, mistake := range []struct{ old, new, want string }{
		{`"VisibilityTimeout": 3600`, `"VisibilityTimeout": 2`, "the queue work: got VisibilityTimeout 2, below the " +
			"Timeout of its function worker: write 3 or more, better 18"},
		{`"VisibilityTimeout": 3600,`, "", ""},
		// CloudFormation takes a number as a text, too.
		{`"VisibilityTimeout": 3600`, `"VisibilityTimeout": "3"`, ""},
		{`"Handler": "bootstrap",`, `"Handler": "bootstrap", "Timeout": 3601,`, "write 3601 or more"},
		{`"Handler": "bootstrap",`, `"Handler": "bootstrap", "Timeout": 3600,`, ""},
	} {
		source := assemblytest.LoadFile(t, "testdata/queue.json", "MAPPING", "", mistake.old, mistake.new)
		_, err := eventsource.Read(source, eventsource.Options{
			Authorise: func(string, string, string) error { return nil }})
		if (err == nil) != (mistake.want == "") || err != nil && !strings.Contains(err.Error(), mistake.want) {
			t.Errorf("%s: got %v, want %q", mistake.new, err, mistake.want)
		}
	}
	disabled := assemblytest.LoadFile(t, "testdata/queue.json", "MAPPING", `, "Enabled": false`)
	if mappings, err := eventsource.Read(disabled, eventsource.Options{}); err != nil || len(mappings.Queues()) != 0 {
		t.Errorf("a mapping that is off: got %v, %v", mappings, err)
	}
}
