package platform

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/aws"
	"github.com/onesynth-cdk/onesynth/internal/rooms"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Request is a request that can be sent more than once, and its expected outcome.
type Request struct {
	// Send makes the request, each time the same one. Any goroutine may call it.
	Send func(context.Context) (onesynthtest.Reply, error)
	// Status is the status of success. Begun is the status of a success whose rest follows in the
	// background, and Repeated the status of a repeat after an unanswered success. 0: there is
	// none.
	Status, Begun, Repeated int
	// Check checks what is stored after the success: the request was carried out once. Nil: it
	// changes nothing.
	Check func(t testing.TB, r onesynthtest.Reply)
}

func (r Request) succeeded(status int) bool { return status == r.Status || status == r.Begun }

// mostRequests is how many requests to DynamoDB one call makes at most while a table is throttled.
const mostRequests = 15

// mostRetries is how often a request is sent again after the faults.
const mostRetries = 20

// CheckThrottling sends a request to every operation of the platform's API while DynamoDB throttles few,
// half, nearly all and all requests. The platform answers each with success, or with Retry-After, a
// 503, and the form that the OpenAPI document at path describes. Repeated afterwards,
// each request is carried out once. No claim of an idempotency key outlasts its invocation. prepare
// makes a new request to each operation. disturbed has functions in the background work under the same
// faults, and background awaits in the end that they have done their work.
func (s *Suite) CheckThrottling(t *testing.T, target *Target, path string, prepare map[string]func(*testing.T) Request,
	disturbed func(t *testing.T, share float64), background func(t *testing.T)) {
	t.Helper()
	described := target.document(t, path)
	var open int
	operations := s.Platform.Operations()
	for _, route := range operations {
		if prepare[route.Key()] == nil {
			t.Fatalf("no request to the route %s is prepared: add one", route.Key())
		}
		if route.Caller == schema.CallerAnyone {
			open++
		}
	}
	if len(prepare) != len(operations) {
		t.Fatalf("got requests to %v; the platform's API has %d operations", slices.Sorted(maps.Keys(prepare)),
			len(operations))
	}
	for i, share := range []float64{1, 0.98, 0.5, 0.05} {
		t.Run(fmt.Sprintf("%g", share), func(t *testing.T) {
			faults := func(f aws.Faults) {
				t.Helper()
				if err := rooms.Of(target.Run).AWS.SetFaults(f); err != nil {
					t.Fatal(err)
				}
			}
			names := slices.Sorted(maps.Keys(prepare))
			requests, replies := make([]Request, len(names)), make([]onesynthtest.Reply, len(names))
			for i, name := range names {
				requests[i] = prepare[name](t)
			}
			faults(aws.Faults{Throttle: share, Seed: uint64(i + 1)})
			if err := onesynthtest.Together(len(names), func(i int) (err error) {
				replies[i], err = requests[i].Send(t.Context())
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if throttled := rooms.Of(target.Run).AWS.Throttled(); share == 1 &&
				(throttled == 0 || throttled > mostRequests*(len(names)-open)) {
				t.Errorf("got %d throttled requests of %d callers; want at most %d of each", throttled, len(names)-open,
					mostRequests)
			}
			disturbed(t, share)
			faults(aws.Faults{})

			refused := 0
			for i, name := range names {
				if r := replies[i]; !requests[i].succeeded(r.Status) {
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
				request, r := requests[i], replies[i]
				for repeat := 0; !request.succeeded(r.Status); repeat++ {
					// A machine with much else to do may be too slow for the functions' time-outs.
					if repeat > 0 && (r.Status != http.StatusServiceUnavailable || repeat == mostRetries) {
						if r.Status == request.Repeated {
							break
						}
						t.Fatalf("%s, sent again: got %v; want %d", name, r, request.Status)
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
				if request.Check != nil {
					request.Check(t, r)
				}
			}
		})
	}
	background(t)
	for _, f := range rooms.Of(target.Run).Functions.Functions() {
		if f.Timeouts > 0 {
			t.Errorf("%s ran into its time-out %d times", f.Name, f.Timeouts)
		}
	}
}

// freeClaims lets time pass until claims of idempotency keys end.
func (p *Target) freeClaims(t testing.TB, platform schema.Platform) {
	t.Helper()
	for _, c := range p.claims(t, platform.Database) {
		c.check(t, platform)
		c.holdUntil(t, time.Now().Add(-time.Second))
	}
}
