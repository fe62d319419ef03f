package trace_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

func exchange(t *testing.T, r *trace.Recorder, id string, status int, sent, answer trace.Content) {
	t.Helper()
	_, request := r.Begin(t.Context(), id, trace.Origin{Kind: trace.HTTP, Method: "POST", Path: "/links"})
	request.Exchange(sent, answer)
	request.End(status, "")
}

// exchanged is a request that has ended with a status, after what was sent and answered.
func exchanged(t *testing.T, r *trace.Recorder, id string, status int, sent, answer trace.Content) trace.Details {
	t.Helper()
	exchange(t, r, id, status, sent, answer)
	details, ok := r.Request(id)
	if !ok {
		t.Fatalf("%s is not kept", id)
	}
	return details
}

// People see no secret of a header in full, and the request can be sent again with all of them.
func TestExchange(t *testing.T) {
	t.Parallel()
	const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl"
	r := trace.New(trace.Options{})
	sent := trace.Content{Body: []byte(`{"url": "https://example.com"}`), Header: http.Header{
		"Authorization": {"Bearer " + token}, "X-Api-Key": {"aah_0123456789abcdef"}, "Cookie": {"session=0123456789"},
		"Idempotency-Key": {"key-1"}, "X-Forwarded-Identity": {token},
		"X-Agent-Id":    {"abc_" + strings.Repeat("0123456789", 5)},
		"X-Agent-Token": {"abc", "0123456789abcdefghijklmnop"},
		"Content-Type":  {"application/json"},
	}}
	details := exchanged(t, r, "one", 201, sent, trace.Content{Body: []byte{0xff, 0xfe},
		Header: http.Header{"Set-Cookie": {"id=0123456789abcdef"}}})
	want := map[string][]string{
		"Authorization": {"Bearer eyJhbG…"}, "X-Api-Key": {"aah_0…"}, "Cookie": {"sess…"}, "Idempotency-Key": {"key-1"},
		"X-Forwarded-Identity": {"eyJhbG…"}, "X-Agent-Id": {"abc_01…"}, "X-Agent-Token": {"…", "012345…"},
		"Content-Type": {"application/json"},
	}
	if got := details.Sent; fmt.Sprint(got.Headers) != fmt.Sprint(want) || got.Body != string(sent.Body) || got.Cut ||
		fmt.Sprint(got.Secrets) != "[Authorization Cookie X-Agent-Id X-Agent-Token X-Api-Key X-Forwarded-Identity]" {
		t.Errorf("got %+v", got)
	}
	if got := details.Answer; got.Headers.Get("Set-Cookie") != "id=0…" || got.Body != "" || got.Bytes != 2 {
		t.Errorf("got %+v", got)
	}
	origin, again, whole := r.Sent("one")
	if origin.Path != "/links" || !whole || again.Header.Get("Authorization") != "Bearer "+token ||
		string(again.Body) != string(sent.Body) {
		t.Errorf("got %+v %+v %v", origin, again, whole)
	}

	long := trace.Content{Header: http.Header{"A": {strings.Repeat("a", 40_000)}},
		Body: []byte(strings.Repeat("ä", 20_000))}
	details = exchanged(t, r, "long", 200, long, trace.Content{})
	if got := details.Sent; !got.Cut || got.Bytes != 40_000 || len(got.Body) != 32<<10 || len(got.Headers) != 0 {
		t.Errorf("got %d of %d bytes, cut %v, headers %d", len(got.Body), got.Bytes, got.Cut, len(got.Headers))
	}
	if _, _, whole := r.Sent("long"); whole {
		t.Error("a part counts as the whole")
	}
	if _, none, whole := r.Sent("none"); whole || none.Header != nil {
		t.Errorf("got %+v", none)
	}
}

