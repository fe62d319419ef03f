package clarity_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

func TestEventSchemas(t *testing.T) {
	t.Parallel()
	triggertest.CheckSchemas(t, clarity.Platform(), "../../docs/reference/events/clarity")
}

// An attempt that is evaluated has one event, whenever that is, and each profile that is added has one: of the user's
// latest profile, which it changes.
func TestEventsOfOperations(t *testing.T) {
	t.Parallel()
	w, ctx := claritytest.New(t), t.Context()
	attempts := triggertest.Stream(t, clarity.Platform(), w.Tables, "Attempts")
	profiles := triggertest.Stream(t, clarity.Platform(), w.Tables, "Profiles")
	submit := func(status clarity.Status, says func(context.Context, int) (clarity.Judgement, error)) string {
		t.Helper()
		w.Advance(time.Minute)
		w.Judge.Says(says)
		in := claritytest.Submission("This bridge")
		in.Status = status
		attempt := must.Get(w.Submit(ctx, "ann", "", in))(t)
		return attempt.ID
	}
	submit(clarity.InProgress, nil)
	first := submit(clarity.Completed, nil)
	second := submit(clarity.Completed, func(context.Context, int) (clarity.Judgement, error) {
		return clarity.Judgement{}, errors.New("down")
	})
	w.Judge.Says(nil)
	w.Advance(time.Minute)
	if run, err := w.EvaluatePending(ctx); err != nil || run != (service.Run{Evaluated: 1}) {
		t.Fatalf("got %+v, %v", run, err)
	}
	for i, id := range []string{second, first, first, second} {
		attempt := must.Get(w.Attempt(ctx, "ann", id))(t)
		if added, err := w.AddProfile(ctx, attempt, 0); err != nil || added != (i < 2) {
			t.Fatalf("add a profile: %t, %v", added, err)
		}
	}
	bus := triggertest.NewBus(t, clarity.Platform())
	publisher := triggertest.NewPublisher(clarity.Platform(), bus, service.EventsOf)
	publisher.Deliver(t, slices.Concat(attempts(), profiles()), 100)
	var got []string
	for _, e := range bus.Events() {
		f := e.Fields()
		scores, _ := f["scores"].([]any)
		averages, _ := f["averages"].([]any)
		got = append(got, fmt.Sprintln(e.DetailType, f["user_id"], f["attempt_id"], f["scenario_id"], f["submitted_at"],
			f["evaluated_at"], f["overall_score"], len(scores), f["attempt_count"], f["overall_average"],
			len(averages)))
	}
	want := []string{
		fmt.Sprintln("AttemptEvaluated ann", first,
			"bridge 2026-02-02T09:32:00.000Z 2026-02-02T09:32:00.000Z 75 8 <nil> <nil> 0"),
		fmt.Sprintln("AttemptEvaluated ann", second,
			"bridge 2026-02-02T09:33:00.000Z 2026-02-02T09:34:00.000Z 75 8 <nil> <nil> 0"),
		fmt.Sprintln("ProfileChanged ann", second, "<nil> <nil> <nil> <nil> 0 1 75 8"),
		fmt.Sprintln("ProfileChanged ann", second, "<nil> <nil> <nil> <nil> 0 2 75 8"),
	}
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}
