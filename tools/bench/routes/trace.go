package routes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Call is a call of DynamoDB by a function.
type Call struct {
	Function string
	// Operation is such as GetItem, and Body its input in DynamoDB's JSON.
	Operation string
	Body      []byte
	// Stage is how many calls of the request had to end, one after the other, before this one began,
	// and one more: calls of one stage run in parallel.
	Stage int

	began, ended time.Time
}

// Tracer keeps the calls of a run. Its method Observe is the run's Options.Observe. It is safe for
// concurrent use.
type Tracer struct {
	// Delay is how much longer each call takes, so that calls in parallel do so at the same time.
	Delay time.Duration

	mutex sync.Mutex
	calls []*Call
}

// Observe keeps a call.
func (t *Tracer) Observe(function, operation string, body []byte) (answered func()) {
	c := &Call{Function: function, Operation: operation, Body: slices.Clone(body), began: time.Now()}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.calls = append(t.calls, c)
	return func() {
		time.Sleep(t.Delay)
		t.mutex.Lock()
		defer t.mutex.Unlock()
		c.ended = time.Now()
	}
}

// take returns the calls since the last one, in the order in which they began.
func (t *Tracer) take() []Call {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	var calls []Call
	for _, c := range t.calls {
		calls = append(calls, *c)
	}
	t.calls = nil
	return calls
}

// Traced is a request of a route with its calls.
type Traced struct {
	// Prepared are the calls of all functions before the request, and Others those of other functions
	// than the route's from then on.
	Prepared, Others []Call
	// Exchange is the request to the API, the last one of several.
	Exchange Exchange
	// Calls are those of the function that serves the route, by stage.
	Calls []Call
}

// Route makes the requests of one client of a route, with their preparations. The run's functions that serve
// routes have names that contain one of serve, in lower case.
func (t *Tracer) Route(ctx context.Context, run *Run, route Route, requests int, serve []string) ([]Traced, error) {
	var last Exchange
	c := newCaller(run, route.measured, route)
	c.answered = func(e Exchange) { last = e }
	prepare := Step(c.prepare).patiently
	var all []Traced
	for range requests {
		if err := prepare(ctx); err != nil {
			return nil, fmt.Errorf("%s: prepare: %w", route, err)
		}
		traced := Traced{Prepared: t.take()}
		if err := c.do(ctx, route); err != nil {
			return nil, fmt.Errorf("%s: %w", route, err)
		}
		for _, c := range t.take() {
			if slices.ContainsFunc(serve, func(name string) bool {
				return strings.Contains(strings.ToLower(c.Function), name)
			}) {
				traced.Calls = append(traced.Calls, c)
			} else {
				traced.Others = append(traced.Others, c)
			}
		}
		traced.Exchange = last
		stage(traced.Calls)
		all = append(all, traced)
	}
	return all, nil
}

// stage sets the stages of a request's calls, and sorts the calls by them.
func stage(calls []Call) {
	slices.SortStableFunc(calls, func(a, b Call) int { return a.began.Compare(b.began) })
	for i := range calls {
		calls[i].Stage = 1
		for _, before := range calls[:i] {
			if !before.ended.IsZero() && !before.ended.After(calls[i].began) {
				calls[i].Stage = max(calls[i].Stage, before.Stage+1)
			}
		}
	}
	slices.SortStableFunc(calls, func(a, b Call) int { return cmp.Compare(a.Stage, b.Stage) })
}

// Stages is how many calls have to end one after the other.
func (t Traced) Stages() int {
	if len(t.Calls) == 0 {
		return 0
	}
	return t.Calls[len(t.Calls)-1].Stage
}