// The forms are those of the platforms, and of API Gateway.
func TestFailure(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]trace.Failure{
		`{"error":{"code":"VALIDATION_ERROR","message":"prompt is short","details":{"field":"prompt","problems":[{"field":"b"}]}}}`: {
			Code: "VALIDATION_ERROR", Message: "prompt is short", Field: "prompt"},
		`{"detail":[{"field":"title","message":"is missing"}]}`:                {Message: "is missing", Field: "title"},
		`{"error":"no","details":[{"field":"text"}]}`:                          {Message: "no", Field: "text"},
		`{"success":false,"message":"no","error_code":"RES_001","details":[]}`: {Code: "RES_001", Message: "no"},
		`{"message":"Unauthorized"}`:                                           {Message: "Unauthorized"},
	} {
		r := trace.New(trace.Options{})
		details := exchanged(t, r, "one", 422, trace.Content{}, trace.Content{Body: []byte(body)})
		if details.Failure != want {
			t.Errorf("%s: got %+v", body, details.Failure)
		}
	}
	for body, status := range map[string]int{"no": 500, `[1, {}]`: 500, `{"message":"hello"}`: 200} {
		r := trace.New(trace.Options{})
		details := exchanged(t, r, "one", status, trace.Content{}, trace.Content{Body: []byte(body)})
		if details.Failure != (trace.Failure{}) {
			t.Errorf("%s: got %+v", body, details.Failure)
		}
	}
}

// 1,700 bodies of 32 KB are 53 MB: the oldest requests lose theirs, and stay.
func TestExchangesAreBounded(t *testing.T) {
	t.Parallel()
	r := trace.New(trace.Options{})
	body := make([]byte, trace.MaxBody)
	for n := range 1700 {
		exchange(t, r, id(n), 200, trace.Content{Body: body}, trace.Content{})
	}
	kept := 0
	for n := range 1700 {
		details, ok := r.Request(id(n))
		if !ok {
			t.Fatalf("request %d is gone", n)
		}
		if details.Sent.Headers != nil {
			kept += len(body)
		} else if kept > 0 {
			t.Fatalf("request %d has lost its content before an older one", n)
		}
	}
	if kept < 40<<20 || kept > 48<<20 {
		t.Errorf("kept %d bytes", kept)
	}
	// A request that goes takes its content along.
	for n := range trace.MaxRequests {
		exchange(t, r, id(1<<20+n), 200, trace.Content{Body: body[:1000]}, trace.Content{})
	}
	if details, ok := r.Request(id(1 << 20)); !ok || details.Sent.Headers == nil {
		t.Error("what is gone counts")
	}
	// 7,000 failures with a code and a message of 4 KB are 56 MB.
	long := strings.Repeat("x", 4<<10)
	for n := range 7000 {
		exchange(t, r, id(1<<21+n), 422, trace.Content{},
			trace.Content{Body: []byte(`{"code":"` + long + `","message":"` + long + `"}`)})
	}
	if _, ok := r.Request(id(1 << 21)); ok {
		t.Error("what failures say does not count")
	}
}

func TestNewestLines(t *testing.T) {
	t.Parallel()
	r := trace.New(trace.Options{})
	for _, level := range []string{"DEBUG", "INFO", "WARN", "ERROR", "ERROR"} {
		r.Line("todo-API", "taskapi", "", `{"level":"`+level+`","message":"Said at `+level+`"}`)
	}
	for filter, want := range map[trace.LineFilter]int{
		{}: 4, {Level: "debug"}: 4, {Level: "warn"}: 3, {Level: "error"}: 2, {Text: "said at warn"}: 1,
		{Text: "TASKAPI"}: 4, {Text: "none"}: 0, {Level: "error", Text: "warn"}: 0,
	} {
		got := r.Newest(filter, 4)
		if len(got) != want || want > 1 && got[0].Seq >= got[1].Seq || want == 4 && got[3].Seq != 5 {
			t.Errorf("%+v: got %+v", filter, got)
		}
	}
}

// A prefix searches headers and bodies of both sides, and never a secret.
func TestSearchExchanges(t *testing.T) {
	t.Parallel()
	r := trace.New(trace.Options{})
	exchange(t, r, "one", 200, trace.Content{Header: http.Header{"Authorization": {"Bearer secretsecretsecret"},
		"If-Match": {`"7"`}}, Body: []byte(`{"title":"Buy Milk"}`)},
		trace.Content{Header: http.Header{"X-Other": {"else"}}, Body: []byte("answered")})
	exchange(t, r, "two", 200, trace.Content{}, trace.Content{})
	for search, want := range map[string]int{
		`header:if-match: "7"`: 1, "header: X-OTHER": 1, "header:milk": 0, "header:secretsecretsecret": 0,
		"header:authorization: bearer secr": 1, "body:buy milk": 1, "Body: answered": 1, "body:else": 0, "milk": 0,
	} {
		if got, _ := r.Requests(trace.Search{Text: search}); len(got) != want {
			t.Errorf("%s: got %d requests, want %d", search, len(got), want)
		}
	}
}
