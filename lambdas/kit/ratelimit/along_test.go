package ratelimit_test

import (
	"cmp"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/historytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/schema"
)

// shared are tables with an item for each caller, which has places and a counter.
type shared struct{ *dynamotest.Tables }

type sharedItem struct {
	Places   int   `dynamodbav:"places"`
	Requests int   `dynamodbav:"requests"`
	Since    int64 `dynamodbav:"counted_since"`
	Expires  int64 `dynamodbav:"expires_at"`
}

func openShared(t *testing.T) shared { return shared{open(t)} }

func (s shared) counter() *ratelimit.Counter {
	c := ratelimit.New(s.DB, "Counts", nil)
	c.KeepIn("asks", func(caller string) []any { return []any{"CALLER#" + caller} })
	return c
}

func (s shared) item(t *testing.T, caller string) (item sharedItem) {
	t.Helper()
	must.Get(s.DB.Get(t.Context(), "Get", &item, "CALLER#"+caller))(t)
	return item
}

func onePlace() expression.UpdateBuilder {
	return expression.Add(dynamo.Name("places"), expression.Value(1))
}

// write makes an update of the caller's item, and counts the call with the same write.
func (s shared) write(t *testing.T, caller string, counting ratelimit.Counting, update expression.UpdateBuilder,
	condition expression.ConditionBuilder) (int, error) {
	var counted sharedItem
	err := s.DB.Update(t.Context(), "TakePlace", []any{"CALLER#" + caller}, counting.Update(update),
		counting.And(condition), &counted)
	return counted.Requests, err
}

// take takes one of some places, and counts the call with the same write.
func (s shared) take(t *testing.T, call *ratelimit.Call, caller string, places int) error {
	return call.With(func(counting ratelimit.Counting) (int, error) {
		return s.write(t, caller, counting, onePlace(),
			dynamo.Absent("places").Or(dynamo.Name("places").LessThan(expression.Value(places))))
	})
}

func asks(requests int) schema.RateLimit {
	return schema.RateLimit{Name: "asks", Requests: requests, Window: time.Hour, Per: "agent"}
}

// tally is what a caller has: the calls that are counted in a window, and the places taken.
type tally struct{ calls, places int }

// request is a call in a window, which takes a place or does not, or a look at the caller's item.
type request struct {
	window      int
	takes, look bool
}

// Whatever instances serve a caller at the same time, and whether writes of their operations count their calls or
// writes of their own, each call is counted once: as many as the limit are allowed, and take a place if they take one.
// Refused calls take none. That holds while DynamoDB refuses requests for load.
func TestAlongHistories(t *testing.T) {
	t.Parallel()
	const limit = 30
	s := openShared(t)
	counters := []*ratelimit.Counter{s.counter(), s.counter(), s.counter(), s.counter()}
	h := historytest.New(historytest.Model[tally, request]{
		Key: func(r request) string { return fmt.Sprint(r.window) },
		Step: historytest.Returns(func(now tally, r request) (tally, string) {
			switch {
			case r.look:
				return now, fmt.Sprint(now)
			case now.calls == limit:
				return now, "limited"
			case r.takes:
				now.places++
			}
			now.calls++
			return now, fmt.Sprint(limit-now.calls, " of 30 until 10:00")
		}),
	})
	for window := range 3 {
		now, before := start.AddDate(0, 0, window), s.item(t, "racer").Places
		s.Wire.Answers(dynamotest.Refusing)
		h.Together(8, 6, func(client, number int) (request, func() string) {
			r := request{window: window, takes: (client+number)%3 != 0}
			return r, func() string {
				call := counters[client%len(counters)].Along(asks(limit), "racer", now)
				var err error
				if r.takes {
					err = s.take(t, call, "racer", 1000)
				}
				state, counted := call.Count(t.Context())
				if err = cmp.Or(err, counted); err != nil {
					if _, limited := errors.AsType[*ratelimit.LimitedError](err); limited {
						return "limited"
					}
					return historytest.Error(err)
				}
				return fmt.Sprint(state.Remaining, " of ", state.Limit, " until ", state.Reset.Format("15:04"))
			}
		})
		s.Wire.Answers(nil)
		h.Call(0, request{window: window, look: true}, func() string {
			item := s.item(t, "racer")
			return fmt.Sprint(tally{item.Requests, item.Places - before})
		})
	}
	h.Judge(t)
}

