package run_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/services/events"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// An event that a function puts on a bus comes to the targets of the bus' rule, as each wants it. The console shows
// who received it, and the trace goes on through it.
func TestEvents(t *testing.T) {
	t.Parallel()
	r, _ := start(t, template(), nil)
	told := queueOf(t, r, "Told")
	bodies := func() (bodies []string) {
		for _, message := range told.Messages() {
			bodies = append(bodies, message.Body)
		}
		slices.Sort(bodies)
		return bodies
	}
	want(t, 200, "null")(call(t, "POST", r.URL("")+"/events", `{"note": "hello"}`))
	answers(t, r, "/items/noted", `"hello"`)
	wait.For(t, "the messages in the queue", 2, func() int { return len(bodies()) }, wait.On(runtest.Of(r)))
	if got := bodies(); !slices.Equal(got, []string{`"noted hello"`, `{"note":"hello"}`}) {
		t.Errorf("the queue got %q", got)
	}

	published := func(search string) (all console.Published) {
		t.Helper()
		_, text := call(t, "GET", r.ConsoleURL()+"/buses/events?search="+search, "")
		must.OK(t, json.Unmarshal([]byte(text), &all))
		return all
	}
	hello := published("hello").Events
	if len(hello) != 1 || hello[0].Function != "worker" || hello[0].Bus != "own" || len(hello[0].Deliveries) != 3 {
		t.Fatalf("got %+v", hello)
	}
	_, text := call(t, "GET", r.ConsoleURL()+"/requests/"+hello[0].From, "")
	var from trace.Details
	must.OK(t, json.Unmarshal([]byte(text), &from))
	if from.Path != "/events" || len(from.Led) != 1 || from.Led[0].Kind != trace.Bus ||
		from.Stack == "" || from.Led[0].Stack != from.Stack ||
		from.Led[0].Path != "own Noted" || from.Led[0].Event != hello[0].ID || from.Led[0].From != from.ID {
		t.Errorf("the request that published the event: got %+v", from)
	}
	want(t, 200, `"event": "`+hello[0].ID+`"`)(call(t, "GET", r.ConsoleURL()+"/requests?search="+hello[0].ID, ""))
	want(t, 200, `"arn:aws:events:us-east-1:000000000000:event-bus/own"`)(call(t, "GET", r.ConsoleURL()+"/buses", ""))

	// The template makes no JSON of this note.
	want(t, 200, "null")(call(t, "POST", r.URL("")+"/events", `{"note": "\"quoted\""}`))
	answers(t, r, "/items/noted", `"\"quoted\""`) // events have no order: a later one could come to the function first
	message := failed(t, r, "Queue")
	want(t, 409, "mend the template")(call(t, "POST", message+"/again", ""))
	want(t, 204, "")(call(t, "DELETE", message, ""))
	if quoted := published("quoted").Events; len(quoted) != 1 || quoted[0].Deliveries[2].State != events.Failed {
		t.Errorf("got %+v", quoted)
	}
	want(t, 502, "MalformedDetail")(call(t, "POST", r.URL("")+"/events", `no JSON`))

	// By hand, past all roles.
	const event = `{"source": "hand", "detail_type": "Noted", "detail": {"note": "by hand"}}`
	want(t, 200, `"id"`)(call(t, "POST", r.ConsoleURL()+"/buses/own/events", event))
	answers(t, r, "/items/noted", `"by hand"`)
	want(t, 404, "no such bus")(call(t, "POST", r.ConsoleURL()+"/buses/none/events", event))
	want(t, 400, "MalformedDetail")(call(t, "POST", r.ConsoleURL()+"/buses/own/events",
		`{"source": "s", "detail_type": "t", "detail": 1}`))
	want(t, 400, "InvalidArgument")(call(t, "POST", r.ConsoleURL()+"/buses/own/events", `{}`))
	want(t, 400, "limit")(call(t, "GET", r.ConsoleURL()+"/buses/events?limit=0", ""))
}

// A rule that fires by time is a schedule of the run.
func TestRuleByTime(t *testing.T) {
	t.Parallel()
	r, printed := start(t, template("nightly"), nil)
	if !strings.Contains(printed.String(), "nightly  cron(0 3 * * ? *)") {
		t.Errorf("printed %s", printed)
	}
	want(t, 200, "nightly")(call(t, "POST", r.ConsoleURL()+"/schedules/nightly/run", ""))
	answers(t, r, "/items/noted", `"night"`)
	want(t, 200, `"kind": "schedule"`)(call(t, "GET", r.ConsoleURL()+"/requests?search=nightly", ""))
	want(t, 200, `"path": "nightly"`)(call(t, "GET", r.ConsoleURL()+"/requests?search=nightly", ""))
}

// An event that no target took can be delivered again, to a function or a queue.
func TestEventsAgain(t *testing.T) {
	t.Parallel()
	r, _ := start(t, template(), nil)
	function := r.Parts().Functions.Functions()[0].ARN
	for target, says := range map[string]string{
		function:                  "invoke worker with the event",
		queueOf(t, r, "Told").ARN: "send the event to Items-Told",
	} {
		attributes := map[string]sqs.MessageAttribute{}
		for name, value := range map[string]string{"RULE_ARN": "arn:rule", "TARGET_ARN": target,
			"ERROR_CODE": "ERROR_FROM_TARGET"} {
			attributes[name] = sqs.MessageAttribute{DataType: "String", StringValue: value}
		}
		queueOf(t, r, "Queue").Send(`{"detail": {"note": "late"}}`, attributes)
		message := failed(t, r, "Queue")
		want(t, 200, says)(call(t, "GET", message, ""))
		want(t, 200, says)(call(t, "POST", message+"/again", ""))
	}
	want(t, 200, `"late"`)(call(t, "GET", r.URL("")+"/items/noted", ""))
	if got := queueOf(t, r, "Told").Messages(); len(got) != 1 || !strings.Contains(got[0].Body, "late") ||
		len(got[0].Attributes) != 0 {
		t.Errorf("the queue got %+v", got)
	}
}
