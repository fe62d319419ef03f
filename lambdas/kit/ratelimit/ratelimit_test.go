package ratelimit_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/schema"
)

// start is in the middle of a window.
var start = time.Date(2026, 2, 2, 9, 30, 0, 0, time.UTC)

// open opens a table of counters, alone or in items that have places, too.
func open(t *testing.T) *dynamotest.Tables {
	return dynamotest.Open(t, schema.Database{
		Tables: []schema.Table{{
			Name: "Counts", Key: schema.Key{Partition: "pk"}, TimeToLive: "expires_at",
			Attributes: append([]schema.Attribute{
				{Name: "pk", Type: schema.String}, {Name: "expires_at", Type: schema.Number},
				{Name: "places", Type: schema.Number}, {Name: "counted_since", Type: schema.Number},
			}, schema.RateLimitAttributes()...),
		}},
		AccessPatterns: append(schema.RateLimitPatterns("Counts"),
			schema.AccessPattern{Name: "TakePlace", Action: schema.UpdateItem, Table: "Counts"},
			schema.AccessPattern{Name: "Get", Action: schema.GetItem, Table: "Counts", Consistent: true}),
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

// However many instances count a caller's reads at once, the table keeps them within what TestAnyOrder and
// TestWritesPerRead say of calls one after the other.
func TestReadsRace(t *testing.T) {
	t.Parallel()
	tables := open(t)
	const requests = 300
	for instances, most := range map[int]float64{1: 0.1, 5: 0.3, 20: 1, 60: 1} {
		limit := schema.RateLimit{Name: fmt.Sprint(instances), Requests: requests, Window: time.Hour,
			Per: "person"}
		counters := make([]*ratelimit.Counter, instances)
		for i := range counters {
			counters[i] = ratelimit.New(tables.DB, "Counts", nil)
		}
		tables.Recorder.Requests()
		var calls, allowed atomic.Int64
		read := func(i int) bool {
			calls.Add(1)
			if !call(t, counters[i], true, limit) {
				return false
			}
			allowed.Add(1)
			return true
		}
		var refused atomic.Bool
		var group sync.WaitGroup
		for i := range instances {
			for range max(1, 8/instances) {
				group.Go(func() {
					for !refused.Load() {
						if !read(i) {
							refused.Store(true)
						}
					}
				})
			}
		}
		group.Wait()
		atRefusal := allowed.Load()
		if perRead := float64(len(tables.Recorder.Requests())) / float64(calls.Load()); perRead > most {
			t.Errorf("%s: a read cost %.2f writes; want at most %.1f", limit.Name, perRead, most)
		}
		for i := range counters {
			for read(i) {
			}
		}
		if n := allowed.Load(); 100*atRefusal < 95*requests || 100*n > 105*requests ||
			instances == 1 && n != requests {
			t.Errorf("%s: %d calls were allowed when one was refused, and %d in the end, of a limit of %d",
				limit.Name, atRefusal, n, requests)
		}
	}
}

// Instances that learn late of each other's shares take at most 5 % of the limit together.
func TestLateShares(t *testing.T) {
	t.Parallel()
	tables := open(t)
	limit := schema.RateLimit{Name: "late", Requests: 100, Window: time.Hour, Per: "person"}
	counters := make([]*ratelimit.Counter, 5)
	for i := range counters {
		counters[i] = ratelimit.New(tables.DB, "Counts", nil)
	}
	// The first call learns what the table knows, and the second one takes a share.
	for _, c := range append([]*ratelimit.Counter{counters[0]}, append(counters, counters...)...) {
		call(t, c, true, limit)
	}
	var stored []struct {
		Ahead int `dynamodbav:"ahead"`
	}
	err := attributevalue.UnmarshalListOfMaps(tables.Stored(t, "Counts"), &stored)
	if err != nil || len(stored) != 1 || stored[0].Ahead != 5 {
		t.Errorf("got %v, %v; want one counter with 5 calls ahead", stored, err)
	}
}

// Calls that are counted one by one are allowed exactly as often as the limit says, on any instances. After
// that an instance refuses them with a request in each second at most.
func TestExact(t *testing.T) {
	t.Parallel()
	tables := open(t)
	limit := schema.RateLimit{Name: "create", Requests: 60, Window: time.Hour, Per: "person"}
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
	if _, err := instances[0].CountRequest(t.Context(), limit, "caller", start.Add(time.Second)); err == nil ||
		tables.Wire.Attempts() != attempts+1 {
		t.Errorf("a second later: got %v without a look at the table", err)
	}
	if state, err := instances[0].CountRequest(t.Context(), limit, "caller", start.Add(time.Hour)); err != nil ||
		state.Remaining != 59 {
		t.Errorf("the next window: got %+v, %v", state, err)
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
