package clarity_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/rapidtest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
)

func TestMain(m *testing.M) {
	rapidtest.Main(dynamotest.Covering(m.Run, clarity.Platform().Database), 8)
}

// seen is an attempt as it was last read.
type seen struct {
	clarity.Attempt
	// asked is how often the evaluator had been asked of it.
	asked int
}

// Random histories of a user and the schedule, with evaluators that fail and processes that die: an
// attempt is never lost, it changes only as its status allows, it is never evaluated again after its
// evaluation is stored, and no more often on a day than the limit allows. In the end each completed
// attempt has an evaluation, unless its tries are used up.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	w.EvaluationsPerDay = 4
	ctx := t.Context()
	users := 0
	rapid.Check(t, func(r *rapid.T) {
		users++
		user := fmt.Sprint("user ", users)
		known := map[string]seen{}
		ids := []string{"00000000-0000-4000-8000-000000000000"}
		days := map[string]int{}
		w.Judge.Says(nil)
		check := func(op string) {
			w.Tables.Recorder.Faults(nil, nil)
			found := map[string]bool{}
			for _, attempt := range list(t, w, user) {
				found[attempt.ID] = true
				before, isKnown := known[attempt.ID]
				known[attempt.ID] = seen{attempt, w.Judge.Asked(attempt.Answers[0].Text)}
				switch done := attempt.Evaluation != nil; {
				case done != (attempt.EvaluationStatus == clarity.EvaluationDone),
					(attempt.EvaluationStatus != "") != (attempt.Status == clarity.Completed),
					(attempt.Claim != "") != (attempt.EvaluationStatus == clarity.EvaluationRunning),
					attempt.EvaluateAfter.IsZero() != (attempt.EvaluationStatus == "" || done ||
						attempt.EvaluationStatus == clarity.EvaluationFailed):
					r.Fatalf("%s: the parts of %+v differ", op, attempt)
				case !isKnown:
					ids = append(ids, attempt.ID)
				case before.Status != clarity.InProgress &&
					(attempt.Status != before.Status || attempt.Version != before.Version ||
						!cmp.Equal(attempt.Answers, before.Answers)),
					attempt.Version < before.Version || attempt.Version > before.Version+1:
					r.Fatalf("%s: %+v became %+v", op, before, attempt)
				case before.Evaluation != nil && (!cmp.Equal(attempt.Evaluation, before.Evaluation) ||
					known[attempt.ID].asked != before.asked):
					r.Fatalf("%s: an evaluated attempt was evaluated again, from %+v to %+v", op, before, attempt)
				}
			}
			for id := range known {
				if !found[id] {
					r.Fatalf("%s: the attempt %s is lost", op, id)
				}
			}
		}
		number := 0
		some := func(r *rapid.T) string { return ids[rapid.IntRange(0, len(ids)-1).Draw(r, "attempt")] }
		status := rapid.SampledFrom([]clarity.Status{clarity.Completed, clarity.InProgress, clarity.Abandoned})
		calls := func(op func()) func(*rapid.T) {
			return func(r *rapid.T) {
				before := w.Judge.Calls()
				if die := rapid.IntRange(0, 12).Draw(r, "dies at"); die > 0 && die < 6 {
					var made atomic.Int64 // scenario and attempt are read at the same time
					w.Tables.Recorder.Faults(func(schema.Action) error {
						if made.Add(1) >= int64(die) {
							return errors.New("the process is dead")
						}
						return nil
					}, nil)
				}
				op()
				day := w.Read().Format(time.DateOnly)
				if days[day] += w.Judge.Calls() - before; days[day] > w.EvaluationsPerDay {
					r.Fatalf("%d evaluations on %s", days[day], day)
				}
			}
		}
		r.Repeat(map[string]func(*rapid.T){
			"submit": calls(func() {
				number++
				in := claritytest.Submission(fmt.Sprint("Bridge ", users, number))
				in.Status = status.Draw(r, "status")
				_, _ = w.Submit(ctx, user, "", in)
			}),
			"save": calls(func() {
				number++
				in := clarity.Save{Answers: claritytest.Answers(fmt.Sprint("Bridge ", users, number))}
				in.Status = status.Draw(r, "status")
				_, _ = w.Save(ctx, user, some(r), in, rapid.IntRange(0, 2).Draw(r, "version"),
					rapid.Bool().Draw(r, "again"))
			}),
			"evaluate": calls(func() { _, _ = w.Evaluate(ctx, user, some(r)) }),
			"schedule": calls(func() { _, _ = w.EvaluatePending(ctx) }),
			"advance": func(r *rapid.T) {
				w.Advance(rapid.SampledFrom([]time.Duration{time.Millisecond, time.Minute, 10 * time.Minute,
					3 * time.Hour, 25 * time.Hour}).Draw(r, "by"))
			},
			"break": func(*rapid.T) {
				w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
					return clarity.Judgement{}, errors.New("down")
				})
			},
			"mend": func(*rapid.T) { w.Judge.Says(nil) },
			"":     func(*rapid.T) { check("step") },
		})
		w.Tables.Recorder.Faults(nil, nil)
		w.Judge.Says(nil)
		for run := (service.Run{Skipped: 1}); run != (service.Run{}); {
			w.Advance(25 * time.Hour)
			run = must.Get(w.EvaluatePending(ctx))(r)
		}
		check("end")
		for _, attempt := range known {
			if attempt.Status == clarity.Completed && attempt.Evaluation == nil &&
				(attempt.EvaluationStatus != clarity.EvaluationFailed || attempt.EvaluationTries < 7) {
				r.Fatalf("in the end: %+v", attempt)
			}
		}
	})
}
