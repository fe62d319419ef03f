package httpapitest

// What requests of a suite run on, and how they are made.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/internal/standin"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Unlimited is an [httpapi.RateLimiter] that allows all calls.
type Unlimited struct{}

// CountRequest implements [httpapi.RateLimiter].
func (Unlimited) CountRequest(_ context.Context, limit schema.RateLimit, _ string, now time.Time) (ratelimit.State,
	error) {
	return ratelimit.State{Limit: limit.Requests, Remaining: 1, Reset: now.Add(limit.Window)}, nil
}

// CountRead implements [httpapi.RateLimiter].
func (u Unlimited) CountRead(ctx context.Context, limit schema.RateLimit, caller string,
	now time.Time) (ratelimit.State, error) {
	return u.CountRequest(ctx, limit, caller, now)
}

// GiveBack implements [httpapi.RateLimiter].
func (Unlimited) GiveBack(schema.RateLimit, string, time.Time) {}

// Ledger is an [idempotency.Claims] that remembers the last request, and counts what becomes of claims. The zero value
// is ready to use.
type Ledger struct {
	// Refusal is the error of each claim, NotSettled that of each answer, and NotReleased that of each release.
	Refusal, NotSettled, NotReleased error
	// Begun, Settled and Released count the calls.
	Begun, Settled, Released int
	// Last is the answer to the last request. It is nil before an answer is settled, and after a release.
	Last *idempotency.Response

	mu           sync.Mutex
	key, request string // of the last request
}

// Begin implements [idempotency.Claims].
func (l *Ledger) Begin(_ context.Context, scope, key string, request []byte, _ time.Duration) (*idempotency.Claim,
	*idempotency.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Begun++
	if key = scope + " " + key; l.Last != nil && key == l.key {
		if l.request != string(request) {
			return nil, nil, idempotency.ErrOtherRequest
		}
		return nil, l.Last, nil
	}
	l.key, l.request, l.Last = key, string(request), nil
	return &idempotency.Claim{}, nil, l.Refusal
}

// Settle implements [idempotency.Claims].
func (l *Ledger) Settle(_ context.Context, _ *idempotency.Claim, response idempotency.Response) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Settled++
	l.Last = &response
	return l.NotSettled
}

// Release implements [idempotency.Claims].
func (l *Ledger) Release(ctx context.Context, _ *idempotency.Claim) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Released++
	return errors.Join(l.NotReleased, ctx.Err())
}

// call is a request of an operation.
type call struct {
	Operation
	method, path, body string
	header             http.Header
	query              url.Values
	group              string // of the caller
}

func (c call) String() string { return c.OperationID + " " + c.method + " " + c.path }

// isOnce reports whether the operation is carried out once for each idempotency key.
func (c call) isOnce() bool { return c.header.Get(schema.KeyHeader) != "" }

func (c call) request() *http.Request {
	target := c.path
	if len(c.query) > 0 {
		target += "?" + c.query.Encode()
	}
	r := httptest.NewRequest(c.method, target, strings.NewReader(c.body))
	r.Header = c.header
	return r.WithContext(kit.WithInvocation(r.Context(), kit.Invocation{SourceAddress: "203.0.113.7",
		Claims: map[string]string{"sub": "caller"}, Groups: []string{c.group}}))
}

// run is an API, and what its last request has done.
type run struct {
	*kit.API
	Document
	Ledger
	log   bytes.Buffer
	calls int
	work  func() error
	// carriedOut is that of the suite.
	carriedOut bool
}

func (s Suite) serve(d Document) *run {
	r := &run{Document: d, carriedOut: s.CarriedOut}
	r.API = s.API(&r.Ledger, slog.New(slog.NewJSONHandler(&r.log, nil)))
	return r
}

// call does the work of an operation, and counts that.
func (r *run) call() error {
	r.calls++
	return r.work()
}

// standIn returns the context of a request whose operation the run stands in for.
func (r *run) standIn(request *http.Request) context.Context {
	if r.carriedOut {
		return context.WithValue(request.Context(), working{}, sync.OnceValue(r.call))
	}
	return standin.With(request.Context(), func(result any) error {
		if err := r.call(); err != nil {
			return err
		}
		return r.fill(request, result)
	})
}

// Instead returns the handler with work in place of the work of its operations. work stores what the operation would
// return in the value that result points to.
func Instead(handler http.Handler, work func(result any) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(standin.With(r.Context(), work)))
	})
}

// fill makes result what a request is answered with: the example of the form of success.
func (d Document) fill(request *http.Request, result any) error {
	operation, _ := d.Operation(request)
	for status, response := range operation.Responses {
		if content, ok := response.Content["application/json"]; ok && strings.HasPrefix(status, "2") {
			if err := json.Unmarshal([]byte(asJSON(d.example(content.Schema))), result); err != nil {
				return fmt.Errorf("make an answer: %w", err)
			}
		}
	}
	return nil
}

// do makes a request with the given work of the service.
func (r *run) do(c call, work func() error) *httptest.ResponseRecorder {
	r.Begun, r.Settled, r.Released, r.Last, r.calls, r.work = 0, 0, 0, nil, 0, work
	r.log.Reset()
	w := httptest.NewRecorder()
	request := c.request()
	r.ServeHTTP(w, request.WithContext(r.standIn(request)))
	return w
}

// working is the key of a request's work in its context.
type working struct{}

// Work does the work of the [Suite] for the context's request, once, and returns its error each time. A service calls
// it through whatever all of its operations need, such as its tables.
func Work(ctx context.Context) error {
	if work, ok := ctx.Value(working{}).(func() error); ok {
		return work()
	}
	return nil
}

// good is the work of a service that succeeds.
func good() error { return nil }
