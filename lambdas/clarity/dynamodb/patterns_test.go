package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/schema"
)

func second[T any](_ T, err error) error { return err }

// TestEveryAccessPattern makes each pattern's request as the functions do, compares it with its
// declaration, and prints what it consumed. Attempts are written under a claim on an idempotency key.
//
// Attempts have two answers of some 120 words, 2 KB in all; an evaluation has another 1.5 KB.
func TestEveryAccessPattern(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	w.EvaluationsPerDay = 1000
	keys := w.Store.Keys()
	number := 0
	claim := func() (*idempotency.Claim, error) {
		number++
		claim, _, err := keys.Begin(t.Context(), "measured", fmt.Sprint("key ", number), []byte("request"), time.Minute)
		return claim, err
	}
	with := func(claim *idempotency.Claim, err error) context.Context {
		if err != nil {
			t.Fatal(err)
		}
		return idempotency.WithClaim(t.Context(), claim, func(any) (idempotency.Response, error) {
			return idempotency.Response{Status: 201, Body: []byte(strings.Repeat("x", 2000))}, nil
		})
	}
	claimed := func() context.Context { return with(claim()) }
	deferred := func() context.Context {
		number++
		claim, _, err := keys.Begin(t.Context(), "measured", fmt.Sprint("key ", number), []byte("request"), idempotency.Deferred)
		return with(claim, err)
	}
	submission := func(status clarity.Status) clarity.Submission {
		in := claritytest.Submission(strings.Repeat("A bridge ", 110))
		in.Status = status
		return in
	}
	submit := func(status clarity.Status) clarity.Attempt {
		w.Advance(time.Second)
		attempt, err := w.Submit(t.Context(), "measured", "", submission(status))
		if err != nil {
			t.Fatal(err)
		}
		return attempt
	}
	submitting := func(within func() context.Context, status clarity.Status) func() func() error {
		return func() func() error {
			ctx := within()
			return func() error { return second(w.Submit(ctx, "measured", "", submission(status))) }
		}
	}
	for range 20 {
		submit(clarity.Completed)
	}
	cases := profileCases(t, w.Store)
	maps.Copy(cases, dynamotest.Cases{
		"GetAttempt": func() func() error {
			id := submit(clarity.Completed).ID
			return func() error { return second(w.Attempt(t.Context(), "measured", id)) }
		},
		"ListUserAttempts": func() func() error {
			return func() error {
				list, err := w.Attempts(t.Context(), "measured", 20, "")
				if err == nil && len(list.Attempts) != 20 {
					err = fmt.Errorf("got %d attempts", len(list.Attempts))
				}
				return err
			}
		},
		"StoreAttempt":     submitting(t.Context, clarity.InProgress),
		"SubmitAttempt":    submitting(deferred, clarity.Completed),
		"SettleEvaluation": submitting(t.Context, clarity.Completed),
		"AnswerEvaluation": submitting(claimed, clarity.Completed),
		"ClaimEvaluation": func() func() error {
			w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) { return clarity.Judgement{}, errors.New("down") })
			id := submit(clarity.Completed).ID
			w.Judge.Says(nil)
			return func() error { return second(w.Evaluate(t.Context(), "measured", id)) }
		},
		"SaveAttempt": func() func() error {
			ctx, id := claimed(), submit(clarity.InProgress).ID
			return func() error { return second(w.Save(ctx, "measured", id, clarity.Save{}, 0, true)) }
		},
		"ListPendingEvaluations": func() func() error {
			w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) { return clarity.Judgement{}, errors.New("down") })
			for range 20 {
				submit(clarity.Completed)
			}
			w.Judge.Says(nil)
			w.Advance(time.Hour)
			return func() error {
				run, err := w.EvaluatePending(t.Context())
				if err == nil && run != (clarity.Run{Evaluated: 20}) {
					err = fmt.Errorf("got %+v", run)
				}
				return err
			}
		},
		"GetScenario": func() func() error {
			return func() error { return second(w.Store.Scenario(t.Context(), "bridge")) }
		},
		"ListActiveScenarios": func() func() error {
			return func() error { return second(w.Store.Scenarios(t.Context(), "")) }
		},
		"ListScenariosByDifficulty": func() func() error {
			return func() error { return second(w.Store.Scenarios(t.Context(), clarity.Beginner)) }
		},
		"AddScenario": func() func() error {
			return func() error { return second(w.Store.AddScenario(t.Context(), claritytest.Scenario("tunnel"))) }
		},
		schema.ClaimIdempotencyKey: func() func() error {
			return func() error { return second(claim()) }
		},
		schema.SettleIdempotencyKey: func() func() error {
			claim, err := claim()
			if err != nil {
				t.Fatal(err)
			}
			return func() error { return keys.Settle(t.Context(), claim, idempotency.Response{Status: 409}) }
		},
	})
	w.Tables.Measure(t, schema.Clarity().Database.AccessPatterns, cases, func(pattern string, made []dynamotest.Request) []dynamotest.Request {
		switch pattern {
		case "SubmitAttempt": // and then its evaluation is settled
			return made[:1]
		case "ClaimEvaluation": // the attempt is read, the evaluation settled
			return made[1:2]
		case "AnswerEvaluation":
			return made[len(made)-1:]
		default:
			return made
		}
	})
}