// An instance that knows the window makes one write for a call; one that does not, two at most.
func TestAlongWrites(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	first, second := s.counter(), s.counter()
	for i, test := range []struct {
		*ratelimit.Counter
		after time.Duration
		want  int
	}{{first, 0, 1}, {first, 0, 1}, {second, 0, 2}, {second, 0, 1}, {first, time.Hour, 1}, {second, time.Hour, 2}} {
		call, got := test.Along(asks(10), "writer", start.Add(test.after)), 0
		must.OK(t, call.With(func(counting ratelimit.Counting) (int, error) {
			got++
			return s.write(t, "writer", counting, expression.UpdateBuilder{}, dynamo.Absent("never"))
		}))
		s.Recorder.Requests()
		if _, err := call.Count(t.Context()); err != nil || len(s.Recorder.Requests()) > 0 {
			t.Errorf("call %d: it was counted again, %v", i, err)
		}
		if got != test.want {
			t.Errorf("call %d: got %d writes, want %d", i, got, test.want)
		}
	}
	if call := first.Along(schema.RateLimit{Name: "others", Requests: 10, Window: time.Hour}, "writer",
		start); call != nil || s.take(t, call, "writer", 100) != nil {
		t.Errorf("got %v for a limit with counters of their own", call)
	}
}

// A write that its own condition refuses counts nothing, and the call is then counted alone.
func TestAlongRefused(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	counter := s.counter()
	for i := range 5 {
		call := counter.Along(asks(4), "full", start)
		err := s.take(t, call, "full", 2)
		if _, refused := errors.AsType[*dynamo.ConditionError](err); i < 2 && err != nil ||
			i >= 2 && i < 4 && !refused {
			t.Errorf("call %d: got %v", i, err)
		}
		_, err = call.Count(t.Context())
		if _, limited := errors.AsType[*ratelimit.LimitedError](err); limited != (i == 4) || err != nil && !limited {
			t.Errorf("call %d: got %v", i, err)
		}
	}
	if item := s.item(t, "full"); item.Requests != 4 || item.Places != 2 {
		t.Errorf("got %+v", item)
	}
}

// An attempt whose answer was lost is repeated by the client, and counts once.
func TestAlongLost(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	counter := s.counter()
	for i := range 2 {
		err := counter.Along(asks(10), "lost", start).With(func(counting ratelimit.Counting) (int, error) {
			if _, err := s.write(t, "lost", counting, onePlace(), dynamo.Absent("never")); err != nil {
				return 0, err
			}
			return s.write(t, "lost", counting, onePlace(), dynamo.Absent("never"))
		})
		if item := s.item(t, "lost"); err != nil || item.Requests != i+1 || item.Places != i+1 {
			t.Errorf("got %+v, %v after %d calls", item, err, i+1)
		}
	}
}

// A counter outlasts its window, and what its item has for longer stays for as long.
func TestAlongExpires(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	end := start.Truncate(time.Hour).Add(time.Hour).Unix()
	for name, test := range map[string]struct{ had, want int64 }{"nothing": {0, end}, "sooner": {end - 1, end},
		"later": {end + 1, end + 1}} {
		if test.had != 0 {
			update := expression.Set(dynamo.Name("expires_at"), expression.Value(test.had))
			must.OK(t, s.DB.Update(t.Context(), "TakePlace", []any{"CALLER#" + name}, update,
				expression.ConditionBuilder{}, nil))
		}
		for i := range 2 {
			_, err := s.counter().CountRequest(t.Context(), asks(10), name, start)
			if item := s.item(t, name); err != nil || item.Expires != test.want || item.Requests != i+1 {
				t.Errorf("%s: got %+v, %v; want the end %d", name, item, err, test.want)
			}
		}
	}
}
