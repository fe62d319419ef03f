package platform

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

func succeeded(r onesynthtest.Reply) bool { return r.Status < http.StatusMultipleChoices }

// maxRequests is how many requests to DynamoDB one call makes at most while a table is throttled.
const maxRequests = 15

// maxRetries is how often a request is sent again after the faults.
const maxRetries = 20

// checkThrottling sends a request to every operation of the platform's API while DynamoDB throttles few, half, nearly
// all and all requests. The platform answers each with success, or with Retry-After, a 503, and the form that the
// OpenAPI document describes. Sent again afterwards, each succeeds, or is refused as done already. No claim of an
// idempotency key outlasts its invocation, and no function its time.
func (s *Suite) checkThrottling(t *testing.T) {
	target := s.OwnRun(t, run.Options{})
	described := s.document(t, target)
	measured, runner := s.measured(t, target)
	var open int
	var names []string
	for _, route := range s.Platform.Operations() {
		names = append(names, route.Key())
		if route.Caller == schema.CallerAnyone {
			open++
		}
	}
	for i, share := range []float64{1, 0.98, 0.5, 0.05} {
		t.Run(fmt.Sprintf("%g", share), func(t *testing.T) {
			requests, replies := make([]routes.Request, len(names)), make([]onesynthtest.Reply, len(names))
			for i, name := range names {
				requests[i] = must.Get(requestOf(t.Context(), measured, runner, name))(t)
			}
			if share == 1 {
				s.forget(t, target)
			}
			target.SetFaults(t, runtest.Faults{Throttle: share, Seed: uint64(i + 1)})
			must.OK(t, onesynthtest.Together(len(names), func(i int) (err error) {
				replies[i], err = requests[i].Send(t.Context())
				return err
			}))
			if throttled := runtest.Of(target.Run).Throttled(); share == 1 &&
				(throttled == 0 || throttled > maxRequests*(len(names)-open)) {
				t.Errorf("got %d throttled requests of %d callers; want at most %d of each", throttled, len(names)-open,
					maxRequests)
			}
			target.SetFaults(t, runtest.Faults{})
			for i, name := range names {
				r := replies[i]
				if _, told := r.RetryAfter(); !succeeded(r) {
					if !told || r.Status != http.StatusServiceUnavailable {
						t.Errorf("%s: got %v with Retry-After %q; want 503, and seconds", name, r,
							r.Header.Get("Retry-After"))
					}
					isKept(t, described, r)
				} else if share == 1 && s.Platform.Operations()[i].Caller != schema.CallerAnyone {
					t.Errorf("%s: got %v without a table; want 503", name, r)
				}
			}
			target.freeClaims(t, s.Platform)
			for i, name := range names {
				for repeat, r := 0, replies[i]; !succeeded(r); repeat++ {
					// A machine with much else to do may be too slow for the functions' time-outs.
					if repeat > 0 && (r.Status != http.StatusServiceUnavailable || repeat == maxRetries) {
						if share < 1 && (r.Status == http.StatusNotFound || r.Status == http.StatusConflict) {
							break
						}
						t.Fatalf("%s, sent again: got %v; want success", name, r)
					}
					if repeat > 1 {
						time.Sleep(time.Second)
						target.freeClaims(t, s.Platform)
					}
					r = must.Get(requests[i].Send(t.Context()))(t)
				}
			}
		})
	}
	target.Flush(t)
	for _, f := range runtest.Of(target.Run).Functions() {
		if f.TimeOuts > 0 {
			t.Errorf("%s ran into its time-out %d times", f.Name, f.TimeOuts)
		}
	}
}

// forget kills all processes that serve routes. Such a process keeps in memory what it has read, and would answer from
// there while DynamoDB throttles.
func (s *Suite) forget(t testing.TB, target *Target) {
	t.Helper()
	for _, f := range s.Platform.Functions {
		if len(s.Platform.RoutesServedBy(f.Name)) > 0 {
			target.KillAll(t, target.Function(t, f.ConstructID()))
		}
	}
}

// requestOf is the first request to a route that package routes has, ready to be made, or one without anything.
func requestOf(ctx context.Context, measured routes.Measured, runner *routes.Run, key string) (routes.Request, error) {
	for _, route := range measured.Routes {
		if route.Operation.Route == key && route.Status < http.StatusBadRequest {
			return route.Prepare(ctx, runner)
		}
	}
	method, path := onesynthtest.Split(key)
	plain := client.Request{Method: method, Path: path}
	return routes.Request{Request: plain, Send: func(ctx context.Context) (onesynthtest.Reply, error) {
		return plain.Send(ctx, &client.Client{URL: runner.API, HTTP: http.DefaultClient})
	}}, nil
}

// freeClaims lets time pass until claims of idempotency keys end.
func (p *Target) freeClaims(t testing.TB, platform schema.Platform) {
	t.Helper()
	for _, c := range p.claims(t, platform.Database) {
		c.check(t, platform)
		c.holdUntil(t, time.Now().Add(-time.Second))
	}
}
