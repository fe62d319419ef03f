package trace_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// A recorder counts what it does not keep, and no more ways than it may.
func TestWays(t *testing.T) {
	t.Parallel()
	r := trace.New(trace.Options{})
	const calls = 600 // more than are kept of an invocation
	f := r.Invoke(t.Context(), id(1), "reader", "reader", 0)
	for range calls {
		r.Call(trace.TraceID(time.Unix(0, 0), id(1)), trace.Call{Targets: []string{"one", "two"}})
	}
	if got := r.Ways(); len(got) != 2 || got[trace.Way{From: "reader", To: "two"}] != (trace.Count{All: calls}) {
		t.Errorf("got %v", got)
	}
	f.End("")
	for n := range 10_000 {
		r.Invoke(trace.About(t.Context(), trace.Origin{Kind: trace.Bus, Path: fmt.Sprint("bus", n)}), id(n+2), "worker",
			"worker", 0).End("")
	}
	r.Invoke(t.Context(), id(1), "reader", "reader", 0).End("failed")
	got := r.Ways()
	reader := trace.Way{Kind: trace.Invocation, From: "reader", To: "reader"}
	if len(got) != 5_000 || got[reader] != (trace.Count{All: 2, Failed: 1}) {
		t.Errorf("got %d ways, and %v", len(got), got[reader])
	}
	var none *trace.Recorder
	if got := none.Ways(); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
