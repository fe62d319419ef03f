package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/api"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Every error of the domain, from every operation, has its status and form; those
// that would come again are kept under the idempotency key, the others are not.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err        error
		status     int
		detail     string // "": the error's own
		retryAfter string
		passing    bool
	}{
		{err: todo.ErrUserNotFound, status: 404, passing: true},
		{err: todo.ErrTaskNotFound, status: 404},
		{err: todo.ErrUserExists, status: 409},
		{err: todo.ErrEmailTaken, status: 409},
		{err: todo.ErrUserBeingDeleted, status: 409, retryAfter: "5", passing: true},
		{err: todo.ErrTaskCompleted, status: 400},
		{err: &todo.VersionError{Current: 7}, status: 412},
		{err: idempotency.ErrClaimLost, status: 409, retryAfter: "1", passing: true},
		{err: retry.ErrBusy, status: 503, detail: "too much is going on", retryAfter: "1", passing: true},
		{err: retry.ErrUnanswered, status: 503, detail: "too much is going on", retryAfter: "1", passing: true},
		{err: todo.ErrStale, status: 503, detail: "too much is going on", retryAfter: "1", passing: true},
		{err: errors.New("table todo-app-data has a secret"), status: 500, detail: "something went wrong", passing: true},
		{err: context.DeadlineExceeded, status: 503, detail: "too much is going on", retryAfter: "1", passing: true},
	} {
		t.Run(fmt.Sprintf("%d/%v", test.status, test.err), func(t *testing.T) {
			t.Parallel()
			for _, r := range operations() {
				api := newWire()
				api.service.err = fmt.Errorf("doing it: %w", test.err)
				w := r.do(api)
				if w.Code != test.status {
					t.Errorf("%s: got %d %s", r.line, w.Code, w.Body)
				}
				want := test.detail
				if want == "" {
					want = test.err.Error()
				}
				if got := detail(t, w); !strings.HasPrefix(got, want) || strings.Contains(w.Body.String(), "secret") {
					t.Errorf("%s: the detail is %q; want %q", r.line, got, want)
				}
				if got := w.Header().Get("Retry-After"); got != test.retryAfter {
					t.Errorf("%s: Retry-After is %q; want %q", r.line, got, test.retryAfter)
				}
				if w.Header().Get("ETag")+w.Header().Get("Location") != "" {
					t.Errorf("%s: an error has the headers %v", r.line, w.Header())
				}
				if logged := strings.Contains(api.log.String(), "doing it: "); logged != (test.status == 500 || test.status == 503) {
					t.Errorf("%s: logged %s", r.line, api.log)
				}
				kept, released := 0, 0
				if isMutation(r) {
					kept, released = 1, 0
					if test.passing {
						kept, released = 0, 1
					}
				}
				if len(api.keys.settled) != kept || api.keys.released != released {
					t.Errorf("%s: kept %d, released %d; want %d, %d", r.line, len(api.keys.settled), api.keys.released, kept, released)
				}
				if kept == 1 && (api.keys.settled[0].Status != w.Code || string(api.keys.settled[0].Body) != w.Body.String()) {
					t.Errorf("%s: kept %d %s, but answered %d %s", r.line, api.keys.settled[0].Status, api.keys.settled[0].Body, w.Code, w.Body)
				}
			}
		})
	}
}

// Rules that only the service can check are 422 too, and are kept.
func TestLateInvalid(t *testing.T) {
	t.Parallel()
	for _, r := range operations() {
		api := newWire()
		api.service.err = &validate.Error{Problems: []validate.Problem{{Field: "cursor", Message: "is odd"}, {Field: "q", Message: "is odd"}}}
		if got := invalidFields(t, r.do(api)); got != "cursor q" {
			t.Errorf("%s: got %s", r.line, got)
		}
		if kept := len(api.keys.settled); (kept == 1) != isMutation(r) {
			t.Errorf("%s: kept %d", r.line, kept)
		}
	}
}

// The answer of the keys comes before any work.
func TestKeysRefuse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err        error
		status     int
		retryAfter string
	}{
		{&idempotency.RunningError{Until: began().Add(1500 * time.Millisecond)}, 409, "2"},
		{&idempotency.RunningError{Until: began().Add(-time.Second)}, 409, "1"},
		{idempotency.ErrOtherRequest, 422, ""},
		{retry.ErrBusy, 503, "1"},
		{errors.New("no table"), 500, ""},
	} {
		for _, r := range operations() {
			if !isMutation(r) {
				continue
			}
			api := newWire()
			api.keys.begin = test.err
			w := r.do(api)
			if w.Code != test.status || w.Header().Get("Retry-After") != test.retryAfter || api.service.calls != 0 {
				t.Errorf("%s, %v: got %d %v %s, %d calls", r.line, test.err, w.Code, w.Header(), w.Body, api.service.calls)
			}
			if test.status == 422 && invalidFields(t, w) != "Idempotency-Key" {
				t.Errorf("%s: got %s", r.line, w.Body)
			}
			if strings.Contains(w.Body.String(), "no table") {
				t.Errorf("%s: got %s", r.line, w.Body)
			}
		}
	}
}

