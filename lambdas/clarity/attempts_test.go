package clarity_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/model"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// An attempt comes back from the table as it was stored, and its evaluation as it was settled.
func TestAttempt(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	ctx := t.Context()
	none := 0
	in := claritytest.Submission("Мост 🌉 “e\u0301”")
	in.DurationSeconds = &none
	made := must.Get(w.Submit(ctx, "us-east-1:ann", "", in))(t)
	read, err := w.Attempt(ctx, "us-east-1:ann", made.ID)
	made.Claim, made.ClaimedUntil = "", time.Time{}
	if diff := cmp.Diff(made, read); diff != "" || err != nil {
		t.Errorf("got %v (-made +read):\n%s", err, diff)
	}
	if read.Evaluation == nil || read.Evaluation.OverallScore != 75 ||
		!read.Evaluation.EvaluatedAt.Equal(wire.Time(claritytest.Began())) ||
		read.EvaluationStatus != clarity.EvaluationDone || read.DurationSeconds == nil ||
		read.Answers[0].WordCount != 6 {
		t.Errorf("got %+v", read)
	}
	item := w.Tables.Item(t, "Attempts", made.ID)
	for _, gone := range []string{"claim", "claimedUntil", "pendingEvaluation", "evaluateAfter", "evaluationFailure"} {
		if item == nil || item[gone] != nil {
			t.Errorf("the evaluated attempt has %s, or is not stored", gone)
		}
	}
}

// list is all attempts of a user, in pages.
func list(t *testing.T, w *claritytest.World, user string, page int) []clarity.Attempt {
	t.Helper()
	return dynamotest.Pages(t, func(from string) ([]clarity.Attempt, string, error) {
		list, err := w.Attempts(t.Context(), user, page, from)
		return list.Attempts, list.NextToken, err
	})
}

// Of many who would evaluate one attempt, by request and by schedule, one asks the evaluator.
func TestConcurrentEvaluations(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	ctx := t.Context()
	w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
		return clarity.Judgement{}, &model.Error{Failure: model.Throttled, Err: errors.New("busy")}
	})
	attempt, err := w.Submit(ctx, "ann", "", claritytest.Submission("This bridge"))
	if err != nil || attempt.Evaluation != nil || attempt.EvaluationFailure != string(model.Throttled) ||
		attempt.EvaluationStatus != clarity.EvaluationPending {
		t.Fatalf("got %+v, %v", attempt, err)
	}
	w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
		_, err := w.Evaluate(ctx, "ann", attempt.ID)
		if running, ok := errors.AsType[*clarity.RunningError](err); !ok || !running.Until.After(w.Read()) {
			t.Errorf("while a try runs: got %v", err)
		}
		return claritytest.Good(), nil
	})
	w.Advance(time.Hour)
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			if i%6 == 0 {
				if _, err := w.EvaluatePending(ctx); err != nil {
					t.Errorf("the schedule: %v", err)
				}
				return
			}
			got, err := w.Evaluate(ctx, "ann", attempt.ID)
			if _, running := errors.AsType[*clarity.RunningError](err); err != nil && !running ||
				err == nil && got.Evaluation == nil {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	all.Wait()
	if calls := w.Judge.Calls(); calls != 2 {
		t.Errorf("the evaluator was asked %d times, want 2", calls)
	}
	if got, err := w.Evaluate(ctx, "ann", attempt.ID); err != nil || got.Evaluation == nil || w.Judge.Calls() != 2 {
		t.Errorf("again: got %+v, %v", got, err)
	}
}

