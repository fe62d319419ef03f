package trace_test

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// The newest attempt is found by what it handled or by its invocation, with what its function logged if that failed no
// invocation.
func TestAttempts(t *testing.T) {
	t.Parallel()
	r := trace.New(trace.Options{})
	about := trace.About(t.Context(), trace.Origin{Kind: trace.Queue, Path: "work"})
	attempt := func(n int, problem, line string, ids ...string) {
		f := r.Invoke(trace.Handling(about, ids...), id(n), "worker-1", "worker", 128)
		if line != "" {
			r.Line("worker-1", "worker", id(n), line)
		}
		f.End(problem)
	}
	attempt(1, "it died", "", "a", "b")
	attempt(2, "", `{"level":"ERROR","msg":"not sent","error":"410","x":"y"}`, "b", "c")
	attempt(3, "", `{"level":"INFO","msg":"sent"}`, "c")
	r.Invoke(trace.Handling(about, "a"), id(4), "worker-1", "worker", 128) // is under way
	got := r.Attempts([]string{"a", "b", "c", "d", id(1), id(4)})
	for key, want := range map[string]string{"a": "it died", "b": "not sent: 410", "c": "", id(1): "it died"} {
		if one, ok := got[key]; !ok || one.Error != want || one.Function != "worker" {
			t.Errorf("%s: got %+v, want %q", key, one, want)
		}
	}
	if len(got) != 4 {
		t.Errorf("got %+v", got)
	}
	if newest := r.NewestOf(trace.Queue)["work"]; !strings.HasSuffix(newest.Request, id(3)) {
		t.Errorf("got %+v", newest)
	}
}
