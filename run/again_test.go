package run_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// failed is the path of the only message of a queue on the console, once there is one.
func failed(t *testing.T, r *run.Runner, name string) string {
	t.Helper()
	queue := queueOf(t, r, name)
	wait.For(t, "the messages in "+name, 1, func() int { return len(queue.Messages()) }, wait.On(runtest.Of(r)))
	return r.ConsoleURL() + "/queues/" + queue.Name + "/messages/" + queue.Messages()[0].ID
}

// wantFailure wants that a message says how often it was tried, and why the last attempt, which is a request, failed.
func wantFailure(t *testing.T, r *run.Runner, message string, attempts int, reason string) {
	t.Helper()
	var got struct {
		Failure struct {
			Attempts                 int
			Request, Function, Error string
		}
	}
	_, text := call(t, "GET", message, "")
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Failure.Attempts != attempts ||
		!strings.Contains(got.Failure.Error, reason) {
		t.Errorf("got %+v, %v, want %d attempts, the last one with %q", got.Failure, err, attempts, reason)
	}
	want(t, 200, reason)(call(t, "GET", r.ConsoleURL()+"/requests/"+got.Failure.Request, ""))
}

func queueOf(t *testing.T, r *run.Runner, name string) *sqs.Queue {
	t.Helper()
	for _, queue := range r.Parts().AWS.Queues() {
		if strings.HasSuffix(queue.Name, "-"+name) {
			return queue
		}
	}
	t.Fatalf("no queue %s", name)
	return nil
}

func TestAgain(t *testing.T) {
	t.Parallel()
	r, _ := start(t, template("failures"), nil)
	queue := queueOf(t, r, "Queue")

	// A batch of the stream. The function fails while DynamoDB throttles it.
	want(t, 200, "1")(call(t, "POST", r.ConsoleURL()+"/faults", `{"throttle":1}`))
	must.OK(t, put(t, r, "one"))
	message := failed(t, r, "Queue")
	want(t, 200, "invoke worker with the event")(call(t, "GET", message, ""))
	wantFailure(t, r, message, 1, "provisioned throughput")
	want(t, 502, "the message stays in the queue")(call(t, "POST", message+"/again", ""))
	want(t, 200, "0")(call(t, "POST", r.ConsoleURL()+"/faults", `{}`))
	want(t, 200, `"function": "worker"`)(call(t, "POST", message+"/again", ""))
	want(t, 200, `"INSERT one"`)(call(t, "GET", r.URL("")+"/items/seen", ""))
	want(t, 404, "no such message")(call(t, "POST", message+"/again", ""))

	// An asynchronous invocation has a record, and its event in the dead-letter queue.
	must.Get(r.Parts().Functions.InvokeAsync(t.Context(), "worker", []byte(`{"Tick": "fail"}`)))(t)
	for _, name := range []string{"Queue", "DeadEvents"} {
		message = failed(t, r, name)
		want(t, 200, "invoke worker with the event")(call(t, "GET", message, ""))
		wantFailure(t, r, message, map[string]int{"Queue": 2}[name], "tick failed")
		want(t, 502, "tick failed")(call(t, "POST", message+"/again", ""))
		want(t, 204, "")(call(t, "DELETE", message, ""))
		want(t, 404, "no such message")(call(t, "DELETE", message, ""))
	}
	queueOf(t, r, "DeadEvents").Send(`{"Tick": "late"}`,
		map[string]sqs.MessageAttribute{"RequestID": {DataType: "String", StringValue: "1"}})
	message = failed(t, r, "DeadEvents")
	// One of several at the same time does it.
	statuses := make([]int, 4)
	var together sync.WaitGroup
	for i := range statuses {
		together.Go(func() { statuses[i], _ = call(t, "POST", message+"/again", "") })
	}
	together.Wait()
	done := 0
	for _, status := range statuses {
		switch status {
		case http.StatusOK:
			done++
		case http.StatusConflict, http.StatusNotFound:
		default:
			t.Errorf("got %v", statuses)
		}
	}
	if done != 1 {
		t.Errorf("got %v, want one success", statuses)
	}
	want(t, 200, "late")(call(t, "GET", r.URL("")+"/items/tick", ""))

	// The function sees what that wrote by the stream, too.
	wait.Until(t, "the record of the event is seen", func() (any, bool) {
		_, seen := call(t, "GET", r.URL("")+"/items/seen", "")
		return seen, strings.Contains(seen, "INSERT tick")
	}, wait.On(runtest.Of(r)))

	// A record that its function gave up, and one that the message has not all of.
	const gaveUp = `{"cause":"unreadable","requestContext":{"functionArn":"arn:aws:lambda:us-east-1:000000000000:function:worker"},"record":
		{"eventName":"MODIFY","dynamodb":{"Keys":{"id":{"S":"mended"}},"SequenceNumber":"1"}}%s}`
	queue.Send(fmt.Sprintf(gaveUp, ""), nil)
	want(t, 200, `"function": "worker"`)(call(t, "POST", failed(t, r, "Queue")+"/again", ""))
	want(t, 200, `"MODIFY mended"`)(call(t, "GET", r.URL("")+"/items/seen", ""))
	queue.Send(fmt.Sprintf(gaveUp, `,"omitted":"its images"`), nil)
	message = failed(t, r, "Queue")
	want(t, 409, "lacks a part of the record: its images")(call(t, "POST", message+"/again", ""))
	want(t, 204, "")(call(t, "DELETE", message, ""))

	// A batch with a record that the function reports.
	queue.Send(`{"requestContext": {"functionArn": "arn:aws:lambda:us-east-1:000000000000:function:worker"},
		"payload": "{\"Records\": [{\"eventID\": \"report\", \"dynamodb\": {\"SequenceNumber\": \"1\"}}]}"}`, nil)
	message = failed(t, r, "Queue")
	want(t, 502, "some records failed")(call(t, "POST", message+"/again", ""))
	want(t, 204, "")(call(t, "DELETE", message, ""))

	// The event of a schedule.
	queue.Send(`{"Tick": "scheduled"}`, map[string]sqs.MessageAttribute{
		"SCHEDULE_ARN": {DataType: "String",
			StringValue: "arn:aws:scheduler:us-east-1:000000000000:schedule/default/tick"},
		"TARGET_ARN": {DataType: "String", StringValue: "arn:aws:lambda:us-east-1:000000000000:function:worker"},
	})
	want(t, 200, `"function": "worker"`)(call(t, "POST", failed(t, r, "Queue")+"/again", ""))
	want(t, 200, "scheduled")(call(t, "GET", r.URL("")+"/items/tick", ""))

	// A message of another queue goes back there.
	queueOf(t, r, "DeadJobs").Send("a job", nil)
	want(t, 200, "Jobs, from which it came")(call(t, "POST", failed(t, r, "DeadJobs")+"/again", ""))
	if jobs := queueOf(t, r, "Jobs").Messages(); len(jobs) != 1 || jobs[0].Body != "a job" {
		t.Errorf("got %+v", jobs)
	}

	// Another message says nothing of what failed.
	queue.Send("anything", nil)
	message = failed(t, r, "Queue")
	want(t, 200, `"cannot"`)(call(t, "GET", message, ""))
	want(t, 409, "does not say what failed")(call(t, "POST", message+"/again", ""))
	want(t, 404, "no queue")(call(t, "POST", r.ConsoleURL()+"/queues/none/messages/1/again", ""))
}

