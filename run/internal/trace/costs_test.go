package trace_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// The costs of a cause are those of its requests, and those of a function what it used itself.
func TestCosts(t *testing.T) {
	t.Parallel()
	r := trace.New(trace.Options{})
	for n := range 20 {
		ctx, request := r.Begin(t.Context(), fmt.Sprint("request-", n), trace.Origin{Kind: trace.HTTP, Stack: "todo",
			API: "api", Method: "POST", Path: fmt.Sprint("/tasks/", n), Route: "POST /tasks/{id}"})
		f := r.Invoke(ctx, id(n), "api-1", "api", 128)
		// One of twenty reads much.
		units := 1.0
		if n == 7 {
			units = 100
		}
		r.Call(trace.TraceID(time.Unix(0, 0), id(n)), trace.Call{Service: "dynamodb", ReadUnits: units, WriteUnits: 2})
		f.End("")
		request.End(200, "")
	}
	r.Invoke(trace.About(t.Context(), trace.Origin{Kind: trace.Schedule, Path: "nightly", Stack: "other"}), id(100),
		"sweeper-1", "sweeper", 128).End("")
	_, nowhere := r.Begin(t.Context(), "nowhere", trace.Origin{Kind: trace.HTTP, Stack: "todo", API: "api", Path: "/x"})
	nowhere.End(404, "")
	r.Invoke(t.Context(), id(101), "running-1", "running", 128)
	got := r.Costs("")
	if got.Requests != 22 || len(got.Causes) != 3 || len(got.Functions) != 2 || got.Causes[1].Name != "" {
		t.Fatalf("got %+v", got)
	}
	route, function := got.Causes[0], got.Functions[0]
	if route.Name != "POST /tasks/{id}" || route.Requests != 20 || route.Stack != "todo" || route.API != "api" ||
		function.Name != "api-1" || function.Label != "api" || function.Requests != 20 {
		t.Errorf("got %+v and %+v", route, function)
	}
	near(t, "mean of reads", route.Mean.ReadUnits, 119.0/20)
	near(t, "95th percentile of reads", route.P95.ReadUnits, 1)
	near(t, "sum of reads", route.Sum.ReadUnits, 119)
	near(t, "sum of writes", function.Sum.WriteUnits, 40)
	million := trace.PriceOf(119.0/20, 2, 0, 0)
	near(t, "a million", route.Mean.DynamoDB, million.DynamoDB)
	near(t, "all", route.Sum.DynamoDB, 20*million.DynamoDB/1e6)
	near(t, "gateway", route.Mean.Gateway, million.Gateway)
	near(t, "logs", route.P95.Logs, million.Logs)
	near(t, "total", route.Mean.Total, route.Mean.DynamoDB+route.Mean.Lambda+route.Mean.Gateway+route.Mean.Logs)
	near(t, "function", function.Mean.Total, function.Mean.DynamoDB+function.Mean.Lambda)
	if one := r.Costs("other"); one.Requests != 1 || len(one.Causes) != 1 || one.Causes[0].Name != "nightly" {
		t.Errorf("got %+v", one)
	}
	var none *trace.Recorder
	if got := none.Costs(""); got.Requests != 0 || got.Causes == nil || got.Functions == nil {
		t.Errorf("got %+v", got)
	}
}

// near compares figures that were added in another order: how they are rounded depends on how long a function took.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Max(1, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
