package trace_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// id is the id of an invocation.
func id(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-000000000000", n) }

func TestRecorder(t *testing.T) {
	t.Parallel()
	var said []string
	r := trace.New(trace.Options{
		Keys: func(table string) []string {
			if table != "Links" {
				t.Errorf("asked for the key of %q", table)
			}
			return []string{"code", "at"}
		},
		Ended: func(s trace.Summary, lines []trace.Line) {
			said = append(said, fmt.Sprint(s.Path, " ", len(lines)))
		},
		Unattributed: func(line trace.Line) { said = append(said, "unattributed "+line.Text) },
	})
	ctx, request := r.Begin(t.Context(), "gateway+1=",
		trace.Origin{Kind: trace.HTTP, Stack: "links", API: "Links", Method: "POST", Path: "/links?a=1",
			Route: "POST /links"})
	f := r.Invoke(ctx, id(1), "links-LinksAPI", "linksapi", 512)
	f.Begin(true)
	header := trace.TraceID(time.Unix(1_800_000_000, 0), id(1))
	if header != "Root=1-6b49d200-000000010000400080000000;Parent=8000000000000000;Sampled=0" {
		t.Errorf("got %s", header)
	}
	for _, call := range []trace.Call{
		{Service: "dynamodb", Operation: "PutItem", Pattern: "CreateLink", Table: "Links", WriteUnits: 2, Write: true,
			Status: 200,
			Body:   []byte(`{"TableName":"Links","Item":{"code":{"S":"ab\"c"},"at":{"N":"7"},"url":{"S":"x"}}}`)},
		{Service: "dynamodb", Operation: "Query", Table: "Links", ReadUnits: 0.5, Status: 200,
			Body: []byte(
				`{"KeyConditionExpression":"#k0 = :v0 AND begins_with (#k1, :v1)","ExpressionAttributeNames":{"#k0":"owner"},"ExpressionAttributeValues":{":v0":{"S":"ann"},":v1":{"N":"12"}}}`)},
		{Service: "dynamodb", Operation: "UpdateItem", Write: true, Error: "ThrottlingException", Status: 400,
			Body: []byte(`{"Key":{"b":{"S":"2"},"a":{"N":"1"}}}`)},
		{Service: "dynamodb", Operation: "TransactWriteItems", Write: true,
			Body: []byte(
				`{"TransactItems":[{"Put":{"TableName":"Links","Item":{"code":{"S":"d"}}}},{"Delete":{"TableName":"Links","Key":{"code":{"S":"e"}}}}]}`)},
		{Service: "dynamodb", Operation: "BatchGetItem",
			Body: []byte(`{"RequestItems":{"Links":{"Keys":[{"code":{"S":"f"}},{"code":{"S":"g"}}]}}}`)},
		{Service: "s3", Operation: "PutObject", Bucket: "exports", Body: []byte("2026/a.json")},
		{Service: "secretsmanager", Operation: "GetSecretValue", Body: []byte(`{"SecretId":"pepper"}`)},
		{Service: "dynamodb", Operation: "PutItem", Write: true, Body: []byte(`{"Item":` + strings.Repeat(" ", 5000))},
	} {
		r.Call(header, call)
	}
	r.Call("Root=1-00000000-ffffffffffffffffffffffff", trace.Call{Service: "dynamodb"})
	r.Call("", trace.Call{Service: "dynamodb"})
	r.Line("links-LinksAPI", "linksapi", "", `{"level":"WARN","message":"slow","request_id":"`+id(1)+`"}`)
	r.Line("links-LinksAPI", "linksapi", id(1), "plain")
	r.Line("other", "other", id(9), "of none")
	f.End("")
	f.End("a second end has no effect")
	request.End(201, "")
	r.Line("links-LinksAPI", "linksapi", id(1), "late")
	if want := []string{"unattributed of none", "/links?a=1 2", "unattributed late"}; !slices.Equal(said, want) {
		t.Errorf("got %q, want %q", said, want)
	}

	details, ok := r.Request("gateway+1=")
	again, found := r.Request(id(1))
	if !ok || !found || again.ID != details.ID {
		t.Fatalf("got %v %v", ok, found)
	}
	if s := details.Summary; s.Status != 201 || s.Running || s.Reads != 2 || s.Writes != 4 || s.ReadUnits != 0.5 ||
		s.WriteUnits != 2 || !s.ColdStart || s.Error != "" || !slices.Equal(s.Functions, []string{"linksapi"}) {
		t.Errorf("got %+v", s)
	}
	cost := details.CostPerMillion
	if cost.DynamoDB != 0.5*0.125+2*0.625 || cost.Gateway != 1 || cost.Lambda <= 0.2-1e-9 || cost.Logs != 0.55 {
		t.Errorf("got %+v", cost)
	}
	near(t, "total", cost.Total, cost.DynamoDB+cost.Lambda+cost.Gateway+cost.Logs)
	i := details.Invocations[0]
	var keys []string
	for _, call := range i.Calls {
		keys = append(keys, call.Key)
	}
	want := []string{
		`code = "ab\"c", at = 7`, `owner = "ann" AND begins_with (#k1, 12)`, `a = 1, b = "2"`,
		`Put Links code = "d"; Delete Links code = "e"`, `code = "f"; code = "g"`, "2026/a.json", "", "",
	}
	if !slices.Equal(keys, want) {
		t.Errorf("got %q, want %q", keys, want)
	}
	if c := i.Calls[0]; !slices.Equal(c.Patterns, []string{"CreateLink"}) || c.CostPerMillion != 1.25 {
		t.Errorf("got %+v", c)
	}
	if i.Calls[6].Input != "" || len(i.Calls[7].Input) != 4096 {
		t.Errorf("kept %q and %d bytes", i.Calls[6].Input, len(i.Calls[7].Input))
	}
	if len(i.Lines) != 3 || i.Lines[0].Level != "warn" || i.Lines[2].Text != "late" {
		t.Errorf("got %+v", i.Lines)
	}
	if got := r.Lines(trace.LineFilter{Function: "linksapi", After: i.Lines[0].Seq}); len(got) != 2 {
		t.Errorf("got %+v", got)
	}
	if got := r.Lines(trace.LineFilter{Request: "gateway+1="}); len(got) != 3 {
		t.Errorf("got %+v", got)
	}
}

// TestOrigins has invocations that no request of an API caused.
func TestOrigins(t *testing.T) {
	t.Parallel()
	r := trace.New(trace.Options{})
	f := r.Invoke(trace.About(t.Context(), trace.Origin{Kind: trace.Schedule, Path: "nightly"}), id(1), "sweeper-X",
		"sweeper", 0)
	f.Begin(false)
	f.End("Unhandled: no")
	r.Invoke(t.Context(), id(2), "sweeper-X", "sweeper", 0)
	list, more := r.Requests(trace.Search{})
	if len(list) != 2 || more {
		t.Fatalf("got %+v %v", list, more)
	}
	if s := list[0]; s.Kind != trace.Invocation || s.Path != "sweeper" || !s.Running || s.ID != id(2) {
		t.Errorf("got %+v", s)
	}
	if s := list[1]; s.Kind != trace.Schedule || s.Path != "nightly" || s.Running || s.Error != "Unhandled: no" {
		t.Errorf("got %+v", s)
	}
}

// TestSearch pages through requests, and finds them by what they are.
func TestSearch(t *testing.T) {
	t.Parallel()
	r := trace.New(trace.Options{StackOf: func(function string) string {
		stack, _, _ := strings.Cut(function, "-")
		return stack
	}})
	for n := range 7 {
		_, request := r.Begin(t.Context(), fmt.Sprint("id", n),
			trace.Origin{Kind: trace.HTTP, Method: "GET", Path: fmt.Sprint("/Tasks/", n), Route: "GET /tasks/{id}"})
		request.End(200+n, "")
	}
	for n, status := range []int{404, 503} {
		_, request := r.Begin(t.Context(), fmt.Sprint("failing", n),
			trace.Origin{Kind: trace.HTTP, Stack: "ask", Method: "GET", Path: "/404/503/200"})
		request.End(status, "")
	}
	for n, of := range []struct {
		status       int
		header       http.Header
		sent, answer string
		call         trace.Call
	}{
		{status: 409, header: http.Header{"Idempotency-Key": {"Key-A"}},
			answer: `{"error":{"code":"TASK_Changed","message":"Somebody else was faster."}}`},
		{status: 200, answer: `{"code":"order"}`, sent: `{"params":{"arguments":{"idempotency_key":"key-b"}}}`},
		{status: 502, header: http.Header{"X-Idempotency-Key": {"key-c"}},
			call: trace.Call{Service: "dynamodb", Status: 400, Error: "ThrottlingException: Rate exceeded"}},
	} {
		ctx, request := r.Begin(t.Context(), fmt.Sprint("odd", n), trace.Origin{Kind: trace.HTTP, Stack: "odd"})
		function := r.Invoke(ctx, id(20+n), "odd-api", "api", 0)
		r.Call(trace.TraceID(time.Now(), id(20+n)), of.call)
		function.End("")
		request.Exchange(trace.Content{Header: of.header, Body: []byte(of.sent)},
			trace.Content{Body: []byte(of.answer)})
		request.End(of.status, "")
	}
	sweep := r.Invoke(t.Context(), id(7), "todo-Sweeper", "sweeper", 0)
	sweep.End("Unhandled: no")
	r.Invoke(t.Context(), id(8), "todo-Sweeper", "sweeper", 0)
	var seen []string
	var before int64
	for {
		page, more := r.Requests(trace.Search{Limit: 3, Before: before, Text: "tasks"})
		for _, s := range page {
			seen = append(seen, s.ID)
		}
		if !more {
			break
		}
		before = page[len(page)-1].Seq
	}
	if got := strings.Join(seen, " "); got != "id6 id5 id4 id3 id2 id1 id0" {
		t.Errorf("got %s", got)
	}
	for search, want := range map[trace.Search]int{
		{Text: "get /tasks"}: 7, {Text: "/tasks/4"}: 1, {Text: "{ID}"}: 7, {Text: "id3"}: 1, {Text: "nothing"}: 0,
		// A status is nothing else.
		{Text: "206"}: 1, {Text: "503"}: 1, {Text: "404"}: 1, {Text: "20"}: 2,
		// What the answer of a failure says, keys in headers and bodies, and errors of calls.
		{Text: "task_changed"}: 1, {Text: "somebody ELSE"}: 1, {Text: "order"}: 0, {Text: "key-a"}: 1,
		{Text: "key-"}: 3, {Text: "key-b"}: 1, {Text: "rate exceeded"}: 1,
		{Only: trace.Failed}: 5, {Only: trace.ClientErrors}: 2, {Only: trace.ServerErrors}: 2,
		{Only: trace.SlowOnes}: 0, {Stack: "ask"}: 2, {Stack: "odd"}: 3,
		{Stack: "ask", Only: trace.ClientErrors}: 1, {Stack: "todo"}: 2,
		{Stack: "todo", Only: trace.Failed, Text: "sweep"}: 1,
	} {
		if found, _ := r.Requests(search); len(found) != want {
			t.Errorf("%+v: got %d", search, len(found))
		}
	}
}

// TestBounds has more requests, lines, calls and bytes than a recorder keeps.
func TestBounds(t *testing.T) {
	t.Parallel()
	r := trace.New(trace.Options{})
	for n := range trace.MaxRequests + 9 {
		f := r.Invoke(t.Context(), id(n), "f", "f", 0)
		f.End("")
	}
	r.Begin(t.Context(), "open", trace.Origin{})
	if _, ok := r.Request(id(9)); ok {
		t.Error("the oldest are kept")
	}
	if _, ok := r.Request(id(10)); !ok {
		t.Error("a newer one is not kept")
	}
	r.Call(trace.TraceID(time.Now(), id(3)), trace.Call{}) // of a request that is gone
	for range trace.MaxLines + 5 {
		r.Line("f", "f", "", "x")
	}
	if got := len(r.Lines(trace.LineFilter{})); got != trace.MaxLines {
		t.Errorf("got %d lines", got)
	}
	long := r.Invoke(t.Context(), id(1<<20), "f", "f", 0)
	for range 600 {
		r.Call(trace.TraceID(time.Now(), id(1<<20)), trace.Call{Service: "dynamodb"})
	}
	long.End("")
	if details, _ := r.Request(id(1 << 20)); len(details.Invocations[0].Calls) != 500 ||
		details.Invocations[0].Omitted != 100 {
		t.Errorf("kept %d calls, omitted %d", len(details.Invocations[0].Calls), details.Invocations[0].Omitted)
	}
	// 20,000 calls with 4 KB each are 80 MB.
	for n := range 100 {
		f := r.Invoke(t.Context(), id(1<<21+n), "f", "f", 0)
		for range 200 {
			r.Call(trace.TraceID(time.Now(), id(1<<21+n)), trace.Call{Service: "dynamodb", Body: make([]byte, 5000)})
		}
		f.End("")
	}
	kept, calls := 0, 0
	for n := range 100 {
		if details, ok := r.Request(id(1<<21 + n)); ok {
			kept++
			calls += len(details.Invocations[0].Calls)
		}
	}
	if kept == 0 || kept == 100 || calls > 48<<20/4096 {
		t.Errorf("kept %d of 100 requests with %d calls", kept, calls)
	}
}

// TestListen has a listener that keeps up, one that does not, and many writers.
func TestListen(t *testing.T) {
	t.Parallel()
	r := trace.New(trace.Options{})
	events, stop := r.Listen()
	slow, stopSlow := r.Listen()
	const writers, each = 4, 300
	var working, reading sync.WaitGroup
	got := map[string]int{}
	var last int64
	reading.Go(func() {
		for event := range events {
			got[event.Type]++
			if event.ID() < last {
				t.Errorf("event %d after %d", event.ID(), last)
			}
			last = event.ID()
		}
	})
	for w := range writers {
		working.Go(func() {
			for n := range each {
				f := r.Invoke(t.Context(), id(w*each+n), "f", "f", 0)
				r.Line("f", "f", id(w*each+n), "x")
				f.End("")
				for n%50 == 0 && len(events) > 500 {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	working.Wait()
	r.Changed(trace.Change{What: "build", State: "failed", Text: "links.go:1:1: expected package"})
	stop()
	stop()
	reading.Wait()
	if got["request"] == 0 || got["line"] == 0 {
		t.Errorf("got %v", got)
	}
	n := 0
	for range slow {
		n++
	}
	if n > 1024 {
		t.Errorf("a slow listener got %d events", n)
	}
	stopSlow()
	if change := r.Change(); change == nil || change.State != "failed" || change.At.IsZero() {
		t.Errorf("got %+v", change)
	}
}

// TestNothing uses what a run without a recorder has.
func TestNothing(t *testing.T) {
	t.Parallel()
	var r *trace.Recorder
	ctx, request := r.Begin(t.Context(), "id", trace.Origin{})
	f := r.Invoke(ctx, id(1), "f", "f", 0)
	f.Begin(true)
	f.End("")
	request.End(200, "")
	r.Call(trace.TraceID(time.Now(), id(1)), trace.Call{})
	r.Line("f", "f", "", "text")
	r.Changed(trace.Change{})
	if found, more := r.Requests(trace.Search{}); len(found) != 0 || more || r.Change() != nil ||
		r.Lines(trace.LineFilter{}) != nil {
		t.Errorf("got %v", found)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]trace.Record{
		"hello": {Level: "info", Message: "hello"},
		`{"timestamp":"2026","level":"ERROR","message":"panic","function_name":"f","request_id":"r","stack":"s","n":1,"error":"e"}`: {
			Level: "error", Message: "panic", Invocation: "r", Stack: "s",
			Attributes: []trace.Attribute{{Name: "error", Value: "e"}, {Name: "n", Value: "1"}}},
		`{"level":"INFO","message":"request","ms":1.5,"status":201}`: {Level: "info", Message: "request", Routine: true,
			Attributes: []trace.Attribute{{Name: "ms", Value: "1.5"}, {Name: "status", Value: "201"}}},
		`{"level":"INFO","message":"request"}`: {Level: "info", Message: "request"},
		`{"level":"ERROR","message":"request","ms":1}`: {Level: "error", Message: "request",
			Attributes: []trace.Attribute{{Name: "ms", Value: "1"}}},
		`{"_aws":{"Timestamp":1},"Asked":1}`: {Level: "info", Message: `{"_aws":{"Timestamp":1},"Asked":1}`,
			Routine: true},
		`{"level":"loud","msg":"x"}`: {Level: "info", Message: "x"},
		`{"level":`:                  {Level: "info", Message: `{"level":`},
		"panic: boom":                {Level: "error", Message: "panic: boom"},
	} {
		recorder := trace.New(trace.Options{})
		recorder.Line("f", "f", "", text)
		if got := recorder.Lines(trace.LineFilter{})[0].Level; got != want.Level {
			t.Errorf("%s: kept as %s, want %s", text, got, want.Level)
		}
		got, _ := json.Marshal(trace.Parse(text))
		wanted, _ := json.Marshal(want)
		if string(got) != string(wanted) {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, wanted)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"level":"ERROR","message":"panic","stack":"goroutine 1 [running]:\nmain.main()\n\t/a/main.go:1 +0x1\n"}`)
	f.Add("{}")
	f.Fuzz(func(t *testing.T, text string) {
		shown := trace.Text{Level: slog.LevelDebug}.Line(trace.Line{Text: text, Label: "f"})
		if strings.ContainsAny(shown, "\x1b\x07\r\x00") {
			t.Errorf("got %q", shown)
		}
	})
}

func TestText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 12, 0, 1, 0, time.Local)
	panicked := must.Get(json.Marshal(map[string]any{"level": "ERROR", "message": "panic",
		"error": "index out of range",
		"stack": string(must.Get(os.ReadFile("testdata/panic.txt"))(t))}))(t)
	lines := []trace.Line{{Text: `{"level":"DEBUG","message":"quiet"}`},
		{Text: `{"level":"INFO","message":"request","ms":1}`},
		{Text: `{"level":"WARN","message":"slow","table":"Links"}`}, {Text: string(panicked)}}
	for name, test := range map[string]struct {
		text    trace.Text
		request trace.Summary
		lines   []trace.Line
		want    string
	}{
		"Request": {request: trace.Summary{At: at, Kind: trace.HTTP, Method: "POST", Path: "/links", Status: 201,
			Milliseconds: 36.4, Reads: 2, Writes: 1, Functions: []string{"linksapi"}},
			want: "12:00:01  POST /links  201  36 ms  2 reads 1 write  linksapi\n"},
		"Refused": {request: trace.Summary{At: at, Kind: trace.HTTP, API: "Links", Method: "GET", Path: "/\x1b[31m\n/x",
			Status: 401, Error: "Unauthorized"},
			want: "12:00:01  GET /\\u001b[31m\n            /x  401  0 ms  Links\n"},
		"Panic": {request: trace.Summary{At: at, Kind: trace.HTTP, Method: "GET", Path: "/", Status: 500,
			Error: "Runtime.ExitError: exit status 2", Functions: []string{"linksapi"}, ColdStart: true}, lines: lines,
			want: "12:00:01  GET /  500  0 ms  linksapi  cold start\n          Runtime.ExitError: exit status 2\n    " +
				"      WARN  slow  table=Links\n          ERROR  panic  error=index out of range\n" +
				"            links.(*Store).Create  links/store.go:42\n            main.main  linksapi/main.go:7\n"},
		"ErrorsOnly": {text: trace.Text{Level: slog.LevelError},
			request: trace.Summary{At: at, Kind: trace.Stream, Path: "Links", Functions: []string{"writer"}},
			lines:   lines[:3],
			want:    "12:00:01  stream Links  ok  0 ms  writer\n"},
		"All": {text: trace.Text{Level: slog.LevelDebug},
			request: trace.Summary{At: at, Kind: trace.Schedule, Path: "nightly", Error: "Unhandled: no"},
			lines:   lines[:2],
			want: "12:00:01  schedule nightly  failed  0 ms\n          Unhandled: no\n          quiet\n          " +
				"request  ms=1\n"},
		"Colours": {text: trace.Text{Colours: true},
			request: trace.Summary{At: at, Kind: trace.HTTP, Method: "GET", Path: "/", Status: 404},
			want:    "\x1b[2m12:00:01\x1b[0m  GET /  \x1b[33m404\x1b[0m  0 ms\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.text.Request(test.request, test.lines); got != test.want {
				t.Errorf("got\n%q\nwant\n%q", got, test.want)
			}
		})
	}
	if got := (trace.Text{}).Line(trace.Line{At: at, Label: "sweeper",
		Text: "woke"}); got != "12:00:01  sweeper  woke\n" {
		t.Errorf("got %q", got)
	}
	if got := (trace.Text{}).Line(lines[0]); got != "" {
		t.Errorf("got %q", got)
	}
}

// BenchmarkRequest is what a request with three calls and two lines costs a run. Once the record is full, each
// evicts an older one.
func BenchmarkRequest(b *testing.B) {
	r := trace.New(trace.Options{})
	body := []byte(
		`{"TableName":"Links","Key":{"code":{"S":"abc"}},"UpdateExpression":"ADD #0 :2\nSET #1 = :3","ExpressionAttributeNames":{"#0":"clicks","#1":"at"}}`)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		own := id(n)
		ctx, request := r.Begin(b.Context(), own+"g",
			trace.Origin{Kind: trace.HTTP, API: "Links", Method: "POST", Path: "/links", Route: "POST /links"})
		f := r.Invoke(ctx, own, "links-LinksAPI", "linksapi", 512)
		f.Begin(false)
		header := trace.TraceID(time.Now(), own)
		for range 3 {
			r.Call(header, trace.Call{Service: "dynamodb", Operation: "UpdateItem", Table: "Links", WriteUnits: 1,
				Status: 200, Body: body})
		}
		r.Line("links-LinksAPI", "linksapi", own,
			`{"timestamp":"2026-11-23T05:26:00.637423544Z","level":"INFO","message":"request","function_name":"links","status":201,"ms":45.028,"request_id":"`+
				own+`","route":"POST /links"}`)
		r.Line("links-LinksAPI", "linksapi", own, `{"Asked":1,"_aws":{"Timestamp":1795412372662}}`)
		f.End("")
		request.End(201, "")
	}
}
