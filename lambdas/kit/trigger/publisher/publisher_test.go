package publisher_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/publisher"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	"github.com/onesynth-cdk/onesynth/schema"
)

type visited struct {
	Link string `json:"link" maxLength:"100000" doc:"The link."`
}

var links = schema.Platform{
	Name: "links", Title: "Links",
	Database: schema.Database{Tables: []schema.Table{{Name: "Links", PhysicalName: "links"}}},
	Events: []schema.Event{{Name: "LinkVisited", Version: 3, Description: "A link was visited.", Table: "Links",
		Detail: visited{}}},
}

// happened tells of visits, cannot read a link "spoiled", and fails for "panic".
func linkEvents(change trigger.Change) ([]trigger.Event, error) {
	link := trigger.Text(change.Keys, "link")
	switch link {
	case "quiet":
		return nil, nil
	case "spoiled":
		return nil, errors.New("no link")
	case "panic":
		panic("at a link")
	case "undeclared":
		return []trigger.Event{{Name: "LinkLost", Detail: visited{}}}, nil
	}
	if change.Table != "Links" || change.Kind != events.DynamoDBOperationTypeModify {
		return nil, fmt.Errorf("got a change %s of %q", change.Kind, change.Table)
	}
	return []trigger.Event{{Name: "LinkVisited", Detail: visited{Link: link}}}, nil
}

func recordsOf(keys ...string) (all []json.RawMessage) {
	for i, key := range keys {
		all = append(all, json.RawMessage(fmt.Sprintf(`{"eventID":"e%[1]d","eventName":"MODIFY",
			"eventSourceARN":"arn:aws:dynamodb:eu-central-1:111111111111:table/Links/stream/s",
			"dynamodb":{"ApproximateCreationDateTime":1774737000,"Keys":{"link":{"S":%[2]q}},"SequenceNumber":"%[1]d"}}`,
			100+i, key)))
	}
	return all
}

func handle(t *testing.T, p *triggertest.Publisher, event trigger.Records) (failed []string) {
	t.Helper()
	answer := must.Get(p.Handle(t.Context(), event))(t)
	for _, failure := range answer.BatchItemFailures {
		failed = append(failed, failure.ItemIdentifier)
	}
	return failed
}

// An event has the head, the fields, the time of the change, and the same id each time. Its source is the platform.
func TestPublishes(t *testing.T) {
	t.Parallel()
	bus := triggertest.NewBus(t, links)
	for range 2 {
		p := triggertest.NewPublisher(links, bus, linkEvents)
		if failed := handle(t, p, trigger.Records{Records: recordsOf("<a>", "quiet")}); failed != nil {
			t.Errorf("failed are %v", failed)
		}
	}
	want := triggertest.Event{Source: "links", DetailType: "LinkVisited", Time: 1774737000, Bus: "bus-of-the-test",
		Detail: `{"event_id":"1ec023cf-9ac4-56ab-9f7b-d42e7de99983","event_version":3,` +
			`"item_version":"` + strings.Repeat("0", 37) + `100","link":"<a>"}`}
	if diff := cmp.Diff([]triggertest.Event{want, want}, bus.Events()); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}

// Events go with requests of ten at most, which are not longer than the bus takes.
func TestRequestsAreWithinLimits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		keys []string
		want int
	}{
		"Number": {strings.Split(strings.Repeat("a,", 20)+"a", ","), 3},
		"Length": {[]string{strings.Repeat("a", 90_000), strings.Repeat("b", 90_000), strings.Repeat("c", 90_000)}, 2},
		"None":   {[]string{"quiet"}, 0},
	} {
		bus := triggertest.NewBus(t, links)
		if failed := handle(t, triggertest.NewPublisher(links, bus, linkEvents),
			trigger.Records{Records: recordsOf(test.keys...)}); failed != nil || bus.Requests != test.want {
			t.Errorf("%s: failed are %v, with %d requests, want %d", name, failed, bus.Requests, test.want)
		}
	}
}