// An answer that cannot be kept is still given when nothing was changed, unless
// another attempt has taken over.
func TestSettleFails(t *testing.T) {
	t.Parallel()
	patch := as("ann", "PATCH /api/v1/tasks/x", `{}`)
	for name, test := range map[string]struct {
		settle, release error
		status          int
		released        int
	}{
		"Busy":      {settle: retry.ErrBusy, status: 200, released: 1},
		"BusyTwice": {settle: retry.ErrBusy, release: retry.ErrBusy, status: 200, released: 1},
		"Lost":      {settle: idempotency.ErrClaimLost, status: 409},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := newWire()
			api.keys.settle, api.keys.release = test.settle, test.release
			w := patch.do(api)
			if w.Code != test.status || api.keys.released != test.released {
				t.Errorf("got %d %s, released %d", w.Code, w.Body, api.keys.released)
			}
			if test.released > 0 && !strings.Contains(api.log.String(), "was not kept") {
				t.Errorf("logged %s", api.log)
			}
		})
	}
}

// A claim is released also when the request's context is done: that does not stop
// [idempotency.Keys.Release].
func TestReleaseAfterCancellation(t *testing.T) {
	t.Parallel()
	api := newWire()
	ctx, cancel := context.WithCancel(t.Context())
	api.service.before, api.service.err = cancel, context.Canceled
	w := as("ann", "POST /api/v1/tasks", `{"title":"Water the plants"}`).doIn(ctx, api)
	if w.Code != 500 || api.keys.released != 1 {
		t.Errorf("got %d, released %d", w.Code, api.keys.released)
	}
}

// hangingTable grants the first write, a claim, and then gives no answer.
type hangingTable struct {
	dynamo.Client
	writes int
}

func (h *hangingTable) UpdateItem(ctx context.Context, _ *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if h.writes++; h.writes == 1 {
		return &dynamodb.UpdateItemOutput{}, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// hangingService waits for a table that gives no answer.
type hangingService struct{ *stub }

func (hangingService) CreateTask(ctx context.Context, _ string, _ todo.TaskInput) (todo.Task, error) {
	<-ctx.Done()
	return todo.Task{}, ctx.Err()
}

// Also a caller whose claim cannot be given back gets an answer before the
// invocation ends.
func TestHangingTable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		database := schema.Todo().Database
		names := map[string]string{}
		for _, table := range database.Tables {
			names[table.Name] = table.Name
		}
		table := &hangingTable{}
		db, err := dynamo.New(table, database, names)
		if err != nil {
			t.Fatal(err)
		}
		handler := kit.NewHTTPHandler((&api.API{
			Service: hangingService{&stub{}}, Log: slog.New(slog.DiscardHandler),
			Keys: idempotency.New(db, database.Tables[0].Name, func(scope, key string) []any { return []any{scope, key} }),
		}).Handler())
		event := events.APIGatewayV2HTTPRequest{
			Version: "2.0", RouteKey: "POST /api/v1/tasks", RawPath: "/api/v1/tasks", Body: `{"title":"Water the plants"}`,
			Headers: map[string]string{"content-type": "application/json", "idempotency-key": "k"},
		}
		event.RequestContext.HTTP.Method, event.RequestContext.HTTP.Path = "POST", event.RawPath
		event.RequestContext.Authorizer = &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
			JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: map[string]string{"sub": "ann"}},
		}
		payload, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		invocation, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		answer, err := handler.Invoke(invocation, payload)
		if err != nil || !strings.Contains(string(answer), `"statusCode":5`) || table.writes != 2 {
			t.Errorf("got %s, %v after %d writes; want a 5xx after a claim and a release", answer, err, table.writes)
		}
		if invocation.Err() != nil {
			t.Error("the invocation ended before there was an answer")
		}
	})
}

