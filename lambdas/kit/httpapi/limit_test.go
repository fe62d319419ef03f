package httpapi_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// late counts a call only after the operation has read, with that error.
func late(read <-chan struct{}, err error) limiter {
	return func(ctx context.Context, limit schema.RateLimit, _ string, now time.Time) (ratelimit.State, error) {
		select {
		case <-read:
		case <-ctx.Done():
			return ratelimit.State{}, errors.New("the operation did not read before its call was counted")
		}
		return ratelimit.State{Limit: limit.Requests, Remaining: 1, Reset: now}, err
	}
}

// club is a server of one operation, do, whose calls a limiter counts while it reads.
func club(limiter limiter, log *slog.Logger, do func(context.Context, request) (none, error)) *kit.API {
	platform := one("POST", "/things")
	platform.RateLimits = []schema.RateLimit{{Name: "all", Requests: 2, Window: time.Hour, Per: schema.PerAddress}}
	platform.Routes[0].Caller, platform.Routes[0].RateLimit = schema.CallerAnyone, "all"
	s := httpapi.New(httpapi.Config{Platform: platform, Limiter: limiter, CountWhileReading: true, Log: log})
	httpapi.Bind(s, schema.Operation[none, none, none]{ID: "do", Status: 204,
		Errors: []error{problem.ErrForbidden}}, do)
	return s.Handler()
}

// called is the answer to a call of the club.
func called(ctx context.Context, api *kit.API) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	ctx = kit.WithInvocation(ctx, kit.Invocation{SourceAddress: "203.0.113.7"})
	api.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "POST", "/things", nil))
	return w
}

// An operation reads while its call is counted. It writes after the count, and writes nothing beyond the
// limit. Its own outcome changes neither.
func TestCountWhileReading(t *testing.T) {
	t.Parallel()
	database := schema.Database{
		Tables: []schema.Table{{Name: "Things", Key: schema.Key{Partition: "pk"},
			Attributes: []schema.Attribute{{Name: "pk", Type: schema.String}}}},
		AccessPatterns: []schema.AccessPattern{
			{Name: "Read", Action: schema.GetItem, Table: "Things"},
			{Name: "Write", Action: schema.PutItem, Table: "Things"},
		},
	}
	limited := &ratelimit.LimitedError{State: ratelimit.State{Limit: 2, Reset: time.Now().Add(time.Minute)}}
	for name, test := range map[string]struct {
		counted, own   error
		status, writes int
		remaining      string
	}{
		"Within":      {nil, nil, 204, 1, "1"},
		"Beyond":      {limited, nil, 429, 0, "0"},
		"Refused":     {nil, problem.ErrForbidden, 403, 0, "1"},
		"BeyondFirst": {limited, problem.ErrForbidden, 429, 0, "0"},
		"Broken":      {errors.New("no table"), nil, 500, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, wire := dynamotest.Refused(t, database, nil)
			read := make(chan struct{})
			var log strings.Builder
			logger := must.Get(kit.NewLogger(&log, "", "test"))(t)
			api := club(late(read, test.counted), logger, func(ctx context.Context, _ request) (none, error) {
				var item map[string]any
				if _, err := db.Get(ctx, "Read", &item, "x"); err != nil {
					t.Error(err)
				}
				close(read)
				if test.own != nil {
					return none{}, test.own
				}
				return none{}, db.Put(ctx, "Write", map[string]string{"pk": "x"}, expression.ConditionBuilder{})
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			w := called(ctx, api)
			if writes := wire.Attempts() - 1; w.Code != test.status || writes != test.writes ||
				w.Header().Get("X-RateLimit-Remaining") != test.remaining {
				t.Errorf("got %d with %d writes, %v %s; want %d with %d", w.Code, writes, w.Header(), w.Body,
					test.status, test.writes)
			}
			if logged := strings.Count(log.String(), "no table"); logged != map[bool]int{true: 1}[test.status == 500] {
				t.Errorf("the error was logged %d times: %s", logged, log.String())
			}
		})
	}
}

// countingWrite is a write to a table of nothing, behind a wire.
func countingWrite(t *testing.T) (write func(context.Context) error, wire *dynamotest.Wire) {
	db, wire := dynamotest.Refused(t, askahuman.Platform().Database, nil)
	return func(ctx context.Context) error {
		return db.Update(ctx, schema.CountRequest, []any{"x"},
			expression.Set(dynamo.Name("requests"), expression.Value(1)), expression.ConditionBuilder{}, nil)
	}, wire
}

// The answer to a call that was counted is whole also when its time is over: status and body agree.
func TestCountedInTime(t *testing.T) {
	t.Parallel()
	write, _ := countingWrite(t)
	for range 50 {
		read := make(chan struct{})
		close(read)
		ctx, cancel := context.WithCancel(t.Context())
		w := called(ctx, club(late(read, nil), nil, func(ctx context.Context, _ request) (none, error) {
			// The write has waited for the count.
			err := write(ctx)
			cancel()
			return none{}, cmp.Or(err, problem.ErrForbidden)
		}))
		if w.Code != 403 || w.Body.Len() == 0 {
			t.Fatalf("got %d %s; want 403", w.Code, w.Body)
		}
	}
}

// A write that does not wait is sent before the count is known.
func TestWithoutWaiting(t *testing.T) {
	t.Parallel()
	refuse := errors.New("refused")
	ctx := dynamo.BeforeWrites(t.Context(), func(context.Context) error { return refuse })
	write, wire := countingWrite(t)
	if err := write(ctx); err != refuse || wire.Attempts() != 0 {
		t.Errorf("got %v after %d attempts; want %v", err, wire.Attempts(), refuse)
	}
	if err := write(dynamo.WithoutWaiting(ctx)); err != nil || wire.Attempts() != 1 {
		t.Errorf("got %v after %d attempts; want one", err, wire.Attempts())
	}
}
