package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// seatParams has a parameter of each kind.
type seatParams struct {
	pageParams
	ID     string    `path:"id"`
	Row    *int      `query:"row"`
	Price  float64   `query:"price"`
	Kinds  []string  `query:"kind,explode"`
	Rows   []uint16  `query:"rows"`
	Free   bool      `query:"free"`
	Before wire.Time `query:"before"`
	Zone   string    `header:"X-Zone"`
}

type pageParams struct {
	Limit int `query:"limit" default:"20"`
}

type seat struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
}

type sold struct {
	Price int `json:"price"`
}

type waiting struct {
	Place int `json:"place"`
}

var (
	errTaken = problem.New(http.StatusConflict, "", "the seat is taken")
	errGone  = problem.New(http.StatusGone, "SEAT_GONE", "there is no such seat")

	echo = schema.Operation[seatParams, seat, seatParams]{ID: "echo", Route: "POST /seats/{id}", Function: "seats",
		Caller: schema.CallerAnyone, Summary: "Say what was sent"}
	change = schema.Operation[schema.None, *seat, seat]{ID: "change", Route: "PUT /seat", IfMatch: "the seat",
		Key: schema.KeyRequired, Errors: []error{errTaken}, Further: map[int]any{http.StatusAccepted: waiting{}}}
	buy = schema.Operation[schema.None, schema.None, any]{ID: "buy", Route: "POST /seat",
		OneOf: []any{sold{}, waiting{}}}
	find = schema.Operation[schema.None, schema.None, schema.None]{ID: "find", Route: "GET /seat",
		Status: http.StatusFound}
	show = schema.Operation[schema.None, schema.None, schema.Document]{ID: "show", Route: "GET /document"}
)

// What a server of lambdas/kit reads is what the caller has given, whatever its kind and its characters.
func TestRequest(t *testing.T) {
	t.Parallel()
	server := httpapi.New(httpapi.Config{Log: slog.New(slog.DiscardHandler),
		Platform: schema.Platform{Name: "seats", Title: "Seats", Routes: schema.Routes(echo)}})
	var body seat
	httpapi.Bind(server, echo, func(_ context.Context, r httpapi.Request[seatParams, seat]) (seatParams, error) {
		body = r.Body
		return r.Params, nil
	})
	listener := httptest.NewServer(server.Handler())
	defer listener.Close()
	to := &client.Client{URL: listener.URL, HTTP: listener.Client()}
	for name, want := range map[string]seatParams{
		"all": {pageParams{5}, `a/b?c=%2F&"ü`, new(0), 1.5, []string{"a b", "c&d"}, []uint16{1, 2}, true,
			wire.At(time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC)), "Europe/Berlin"},
		"least": {ID: ".a", pageParams: pageParams{20}},
	} {
		sent := want
		if sent.Limit == 20 {
			sent.Limit = 0 // the server knows the default
		}
		got, err := client.Call(t.Context(), to, echo, sent, seat{name, 7})
		if diff := cmp.Diff(want, got.Value, cmp.AllowUnexported(seatParams{})); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		if body != (seat{name, 7}) || got.Status != http.StatusOK {
			t.Errorf("%s: got the body %v, and %v", name, body, got)
		}
	}
	for _, id := range []string{"", ".", ".."} {
		if _, err := client.Call(t.Context(), to, echo, seatParams{ID: id}, seat{}); err == nil ||
			!strings.Contains(err.Error(), "echo: the parameter id is ") {
			t.Errorf("the parameter %q of a path: got %v", id, err)
		}
	}
	// Other forms of the same operation send what its own cannot say.
	other := schema.Operation[struct {
		ID  string      `path:"id"`
		Row json.Number `query:"row"`
	}, json.RawMessage, seatParams](echo)
	_, err := client.Call(t.Context(), to, other, struct {
		ID  string      `path:"id"`
		Row json.Number `query:"row"`
	}{"a", "1e400"}, json.RawMessage(`{"name":7}`))
	refusal, ok := errors.AsType[*client.Refusal](err)
	if !ok || refusal.Status != http.StatusUnprocessableEntity || !strings.Contains(refusal.Message, "row") {
		t.Errorf("got %v", err)
	}
}

