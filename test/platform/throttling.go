package platform

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

// Outcome is what is expected of a request that is sent until it succeeds.
type Outcome struct {
	// Request is the name that package routes has for the request. Default: its first one to the route.
	Request string
	// Prepare makes another request ready. Default: the one of package routes.
	Prepare func(testing.TB) routes.Request
	// Repeated is the status of a repeat after an unanswered success. Default: that of the success.
	Repeated int
	// Check checks what is stored after the success: the request was carried out once. Nil: it
	// changes nothing.
	Check func(testing.TB, routes.Request, onesynthtest.Reply)
}

func succeeded(r onesynthtest.Reply) bool { return r.Status < http.StatusMultipleChoices }

// maxRequests is how many requests to DynamoDB one call makes at most while a table is throttled.
const maxRequests = 15

// maxRetries is how often a request is sent again after the faults.
const maxRetries = 20

// CheckThrottling sends a request to every operation of the platform's API while DynamoDB throttles few,
// half, nearly all and all requests. The platform answers each with success, or with Retry-After, a
// 503, and the form that the OpenAPI document describes. Repeated afterwards,
// each request is carried out once. No claim of an idempotency key outlasts its invocation. outcomes
// are those of routes whose success needs more than its status. disturbed has functions in the background work under
// the same faults, and background awaits in the end that they have done their work.
func (s *Suite) CheckThrottling(t *testing.T, target *Target, outcomes map[string]Outcome,
	disturbed func(t *testing.T, share float64), background func(t *testing.T)) {
	t.Helper()
	described := target.document(t, s.Document())
	measured, runner := s.measured(t, target)
	var open int
	var names []string
	for _, route := range s.Platform.Operations() {
		names = append(names, route.Key())
		if route.Caller == schema.CallerAnyone {
			open++
		}
	}
	for name := range outcomes {
		if !slices.Contains(names, name) {
			t.Fatalf("got an outcome of %s; the platform's API has %v", name, names)
		}
	}
	for i, share := range []float64{1, 0.98, 0.5, 0.05} {
		t.Run(fmt.Sprintf("%g", share), func(t *testing.T) {
			faults := func(f runtest.Faults) {
				t.Helper()
				if err := runtest.Of(target.Run).SetFaults(f); err != nil {
					t.Fatal(err)
				}
			}
			requests, replies := make([]routes.Request, len(names)), make([]onesynthtest.Reply, len(names))
			for i, name := range names {
				if prepare := outcomes[name].Prepare; prepare != nil {
					requests[i] = prepare(t)
				} else {
					requests[i] = prepared(t, measured, runner, name, outcomes[name].Request)
				}
			}
			faults(runtest.Faults{Throttle: share, Seed: uint64(i + 1)})
			if err := onesynthtest.Together(len(names), func(i int) (err error) {
				replies[i], err = requests[i].Send(t.Context())
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if throttled := runtest.Of(target.Run).Throttled(); share == 1 &&
				(throttled == 0 || throttled > maxRequests*(len(names)-open)) {
				t.Errorf("got %d throttled requests of %d callers; want at most %d of each", throttled, len(names)-open,
					maxRequests)
			}
			disturbed(t, share)
			faults(runtest.Faults{})

			refused := 0
			for i, name := range names {
				if r := replies[i]; !succeeded(r) {
					refused++
					if _, told := r.RetryAfter(); !told || r.Status != http.StatusServiceUnavailable {
						t.Errorf("%s: got %v with Retry-After %q; want 503, and seconds", name, r,
							r.Header.Get("Retry-After"))
					}
					described.isKept(t, r)
				}
			}
			if share == 1 && refused != len(names)-open {
				t.Errorf("got %d callers told to come again; want all %d that need a table", refused, len(names)-open)
			}
			target.freeClaims(t, s.Platform)
			for i, name := range names {
				request, outcome, r := requests[i], outcomes[name], replies[i]
				for repeat := 0; !succeeded(r); repeat++ {
					// A machine with much else to do may be too slow for the functions' time-outs.
					if repeat > 0 && (r.Status != http.StatusServiceUnavailable || repeat == maxRetries) {
						if r.Status == outcome.Repeated {
							break
						}
						t.Fatalf("%s, sent again: got %v; want success", name, r)
					}
					if repeat > 1 {
						time.Sleep(time.Second)
						target.freeClaims(t, s.Platform)
					}
					var err error
					if r, err = request.Send(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if outcome.Check != nil {
					outcome.Check(t, request, r)
				}
			}
		})
	}
	background(t)
	for _, f := range runtest.Of(target.Run).Functions() {
		if f.TimeOuts > 0 {
			t.Errorf("%s ran into its time-out %d times", f.Name, f.TimeOuts)
		}
	}
}

// prepared is the request of that name to a route, or the first one without a name. A route that package routes does
// not have takes a GET of anyone.
func prepared(t testing.TB, measured routes.Measured, runner *routes.Run, key, name string) routes.Request {
	t.Helper()
	i := slices.IndexFunc(measured.Routes, func(r routes.Route) bool {
		return r.Method+" "+r.Path == key && (name == "" || r.Name == name) && r.Status < http.StatusBadRequest
	})
	if i >= 0 {
		request, err := measured.Routes[i].Prepare(t.Context(), runner)
		if err != nil {
			t.Fatal(err)
		}
		return request
	}
	method, path := onesynthtest.Split(key)
	return routes.Request{Send: func(ctx context.Context) (onesynthtest.Reply, error) {
		return (&onesynthtest.Client{URL: runner.API, HTTP: http.DefaultClient}).Send(ctx, method, path, nil, nil)
	}}
}

// freeClaims lets time pass until claims of idempotency keys end.
func (p *Target) freeClaims(t testing.TB, platform schema.Platform) {
	t.Helper()
	for _, c := range p.claims(t, platform.Database) {
		c.check(t, platform)
		c.holdUntil(t, time.Now().Add(-time.Second))
	}
}