// The fuse: of 50 attempts at once, as many as the limit allows are evaluated, and the others are
// stored. They are evaluated on the following days, as many on each.
func TestEvaluationsPerDay(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	w.EvaluationsPerDay = 20
	ctx := t.Context()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			attempt, err := w.Submit(ctx, "ann", "", claritytest.Submission(fmt.Sprintf("Bridge %d", i)))
			if limited := attempt.EvaluationFailure == clarity.Limited; err != nil ||
				limited == (attempt.Evaluation != nil) {
				t.Errorf("got %+v, %v", attempt, err)
			}
		})
	}
	all.Wait()
	if calls := w.Judge.Calls(); calls != 20 {
		t.Errorf("the evaluator was asked %d times, want 20", calls)
	}
	// Another user has a limit of their own.
	if bob, err := w.Submit(ctx, "bob", "", claritytest.Submission("This bridge")); err != nil ||
		bob.Evaluation == nil {
		t.Errorf("got %+v, %v", bob, err)
	}
	waiting := slices.IndexFunc(list(t, w, "ann", 100), func(a clarity.Attempt) bool { return a.Evaluation == nil })
	id := list(t, w, "ann", 100)[waiting].ID
	midnight := time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)
	w.Advance(midnight.Add(-time.Millisecond).Sub(w.Read()))
	_, err := w.Evaluate(ctx, "ann", id)
	if limit, ok := errors.AsType[*clarity.LimitError](err); !ok || !limit.Until.Equal(midnight) {
		t.Errorf("before midnight: got %v", err)
	}
	if run, err := w.EvaluatePending(ctx); err != nil || run != (service.Run{}) {
		t.Errorf("before midnight: got %+v, %v", run, err)
	}
	w.Advance(2 * time.Hour)
	for day, want := range []service.Run{{Evaluated: 20, Skipped: 10}, {Evaluated: 10}, {}} {
		if run, err := w.EvaluatePending(ctx); err != nil || run != want {
			t.Errorf("day %d: got %+v, %v; want %+v", day+2, run, err, want)
		}
		w.Advance(24 * time.Hour)
	}
	if calls := w.Judge.Calls(); calls != 51 {
		t.Errorf("the evaluator was asked %d times, want 51", calls)
	}
}

// The writes of a try are conditional on the claim, and refuse an attempt that has an evaluation.
func TestConditions(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	ctx := t.Context()
	submit := func(status clarity.Status) clarity.Attempt {
		in := claritytest.Submission("This bridge")
		in.Status = status
		return must.Get(w.Submit(ctx, "ann", "", in))(t)
	}
	with := func(a clarity.Attempt, claim string) clarity.Attempt {
		a.Claim, a.ClaimedUntil = claim, w.Read().Add(time.Minute)
		return a
	}
	w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
		return clarity.Judgement{}, errors.New("down")
	})
	waiting, claimed, begun := submit(clarity.Completed), submit(clarity.Completed), submit(clarity.InProgress)
	w.Judge.Says(nil)
	done := submit(clarity.Completed)
	claim := func(a clarity.Attempt, claim string) error { return service.StoreClaim(w.Service, ctx, with(a, claim)) }
	settle := func(a clarity.Attempt, claim string) error { return service.Settle(w.Service, ctx, with(a, claim)) }
	save := func(a clarity.Attempt) error {
		_, saved, err := service.Write(w.Service, ctx, a, service.InProgressAt(a.Version-1))
		if err == nil && !saved {
			err = retry.ErrStale
		}
		return err
	}
	must.OK(t, claim(claimed, "first"))
	w.Advance(time.Minute - time.Millisecond)
	older := waiting
	older.EvaluationTries--
	for name, err := range map[string]error{
		"SettleOlder":      service.Settle(w.Service, ctx, older),
		"ClaimDone":        claim(done, "other"),
		"ClaimClaimed":     claim(claimed, "other"),
		"ClaimInProgress":  claim(begun, "other"),
		"ClaimUnknown":     claim(clarity.Attempt{ID: "none", UserID: "ann"}, ""),
		"SettleDone":       settle(done, ""),
		"SettleOther":      settle(claimed, "other"),
		"SettleClaimed":    settle(claimed, ""),
		"SettleUnclaimed":  settle(waiting, "other"),
		"SettleInProgress": settle(begun, ""),
		"SaveCompleted":    save(clarity.Attempt{ID: done.ID, UserID: "ann", Version: 2}),
		"SaveOlder":        save(clarity.Attempt{ID: begun.ID, UserID: "ann", Version: 1, Claim: "any"}),
		"SaveNewer":        save(clarity.Attempt{ID: begun.ID, UserID: "ann", Version: 3, Status: clarity.Completed}),
	} {
		if !errors.Is(err, retry.ErrStale) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	w.Advance(time.Millisecond)
	if err := claim(claimed, "second"); err != nil {
		t.Errorf("a claim whose time is over: %v", err)
	}
	if err := settle(waiting, ""); err != nil {
		t.Errorf("an attempt that no try has claimed: %v", err)
	}
}