// A change comes again whose event the bus did not take now. One that it never takes, or that cannot become an event, is
// in the queue of failures with the cause. The others are done.
func TestPublisherFailures(t *testing.T) {
	t.Parallel()
	bus := triggertest.NewBus(t, links)
	bus.Refuse = func(e triggertest.Event) string {
		return map[string]string{"busy": "ThrottlingException", "denied": "NotAuthorizedForSourceException",
			"wrong": "MalformedDetail"}[fmt.Sprint(e.Fields()["link"])]
	}
	p := triggertest.NewPublisher(links, bus, linkEvents)
	foreign := json.RawMessage(strings.ReplaceAll(string(recordsOf("a")[0]), "table/Links", "table/Others"))
	foreign = json.RawMessage(strings.ReplaceAll(string(foreign), `"100"`, `"99"`))
	all := append(recordsOf("a", "busy", "wrong", "spoiled", "panic", "undeclared", "denied", "z"), foreign,
		json.RawMessage(`{"dynamodb":7}`))
	if diff := cmp.Diff([]string{"101", "106"}, handle(t, p, trigger.Records{Records: all})); diff != "" {
		t.Errorf("come again: - want, + got:\n%s", diff)
	}
	causes := map[string]string{}
	for sequence, failure := range p.Failures.Failures() {
		causes[sequence] = failure.Cause
	}
	for sequence, cause := range map[string]string{"102": "MalformedDetail", "103": "no link", "104": "panic",
		"105": `"LinkLost"`, "99": "is of no table", "": "read the record"} {
		if !strings.Contains(causes[sequence], cause) {
			t.Errorf("%s: got the cause %q, want one with %q", sequence, causes[sequence], cause)
		}
	}
	if len(causes) != 6 || len(bus.Events()) != 2 {
		t.Errorf("got the failures %v and %d events, want 6 and 2", causes, len(bus.Events()))
	}
	bus.Refuse, bus.Down = nil, true
	if diff := cmp.Diff([]string{"100", "101"}, handle(t, p, trigger.Records{Records: recordsOf("a", "b",
		"quiet")})); diff != "" {
		t.Errorf("without the bus: - want, + got:\n%s", diff)
	}
	if _, err := p.Handle(t.Context(), trigger.Records{Records: recordsOf("a"), Again: true}); err == nil {
		t.Error("an invocation by hand that published nothing has succeeded")
	}
}

// What is passed on to a function is passed on whole, also a change without an event. If its queue does not take it, the
// change comes again and nothing of it is published.
func TestPassesOn(t *testing.T) {
	t.Parallel()
	bus := triggertest.NewBus(t, links)
	p := triggertest.NewPublisher(links, bus, linkEvents)
	p.Filters = publisher.Filters{"reader": func(change trigger.Change) bool {
		return trigger.Text(change.Keys, "link") != "b"
	}}
	var got []string
	p.Queues = map[string]trigger.Failures{"reader": queue(func(message string) error {
		got = append(got, message)
		return nil
	})}
	all := recordsOf("a", "b", "quiet")
	if failed := handle(t, p, trigger.Records{Records: all}); failed != nil {
		t.Errorf("failed are %v", failed)
	}
	if diff := cmp.Diff([]string{string(all[0]), string(all[2])}, got); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
	p.Queues["reader"] = queue(func(string) error { return retry.ErrBusy })
	if diff := cmp.Diff([]string{"100"}, handle(t, p, trigger.Records{Records: all[:2]})); diff != "" ||
		len(bus.Events()) != 3 {
		t.Errorf("with %d events, - want, + got:\n%s", len(bus.Events()), diff)
	}
}

// queue takes the messages of a function.
type queue func(message string) error

// Send implements [trigger.Failures].
func (q queue) Send(_ context.Context, message string) error { return q(message) }

// The function does not start without what it needs: a rule for each function that reads no stream any more, the bus, and
// the queue of failures.
func TestStartsWithAllThatItNeeds(t *testing.T) {
	t.Parallel()
	platform := links
	platform.Functions = []schema.Function{
		{Name: "one", Trigger: schema.OnStream{Table: "Links"}}, {Name: "two",
			Trigger: schema.OnStream{Table: "Links"}},
	}
	filters := publisher.Filters{"one": func(trigger.Change) bool { return true }}
	variables := map[string]string{"LINKS_TABLE": "physical", schema.EventBusVariable: "bus",
		schema.FailureQueueVariable: "http://127.0.0.1/failures"}
	environment := kit.Environment{Getenv: func(name string) string { return variables[name] }}
	p, err := publisher.Open(environment, platform, linkEvents, filters)
	if err != nil || p.Bus != "bus" || p.Tables["physical"] != "Links" || p.Queues["one"] == nil {
		t.Errorf("got %+v, %v", p, err)
	}
	if _, err := publisher.Open(environment, platform, linkEvents, nil); err == nil ||
		!strings.Contains(err.Error(), "passes nothing on to one") {
		t.Errorf("without a rule: got %v", err)
	}
	for _, name := range []string{schema.EventBusVariable, schema.FailureQueueVariable} {
		without := kit.Environment{Getenv: func(asked string) string {
			if asked == name {
				return ""
			}
			return variables[asked]
		}}
		if _, err := publisher.Open(without, platform, linkEvents, filters); err == nil ||
			!strings.Contains(err.Error(),
				name) {
			t.Errorf("without %s: got %v", name, err)
		}
	}
}
