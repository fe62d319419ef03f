package ratelimit_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/schema"
)

// start is in the middle of a window.
var start = time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC)

func open(t *testing.T) *dynamotest.Tables {
	return dynamotest.Open(t, schema.Database{
		Tables: []schema.Table{{
			Name: "Counts", Key: schema.Key{Partition: "pk"}, TimeToLive: "expires_at",
			Attributes: append([]schema.Attribute{{Name: "pk", Type: schema.String}, {Name: "expires_at", Type: schema.Number}}, schema.RateLimitAttributes()...),
		}},
		AccessPatterns: schema.RateLimitPatterns("Counts"),
	})
}

// call makes a call, and reports whether it was allowed. Any other error fails the test.
func call(t *testing.T, c *ratelimit.Counter, read bool, limit schema.RateLimit) bool {
	count := c.CountRequest
	if read {
		count = c.CountRead
	}
	state, err := count(t.Context(), limit, "caller", start)
	limited, refused := errors.AsType[*ratelimit.LimitedError](err)
	if err != nil && !refused || refused && limited.Remaining != 0 || state.Remaining < 0 {
		t.Errorf("got %+v, %v", state, err)
	}
	return !refused
}

// Instances that read at once never allow more than the limit, and in the end all of it. An instance
// that dies takes less than 5 % of it along.
func TestReadsRace(t *testing.T) {
	t.Parallel()
	tables := open(t)
	for _, test := range []struct {
		name             string
		limit, instances int
		writes           int // at most, of a single instance
	}{
		{"One", 600, 1, 45},
		{"Several", 600, 5, 0},
		{"Small", 19, 3, 0},
	} {
		limit := schema.RateLimit{Name: test.name, Requests: test.limit, Window: time.Hour, Per: schema.PerPerson}
		dead := ratelimit.New(tables.DB, "Counts", nil)
		if !call(t, dead, true, limit) {
			t.Fatalf("%s: the first call was refused", test.name)
		}
		tables.Recorder.Requests()
		var allowed atomic.Int64
		var group sync.WaitGroup
		for range test.instances {
			instance := ratelimit.New(tables.DB, "Counts", nil)
			for range 4 {
				group.Go(func() {
					for call(t, instance, true, limit) {
						allowed.Add(1)
					}
				})
			}
		}
		group.Wait()
		if n := int(allowed.Load()); n >= test.limit || n < test.limit-max(1, test.limit/20) {
			t.Errorf("%s: %d calls were allowed of a limit of %d, of which another instance had at most 5 %%", test.name, n, test.limit)
		}
		if n := len(tables.Recorder.Requests()); test.writes > 0 && n > test.writes {
			t.Errorf("%s: %d calls took %d writes; want at most %d", test.name, test.limit, n, test.writes)
		}
		if call(t, ratelimit.New(tables.DB, "Counts", nil), false, limit) {
			t.Errorf("%s: a call beyond the limit was allowed", test.name)
		}
	}
}

// Calls that are counted one by one are allowed exactly as often as the limit says, on any instances. After
// that an instance refuses them with a request in each second at most.
func TestExact(t *testing.T) {
	t.Parallel()
	tables := open(t)
	limit := schema.RateLimit{Name: "create", Requests: 60, Window: time.Hour, Per: schema.PerPerson}
	instances := []*ratelimit.Counter{ratelimit.New(tables.DB, "Counts", nil), ratelimit.New(tables.DB, "Counts", nil)}
	var allowed atomic.Int64
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for call(t, instances[i%2], false, limit) {
				allowed.Add(1)
			}
		})
	}
	group.Wait()
	if allowed.Load() != 60 {
		t.Errorf("%d calls were allowed; want 60", allowed.Load())
	}
	attempts := tables.Wire.Attempts()
	if call(t, instances[0], false, limit) || call(t, instances[0], true, limit) || tables.Wire.Attempts() != attempts {
		t.Error("a caller at the limit was allowed, or cost a request")
	}
	if _, err := instances[0].CountRequest(t.Context(), limit, "caller", start.Add(time.Second)); err == nil || tables.Wire.Attempts() != attempts+1 {
		t.Errorf("a second later: got %v without a look at the table", err)
	}
	if state, err := instances[0].CountRequest(t.Context(), limit, "caller", start.Add(time.Hour)); err != nil || state.Remaining != 59 {
		t.Errorf("the next window: got %+v, %v", state, err)
	}
}

// A caller whose calls of both kinds count towards one limit has them all.
func TestReadsAndChanges(t *testing.T) {
	t.Parallel()
	tables := open(t)
	limit := schema.RateLimit{Name: "poll", Requests: 60, Window: time.Hour, Per: schema.PerPerson}
	counter := ratelimit.New(tables.DB, "Counts", nil)
	for i := range 60 {
		if !call(t, counter, i%3 > 0, limit) {
			t.Fatalf("call %d was refused", i+1)
		}
	}
	if call(t, counter, true, limit) {
		t.Error("a call beyond the limit was allowed")
	}
}

// A call that is given back is the next one's, without a request, also of a limit that is counted one by one.
func TestGiveBack(t *testing.T) {
	t.Parallel()
	tables := open(t)
	for name, requests := range map[string]int{"in steps": 60, "one by one": 5} {
		limit := schema.RateLimit{Name: name, Requests: requests, Window: time.Hour, Per: schema.PerAddress}
		counter := ratelimit.New(tables.DB, "Counts", nil)
		for i := range requests {
			if !call(t, counter, true, limit) {
				t.Fatalf("%s: call %d was refused", name, i+1)
			}
			attempts := tables.Wire.Attempts()
			counter.GiveBack(limit, "caller", start)
			if !call(t, counter, true, limit) || tables.Wire.Attempts() != attempts {
				t.Fatalf("%s: a call that was given back was refused, or counted again", name)
			}
		}
		if call(t, counter, true, limit) {
			t.Errorf("%s: a call beyond the limit was allowed", name)
		}
		counter.GiveBack(limit, "caller", start)
		if call(t, counter, false, limit) != call(t, counter, true, limit) {
			continue
		}
		t.Errorf("%s: one call was given back at the limit, and none or two were allowed", name)
	}
}