// Each failure has its name and leaves the attempt as its user gave it.
func TestFailures(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	w.EvaluationsPerDay = 100
	for name, test := range map[string]struct {
		err  error
		want model.Failure
	}{
		"Throttled": {&model.Error{Failure: model.Throttled, Err: errors.New("busy")}, model.Throttled},
		"Declined": {fmt.Errorf("asking: %w", &model.Error{Failure: model.Declined, Err: errors.New("no")}),
			model.Declined},
		"Slow":    {fmt.Errorf("asking: %w", context.DeadlineExceeded), model.TimedOut},
		"Unknown": {errors.New("no such host"), model.Unavailable},
		"Nothing": {nil, model.Unusable},
	} {
		w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) { return clarity.Judgement{}, test.err })
		made, err := w.Submit(t.Context(), "ann", "", claritytest.Submission(name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		read, err := w.Attempt(t.Context(), "ann", made.ID)
		if err != nil || read.EvaluationFailure != string(test.want) || read.Evaluation != nil ||
			read.EvaluationStatus != clarity.EvaluationPending ||
			read.Claim != "" || !strings.HasPrefix(read.Answers[1].Text, name) || read.Version != 1 {
			t.Errorf("%s: got %+v, %v; want %s", name, read, err, test.want)
		}
	}
}

// Answers are judged by the questions that they were given to, though the scenario has changed since
// or is gone. While it cannot be read, no try is begun.
func TestChangedScenario(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, want := range map[string]error{"Changed": nil, "Gone": nil, "Busy": retry.ErrBusy} {
		w := claritytest.New(t)
		w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
			return clarity.Judgement{}, errors.New("down")
		})
		attempt := must.Get(w.Submit(ctx, name, "", claritytest.Submission(name)))(t)
		w.Judge.Says(nil)
		w.Service.Scenarios = service.NewScenarios(w.DB, w.Read)
		w.Tables.Remove(t, "Scenarios", "bridge")
		switch name {
		case "Changed":
			other := claritytest.Scenario("bridge")
			slices.Reverse(other.Questions)
			other.Questions[0].Text, other.Questions = "Why is it red, and not green?", other.Questions[:1]
			must.Get(w.Service.Scenarios.Add(ctx, other))(t)
		case "Busy":
			w.Tables.Recorder.FaultsOf(func(_ context.Context, r dynamotest.Request) error {
				if r.Table == "Scenarios" {
					return want
				}
				return nil
			}, nil)
		}
		calls := w.Judge.Calls()
		got, err := w.Evaluate(ctx, name, attempt.ID)
		if !errors.Is(err, want) || err == nil && got.Evaluation == nil || err != nil && w.Judge.Calls() != calls {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

// The evaluator tries again after 1, 5 and 30 minutes, 2, 6 and 24 hours, and then no more. The user
// may still ask.
func TestTries(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	ctx := t.Context()
	w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
		return clarity.Judgement{}, errors.New("down")
	})
	attempt := must.Get(w.Submit(ctx, "ann", "", claritytest.Submission("This bridge")))(t)
	failed := service.Run{Failed: 1}
	for try, wait := range []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour,
		24 * time.Hour} {
		w.Advance(wait - time.Millisecond)
		if run, err := w.EvaluatePending(ctx); err != nil || run != (service.Run{}) {
			t.Errorf("too early for try %d: got %+v, %v", try+2, run, err)
		}
		w.Advance(time.Millisecond)
		if run, err := w.EvaluatePending(ctx); err != nil || run != failed {
			t.Errorf("try %d: got %+v, %v", try+2, run, err)
		}
	}
	w.Advance(1000 * time.Hour)
	run, err := w.EvaluatePending(ctx)
	read, _ := w.Attempt(ctx, "ann", attempt.ID)
	if err != nil || run != (service.Run{}) || w.Judge.Calls() != 7 ||
		read.EvaluationStatus != clarity.EvaluationFailed || read.EvaluationFailure != string(model.Unavailable) {
		t.Errorf("after try 7: got %+v, %v and %+v after %d calls", run, err, read, w.Judge.Calls())
	}
	if read, err = w.Evaluate(ctx, "ann", attempt.ID); err != nil ||
		read.EvaluationStatus != clarity.EvaluationFailed || w.Judge.Calls() != 8 {
		t.Errorf("by request: got %+v, %v", read, err)
	}
	w.Judge.Says(nil)
	if read, err = w.Evaluate(ctx, "ann", attempt.ID); err != nil || read.Evaluation == nil {
		t.Errorf("by request, when it works: got %+v, %v", read, err)
	}
	metricstest.Complete(t, w.Metrics(), schema.MetricsOf("clarityapi", clarity.Platform().Metrics))
	want := map[string]float64{"AttemptsCompleted": 1, "EvaluationFailures": 8, "Evaluations": 1}
	if diff := cmp.Diff(want, metricstest.Sums(t, w.Metrics())); diff != "" {
		t.Errorf("the metrics (-want +got):\n%s", diff)
	}
}