// A panic leaves the claim to its lease: the work may or may not be done.
func TestPanic(t *testing.T) {
	t.Parallel()
	for _, r := range operations() {
		api := newWire()
		api.service.before = func() { panic("secret") }
		w := r.do(api)
		if w.Code != 500 || !strings.HasPrefix(detail(t, w), "something went wrong") || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: got %d %s", r.line, w.Code, w.Body)
		}
		if api.keys.released != 0 || len(api.keys.settled) != 0 {
			t.Errorf("%s: released %d, kept %v", r.line, api.keys.released, api.keys.settled)
		}
	}
}

// Without a verified subject nothing is done, also if more is wrong.
func TestUnauthorized(t *testing.T) {
	t.Parallel()
	for _, user := range []string{"", strings.Repeat("s", 256)} {
		for _, r := range operations() {
			api := newWire()
			r.user, r.headers, r.body = user, nil, "{"
			w := r.do(api)
			if w.Code != 401 || w.Header().Get("WWW-Authenticate") != "Bearer" || api.service.calls+api.keys.begun != 0 {
				t.Errorf("%s: got %d %v", r.line, w.Code, w.Header())
			}
			detail(t, w)
		}
	}
	r := as(strings.Repeat("s", 255), "GET /api/v1/tasks", "")
	if w := r.do(newWire()); w.Code != 200 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

func TestOpenRoutes(t *testing.T) {
	t.Parallel()
	api := newWire()
	w := request{line: "GET /health"}.do(api)
	if w.Code != 200 || strings.TrimSpace(w.Body.String()) != `{"status":"ok"}` {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	_, want := readDocument(t)
	for range 2 {
		w := request{line: "GET /api/v1/openapi.json"}.do(api)
		if w.Code != 200 || w.Body.String() != want || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("got %d %v, %d bytes", w.Code, w.Header(), w.Body.Len())
		}
	}
}

func TestNoSuchRoute(t *testing.T) {
	t.Parallel()
	for line, status := range map[string]int{
		"GET /":                          404,
		"GET /api/v1/tasks/":             404,
		"GET /api/v1//tasks":             404,
		"GET /api/v1/tasks/x/y":          404,
		"GET /api/v2/tasks":              404,
		"POST /health":                   405,
		"HEAD /api/v1/tasks":             405,
		"POST /api/v1/tasks/x":           405,
		"DELETE /api/v1/tasks":           405,
		"PATCH /api/v1/users/me":         405,
		"OPTIONS /api/v1/openapi.json":   405,
		"GET /api/v1/tasks/bulk/../bulk": 404,
	} {
		w := as("ann", line, "").do(newWire())
		if w.Code != status || (status == 405) != (w.Header().Get("Allow") != "") {
			t.Errorf("%s: got %d %v %s", line, w.Code, w.Header(), w.Body)
		}
		detail(t, w)
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	api := newWire()
	w := as("ann", "POST /api/v1/tasks", `{"title":"`+strings.Repeat("x", 256<<10)+`"}`).do(api)
	if w.Code != http.StatusRequestEntityTooLarge || api.keys.begun != 0 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	detail(t, w)
}

// Logs hold nothing of what was sent: neither a good request's nor a bad one's.
func TestLogsHoldNoContent(t *testing.T) {
	t.Parallel()
	const secret = "xyzzy"
	for _, test := range []request{
		as("ann", "POST /api/v1/users/me", `{"email":"xyzzy@example.com","name":"xyzzy"}`),
		as("ann", "POST /api/v1/tasks", `{"title":"xyzzy"}`),
		as("ann", "POST /api/v1/tasks", `{"title":"","xyzzy":1,"category":`+"\""+strings.Repeat(secret, 20)+`"}`),
		as("ann", "POST /api/v1/tasks", `{xyzzy`),
		as("ann", "GET /api/v1/tasks?q=xyzzy&category=xyzzy", ""),
		as("ann", "GET /api/v1/tasks?xyzzy=xyzzy&q=%zzxyzzy", ""),
		as("ann", "GET /api/v1/tasks/xyzzy", ""),
		as("ann", "GET /xyzzy", ""),
		as("ann", "PATCH /api/v1/tasks/xyzzy", `{"title":"xyzzy"}`).with("If-Match: xyzzy"),
		as("ann", "DELETE /api/v1/tasks/xyzzy", "").with("Idempotency-Key: xyzzy").with(`If-Match: "xyzzy"`),
	} {
		for _, err := range []error{nil, todo.ErrTaskNotFound, retry.ErrBusy, errors.New("no table")} {
			api := newWire()
			api.service.err = err
			test.do(api)
			if !strings.Contains(api.log.String(), `"request"`) || strings.Contains(api.log.String(), secret) {
				t.Errorf("%s, %v: logged %s", test.line, err, api.log)
			}
		}
	}
}
