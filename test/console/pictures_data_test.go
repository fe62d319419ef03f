package console

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/console"
	"github.com/onesynth-cdk/onesynth/internal/rooms"
	"github.com/onesynth-cdk/onesynth/internal/services/sqs"
	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/test/browser"
)

// platformPictures is what the pictures show of one platform.
type platformPictures struct {
	// table and trace are the views of items and of a request.
	table, trace string
	// key opens an item.
	key string
	// sql is drawn.
	sql string
	// function, queue and schedule are names of the run.
	function, queue string
}

// fillForPictures uses the run as people do, and returns what to show of it.
func fillForPictures(t *testing.T, run *local.Runner) []shot {
	t.Helper()
	askForPictures(t, run)
	of := useForPictures(t, run)
	schedule := rooms.Of(run).Schedules.Schedules()[0]
	attributes := map[string]sqs.MessageAttribute{}
	for name, value := range map[string]string{
		"SCHEDULE_ARN": "arn:aws:scheduler:us-east-1:000000000000:schedule/default/" + schedule.Name,
		"TARGET_ARN":   schedule.Target,
		"ERROR_CODE":   "ThrottlingException", "ERROR_MESSAGE": "Rate exceeded", "RETRY_ATTEMPTS": "3",
		"EXHAUSTED_RETRY_CONDITION": "MaximumRetryAttempts",
	} {
		attributes[name] = sqs.MessageAttribute{DataType: "String", StringValue: value}
	}
	rooms.Of(run).AWS.Queue(of.queue).Send(
		`{"version":"0","id":"0c9e…","detail-type":"Scheduled Event","source":"aws.scheduler","time":"2026-11-20T03:00:00Z","detail":"{}"}`,
		attributes)
	see := func(text string) func(*browser.Tab) { return func(tab *browser.Tab) { tab.See(text) } }
	click := func(name string) func(*browser.Tab) { return func(tab *browser.Tab) { tab.Click(name) } }
	top := func(tab *browser.Tab) {
		browser.Evaluate[bool](tab, "document.activeElement?.blur(), scrollTo(0, 0), true")
	}
	folder := ""
	for _, bucket := range rooms.Of(run).Buckets.Buckets() {
		objects, err := rooms.Of(run).Buckets.Objects(bucket.Name, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(objects) > 0 {
			key := objects[len(objects)-1].Key
			folder = url.PathEscape(bucket.Name) + "?prefix=" + url.QueryEscape(key[:strings.LastIndexByte(key, '/')+1])
		}
	}
	return []shot{
		{
			name:  "try",
			view:  tryView(clientOf(t, run, "todo", "alice").address, "GET /api/v1/tasks/stats"),
			steps: []func(*browser.Tab){click("Send"), see("All that the request did"), top},
		},
		{name: "platforms", view: "#/", steps: []func(*browser.Tab){click("Make a token"), see("Copy token"), top}},
		{name: "requests", view: "#/requests", steps: []func(*browser.Tab){see("/")}},
		{name: "trace", view: of.trace, steps: []func(*browser.Tab){see("API Gateway")}},
		{name: "functions", view: "#/functions"},
		{name: "function", view: "#/functions/" + url.PathEscape(of.function)},
		{name: "tables", view: "#/tables"},
		{name: "items", view: of.table},
		{name: "item", view: of.table, steps: []func(*browser.Tab){click(of.key)}, after: click("Close")},
		{name: "streams", view: "#/streams"},
		{name: "queue", view: "#/queues/" + url.PathEscape(of.queue)},
		{name: "schedules", view: "#/schedules"},
		{name: "push", view: "#/push"},
		{name: "buckets", view: "#/buckets/" + folder},
		{name: "lake", view: "#/lake", steps: []func(*browser.Tab){
			func(tab *browser.Tab) { tab.Fill("SQL", of.sql) }, click("Run"), see("Chart"), top,
		}},
		{name: "permissions", view: "#/permissions?function=" + url.QueryEscape(of.function)},
		{name: "faults", view: "#/faults", steps: []func(*browser.Tab){click("Turn on (10 %)"), see("On: redeliver"),
			top}, after: click("Turn all off")},
		{name: "phone", view: "#/requests", steps: []func(*browser.Tab){func(tab *browser.Tab) {
			tab.Resize(360, 740)
		}, see("/")}, after: func(tab *browser.Tab) {
			tab.Resize(1200, 760)
		}},
	}
}

// client calls the API of a stack as a user.
type client struct {
	t       *testing.T
	address string
	headers http.Header
}

// clientOf is a client of the stack whose name has the word.
func clientOf(t *testing.T, run *local.Runner, word, subject string) client {
	t.Helper()
	for _, api := range rooms.Of(run).APIs {
		if !strings.Contains(api.Stack, word) {
			continue
		}
		made := client{t, api.URL, http.Header{"Content-Type": {"application/json"}}}
		if api.Issuer == "" {
			return made
		}
		body, err := json.Marshal(console.TokenRequest{Subject: subject, Stack: api.Stack})
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, run.ConsoleURL()+"/token",
			bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(console.Header, "test")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var token console.Token
		if err := json.NewDecoder(response.Body).Decode(&token); err != nil {
			t.Fatal(err)
		}
		made.headers.Set("Authorization", "Bearer "+token.AccessToken)
		return made
	}
	t.Fatalf("no stack %s", word)
	return client{}
}

// send sends a request, and returns what the answer has.
func (c client) send(method, path string, body any, headers ...string) map[string]any {
	c.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.address+path, bytes.NewReader(text))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header = c.headers.Clone()
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer map[string]any
	_ = json.NewDecoder(response.Body).Decode(&answer) // a refusal may have none
	return answer
}