// put writes an item into the table, past all functions.
func put(t *testing.T, r *run.Runner, id string) error {
	t.Helper()
	tables, err := r.Parts().Databases.Tables(t.Context())
	if err != nil {
		return err
	}
	status, body := call(t, "POST", r.ConsoleURL()+"/tables/"+tables[0].Name+"/items",
		fmt.Sprintf(`{"item": {"id": {"S": %q}}}`, id))
	if status != http.StatusNoContent {
		return fmt.Errorf("got %d %s", status, body)
	}
	return nil
}

func TestConsoleData(t *testing.T) {
	t.Parallel()
	r, _ := start(t, template(), nil)
	base := r.ConsoleURL()
	must.OK(t, put(t, r, "a"))
	tables := must.Get(r.Parts().Databases.Tables(t.Context()))(t)
	// What the template says of a table is what the engine has, but for the state of indexes.
	for _, table := range tables {
		design, err := r.Parts().Databases.Design(table.Name, table.Stack)
		if diff := cmp.Diff(table.Design, design, cmpopts.IgnoreFields(dynamodb.Index{}, "Status")); err != nil ||
			diff != "" {
			t.Errorf("%s: %v\n%s", table.Name, err, diff)
		}
	}
	want(t, 200, `"times": [
    "expires_at"`)(call(t, "GET", base+"/tables/"+tables[0].Name, ""))
	want(t, 404, "no such table")(call(t, "GET", base+"/tables/none", ""))
	items := base + "/tables/" + tables[0].Name + "/items"
	want(t, 200, `"S": "a"`)(call(t, "GET", items+"?partition=a", ""))
	want(t, 200, `"examined"`)(call(t, "GET", items+"?text=zzz&limit=1", ""))
	want(t, 400, "limit")(call(t, "GET", items+"?limit=0", ""))
	want(t, 400, "limit")(call(t, "GET", items+"?limit=1000", ""))
	want(t, 404, "no such table")(call(t, "GET", base+"/tables/none/items", ""))
	item := base + "/tables/" + tables[0].Name + "/item?key="
	want(t, 200, `"S": "a"`)(call(t, "GET", item+url.QueryEscape(`{"id": {"S": "a"}}`), ""))
	want(t, 404, "no such item")(call(t, "GET", item+url.QueryEscape(`{"id": {"S": "b"}}`), ""))
	want(t, 400, "it lacks id")(call(t, "GET", item+url.QueryEscape(`{"name": {"S": "b"}}`), ""))
	want(t, 400, "with its type")(call(t, "GET", item+url.QueryEscape(`{"id": "b"}`), ""))
	want(t, 400, "DynamoDB's JSON")(call(t, "GET", item+"null", ""))
	want(t, 400, "DynamoDB's JSON")(call(t, "GET", item+"b", ""))
	want(t, 404, "no such table")(call(t, "GET", base+"/tables/none/item?key="+url.QueryEscape(`{"id": {"S": "a"}}`), ""))
	want(t, 409, "has this key")(call(t, "POST", items, `{"item": {"id": {"S": "a"}}}`))
	want(t, 400, "not an item")(call(t, "POST", items, `{"item": {"id": "a"}}`))
	want(t, 400, "body")(call(t, "POST", items, `{"item": []}`))
	want(t, 204, "")(call(t, "POST", items, `{"was": {"id": {"S": "a"}}}`))
	want(t, 409, "it is gone")(call(t, "POST", items, `{"was": {"id": {"S": "a"}}}`))

	want(t, 200, "null")(call(t, "PUT", r.URL("")+"/objects/b", "content"))
	bucket := r.Parts().Buckets.Buckets()[0].Name
	want(t, 200, `"events/"`)(call(t, "GET", base+"/buckets/"+bucket+"/browse", ""))
	want(t, 200, `"key": "events/b"`)(call(t, "GET", base+"/buckets/"+bucket+"/browse?prefix=events/", ""))
	want(t, 404, "no such bucket")(call(t, "GET", base+"/buckets/none/browse", ""))
	want(t, 200, "cont")(call(t, "GET", base+"/buckets/"+bucket+"/objects/events/b?first=4", ""))

	want(t, 200, `"unused"`)(call(t, "GET", base+"/permissions", ""))
	want(t, 501, "no engine for SQL")(call(t, "POST", base+"/lakes/query", `{"sql": "SELECT 1"}`))
	want(t, 200, "[]")(call(t, "GET", base+"/push?limit=10", ""))
}

