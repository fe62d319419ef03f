package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/services/scheduler"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// worker is a schedule's target. It fails with what fails, after an invocation unless the event is refused.
type worker struct {
	scheduler.Target
	recorder *trace.Recorder
	refused  bool
	fails    error
}

func (w *worker) DeliverAndWait(ctx context.Context, s scheduler.Schedule, _ []byte) error {
	if w.refused {
		return w.fails
	}
	problem := ""
	if w.fails != nil {
		problem = w.fails.Error()
	}
	ctx = trace.About(ctx, trace.Origin{Kind: trace.Schedule, Path: s.Name})
	w.recorder.Invoke(ctx, "00000001-0000-4000-8000-000000000000", "worker", "worker", 128).End(problem)
	return w.fails
}

// A schedule says whether its newest event failed, and leads to the request if there was one.
func TestSchedules(t *testing.T) {
	t.Parallel()
	target := &worker{recorder: trace.New(trace.Options{})}
	schedules := scheduler.New(scheduler.Options{Target: target})
	defer schedules.Close()
	must.OK(t, schedules.Change([]scheduler.Schedule{{Name: "nightly", Expression: "rate(1 day)"}}))
	c := console.New(console.Parts{Schedules: schedules, Trace: target.recorder})
	for _, test := range []struct {
		refused bool
		fails   error
		traced  bool
	}{
		{false, nil, false},
		{false, errors.New("it failed"), true},
		{true, errors.New("the role does not allow it"), false},
		{false, errors.New("it failed again"), true},
		{false, nil, false},
	} {
		target.refused, target.fails = test.refused, test.fails
		if err := schedules.Run(t.Context(), "nightly"); !errors.Is(err, test.fails) {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		c.ServeHTTP(w, httptest.NewRequest("GET", "/schedules", nil))
		var got []struct{ Failure *trace.Attempt }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got) != 1 {
			t.Fatalf("got %s, %v", w.Body, err)
		}
		switch failure := got[0].Failure; {
		case (failure != nil) != (test.fails != nil):
			t.Errorf("%v: got %+v", test.fails, failure)
		case failure != nil && (failure.Error == "" || failure.At.IsZero() || (failure.Request != "") != test.traced):
			t.Errorf("%v: got %+v", test.fails, failure)
		}
	}
}