// An attempt whose tries all die is not tried for ever.
func TestDyingTries(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	ctx := t.Context()
	w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
		w.Tables.Recorder.Faults(func(schema.Action) error { return errors.New("the process is dead") }, nil)
		return claritytest.Good(), nil
	})
	attempt := must.Get(w.Submit(ctx, "ann", "", claritytest.Submission("This bridge")))(t)
	for range 9 {
		w.Tables.Recorder.Faults(nil, nil)
		w.Advance(time.Hour)
		_, _ = w.EvaluatePending(ctx)
	}
	w.Tables.Recorder.Faults(nil, nil)
	read, err := w.Attempt(ctx, "ann", attempt.ID)
	if err != nil || w.Judge.Calls() != 7 || read.EvaluationStatus != clarity.EvaluationFailed ||
		read.EvaluationFailure != string(model.TimedOut) || read.Claim != "" {
		t.Errorf("got %+v, %v after %d calls", read, err, w.Judge.Calls())
	}
}

// A try leaves its invocation time to store what it came to, and is not begun without time.
func TestTime(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	var deadline time.Time
	w.Judge.Says(func(ctx context.Context, _ int) (clarity.Judgement, error) {
		deadline, _ = ctx.Deadline()
		return claritytest.Good(), nil
	})
	for left, want := range map[time.Duration]time.Duration{28 * time.Second: 22 * time.Second,
		5 * time.Minute: time.Minute, 20 * time.Second: 0} {
		ctx, began := worldtest.Leaving(t.Context(), left), time.Now()
		deadline = time.Time{}
		attempt, err := w.Submit(ctx, "ann", "", claritytest.Submission("This bridge"))
		if err != nil || (attempt.Evaluation != nil) != (want > 0) {
			t.Errorf("with %s left: got %+v, %v", left, attempt, err)
		}
		if want > 0 && (deadline.Before(began.Add(want)) || deadline.After(time.Now().Add(want))) {
			t.Errorf("with %s left: the evaluator has until %s, want %s from a moment since %s", left, deadline, want,
				began)
		}
		if want > 0 {
			continue
		}
		if _, err := w.Evaluate(ctx, "ann", attempt.ID); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("by request, with %s left: got %v", left, err)
		}
		if run, err := w.EvaluatePending(ctx); err != nil || run != (service.Run{}) {
			t.Errorf("by the schedule, before the lease ends: got %+v, %v", run, err)
		}
		w.Advance(left + 2*time.Second)
		if run, err := w.EvaluatePending(ctx); err != nil || run != (service.Run{Unfinished: true}) {
			t.Errorf("by the schedule, with %s left: got %+v, %v", left, run, err)
		}
		if run, err := w.EvaluatePending(t.Context()); err != nil || run != (service.Run{Evaluated: 1}) {
			t.Errorf("by the schedule: got %+v, %v", run, err)
		}
	}
}