// told is what a server answers, and asked what it was asked.
type told struct {
	status int
	header http.Header
	body   string
	asked  *http.Request
	sent   string
}

func (s *told) start(t *testing.T) *client.Client {
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.asked, s.sent = r, string(body)
		for name, values := range s.header {
			w.Header()[name] = values
		}
		w.WriteHeader(s.status)
		_, _ = io.WriteString(w, s.body)
	}))
	t.Cleanup(listener.Close)
	return &client.Client{URL: listener.URL, HTTP: listener.Client(),
		Header: http.Header{"Authorization": {"Bearer a"}}}
}

// An answer has the form of its status.
func TestAnswer(t *testing.T) {
	t.Parallel()
	server := &told{status: http.StatusOK, header: http.Header{"Etag": {`"3"`}},
		body: `{"name":"A","version":3,"new":1}`}
	to := server.start(t)
	changed, err := client.Call(t.Context(), to, change, schema.None{}, &seat{Name: "A"}, client.IfMatch(`"2"`))
	if err != nil || changed.Value != (seat{"A", 3}) || changed.Header.Get("ETag") != `"3"` || changed.Further != nil {
		t.Errorf("got %+v, %v", changed, err)
	}
	if h := server.asked.Header; h.Get("If-Match") != `"2"` || len(h.Get("Idempotency-Key")) < 20 ||
		h.Get("Content-Type") != "application/json" || h.Get("Authorization") != "Bearer a" ||
		server.sent != `{"name":"A","version":0}` {
		t.Errorf("got %v, %s", h, server.sent)
	}
	server.status, server.body = http.StatusAccepted, `{"place":4}`
	changed, err = client.Call(t.Context(), to, change, schema.None{}, nil, client.Key("k"),
		client.Header("Authorization", "Bearer b"))
	if err != nil || changed.Further != (waiting{4}) || changed.Value != (seat{}) || changed.Status != 202 {
		t.Errorf("got %+v, %v", changed, err)
	}
	if h := server.asked.Header; h.Get("Idempotency-Key") != "k" || h.Get("Content-Type") != "" || server.sent != "" ||
		h.Get("Authorization") != "Bearer b" {
		t.Errorf("got %v, %s", h, server.sent)
	}

	server.status = http.StatusOK
	for body, want := range map[string]any{`{"price":7}`: sold{7}, `{"place":4}`: waiting{4},
		`{"price":7,"tax":1}`: sold{7}} {
		server.body = body
		got, err := client.Call(t.Context(), to, buy, schema.None{}, schema.None{})
		if err != nil || got.Value != want {
			t.Errorf("%s: got %+v, %v; want %+v", body, got, err, want)
		}
	}
	server.body = `{"openapi": 1}`
	if got, err := client.Call(t.Context(), to, show, schema.None{}, schema.None{}); err != nil ||
		string(got.Value) != server.body {
		t.Errorf("got %+v, %v", got, err)
	}
	server.status, server.header = http.StatusFound, http.Header{"Location": {"/elsewhere"}}
	if got, err := client.Call(t.Context(), to, find, schema.None{}, schema.None{}); err != nil ||
		got.Header.Get("Location") != "/elsewhere" || server.asked.URL.Path != "/seat" {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, body := range []string{`{"name":7}`, `{"name"`, ``} {
		server.status, server.body = http.StatusOK, body
		if _, err := client.Call(t.Context(), to, change, schema.None{}, nil); err == nil ||
			errors.Is(err, errTaken) || !strings.Contains(err.Error(), "PUT /seat: read the answer "+body) {
			t.Errorf("%q: got %v", body, err)
		}
	}
}

// A refusal has the texts of an error, whichever form a platform gives it, and is the error that the contract declares.
func TestRefusal(t *testing.T) {
	t.Parallel()
	server := &told{status: http.StatusConflict, header: http.Header{"Retry-After": {"3"}}}
	to := server.start(t)
	call := func() *client.Refusal {
		_, err := client.Call(t.Context(), to, change, schema.None{}, nil)
		refusal, ok := errors.AsType[*client.Refusal](err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		return refusal
	}
	index := 1
	problems := []client.Problem{{Field: "rows", Index: &index, Message: "is 7", Allowed: []string{"8"}},
		{Field: "body", Message: "has no name"}}
	const listed = `[{"field":"rows","index":1,"message":"is 7","allowed":["8"]},{"field":"body","message":"has no name"}]`
	for body, want := range map[string]client.Refusal{
		`{"message":"Not Found"}`:                           {Message: "Not Found"},
		`{"detail":"no"}`:                                   {Message: "no"},
		`{"detail":` + listed + `}`:                         {Problems: problems},
		`{"error":"no","details":` + listed + `}`:           {Message: "no", Problems: problems},
		`{"error_code":"A","message":"no","success":false}`: {Code: "A", Message: "no"},
		`{"error":{"code":"A","message":"no","details":{"field":"rows","problems":` + listed + `}}}`: {Code: "A",
			Message: "no", Problems: problems},
		`<html>`: {}, `[]`: {}, `{"error":7,"code":{}}`: {},
	} {
		server.body = body
		got := call()
		want.Reply = client.Reply{Request: "PUT /seat", Status: http.StatusConflict, Header: got.Header,
			Body: []byte(body)}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
		if after, ok := got.RetryAfter(); !ok || after != 3*time.Second {
			t.Errorf("got %v, %t", after, ok)
		}
	}
	for _, test := range []struct {
		status int
		body   string
		taken  bool
		gone   bool
		text   string
	}{
		{http.StatusConflict, `{"message":"the seat is taken"}`, true, false, "PUT /seat: 409 the seat is taken"},
		{http.StatusConflict, `{"message":"it is too late"}`, false, false, "PUT /seat: 409 it is too late"},
		{http.StatusNotFound, `{"message":"the seat is taken"}`, false, false, "PUT /seat: 404 the seat is taken"},
		{http.StatusGone, `{"code":"SEAT_GONE","message":"gone"}`, false, true, "PUT /seat: 410 gone"},
		{http.StatusGone, `{"message":"there is no such seat"}`, false, true, "PUT /seat: 410 there is no such seat"},
		{http.StatusCreated, `{}`, false, false, "PUT /seat: 201 Created"}, // a success that is not the operation's
		{http.StatusUnprocessableEntity, `{"details":` + listed + `}`, false, false,
			"PUT /seat: 422 rows is 7; body has no name"},
	} {
		server.status, server.body = test.status, test.body
		if err := call(); errors.Is(err, errTaken) != test.taken || errors.Is(err, errGone) != test.gone ||
			errors.Is(err, io.EOF) || err.Error() != test.text {
			t.Errorf("%d %s: got %v", test.status, test.body, err)
		}
	}
}

// Without an answer, the error is that of the connection.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := client.Call(ctx, &client.Client{URL: "http://127.0.0.1:1"}, show, schema.None{}, schema.None{})
	if _, refused := errors.AsType[*client.Refusal](err); refused || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	to := &client.Client{URL: "http://127.0.0.1:1"}
	if _, err := to.Send(t.Context(), "POST", "/", nil, make(chan int)); err == nil {
		t.Error("a body that is no JSON is sent")
	}
	server := &told{status: http.StatusOK}
	to = server.start(t)
	for _, n := range []int{64 << 20, 64<<20 + 1} {
		server.body = strings.Repeat(" ", n)
		if _, err := to.Send(t.Context(), "GET", "/", nil, nil); (err == nil) != (n == 64<<20) {
			t.Errorf("got %v of an answer of %d bytes, want an error if it has more than 64 MB", err, n)
		}
	}
}

func Example() {
	server := &told{status: http.StatusConflict, body: `{"message":"the seat is taken"}`}
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(server.status)
		_, _ = io.WriteString(w, server.body)
	}))
	defer listener.Close()
	c := &client.Client{URL: listener.URL, Header: http.Header{"Authorization": {"Bearer token"}}}
	answer, err := client.Call(context.Background(), c, change, schema.None{}, &seat{Name: "A1"}, client.IfMatch(`"2"`))
	fmt.Println(answer.Status, errors.Is(err, errTaken), err)
	// Output: 409 true PUT /seat: 409 the seat is taken
}