// The console tells what functions are given, and no secret: not the value of one, not a copy in a variable, and not a
// test key of the run's settings.
func TestConsoleKeepsSecrets(t *testing.T) {
	t.Parallel()
	r, _ := start(t, template("secrets"), func(options *run.Options) {
		options.Environment = map[string]map[string]string{
			"worker": {"TEST_KEY": "hush-setting", "ADDRESS": "http://localhost:9"}}
	})
	base := r.ConsoleURL()
	want(t, 200, "")(call(t, "GET", r.URL("")+"/secret", ""))
	generated := ""
	for _, test := range []struct{ path, text string }{
		{"/functions/worker/environment", `"name": "COPY",
    "value": "",
    "hidden": true`},
		{"/functions/worker/environment", `"value": "http://localhost:9"`},
		{"/secrets", `"read_by": [
      "worker"
    ]`},
		{"/parameters", `"value": "https://hook.example"`},
		{"/parameters", `"name": "/company/hidden"`},
		{"/user-pools", `"client_credentials"`},
		{"/user-pools", `"api/read"`},
		{"/user-pools", `"has_secret": true`},
	} {
		status, text := call(t, "GET", base+test.path, "")
		if status != 200 || !strings.Contains(text, test.text) || strings.Contains(text, "hush") {
			t.Errorf("%s: got %d %s, want %s", test.path, status, text, test.text)
		}
		generated += text
	}
	if _, value := call(t, "GET", r.URL("")+"/secret", ""); len(value) < 20 ||
		strings.Contains(generated, strings.Trim(value, `"`)) {
		t.Errorf("the console shows the secret %s", value)
	}
	want(t, 404, "no such function")(call(t, "GET", base+"/functions/none/environment", ""))
}
