package clarity_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/model"
)

// list is all attempts of a user.
func list(t *testing.T, w *claritytest.World, user string) []clarity.Attempt {
	t.Helper()
	return dynamotest.Pages(t, func(from string) ([]clarity.Attempt, string, error) {
		list, err := w.Attempts(t.Context(), user, 100, from)
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
