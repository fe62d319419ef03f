package clarity_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// TestWriteUnits writes attempts whose texts have 4.5 KB, as in docs/reference/costs/clarity.md, with an idempotency key
// unless it says otherwise, and compares the write units: as DynamoDB counts them, and with the indexes of a
// transaction doubled, as DynamoDB Local counts them. The evaluations are shorter than those there.
func TestWriteUnits(t *testing.T) {
	t.Parallel()
	w := claritytest.New(t)
	in := func(status clarity.Status) clarity.Submission {
		in := claritytest.Submission(strings.Repeat("A bridge ", 220))
		in.Status = status
		return in
	}
	submit := func(ctx context.Context, status clarity.Status) (clarity.Attempt, error) {
		w.Advance(time.Second)
		return w.Submit(ctx, "ann", "", in(status))
	}
	for _, test := range []struct {
		name         string
		units, local float64
		do           func(ctx context.Context, begun string) error
	}{
		{"begin", 17, 22, func(ctx context.Context, _ string) error { return second(submit(ctx, clarity.InProgress)) }},
		{"begin without a key", 10, 10, func(context.Context, string) error {
			return second(submit(t.Context(), clarity.InProgress))
		}},
		{"save", 17, 22, func(ctx context.Context, begun string) error {
			return second(w.Save(ctx, "ann", begun, clarity.Save{}, 0, true))
		}},
		{"submit", 38, 50, func(ctx context.Context, _ string) error { return second(submit(ctx, clarity.Completed)) }},
		{"submit without a key", 29, 35, func(context.Context, string) error {
			return second(submit(t.Context(), clarity.Completed))
		}},
		{"complete", 38, 50, func(ctx context.Context, begun string) error {
			return second(w.Save(ctx, "ann", begun, clarity.Save{Change: clarity.Change{Status: clarity.Completed}}, 0,
				true))
		}},
		{"evaluate again", 30, 37, func(_ context.Context, failed string) error {
			return second(w.Evaluate(t.Context(), "ann", failed))
		}},
		{"add a profile", 6, 6, func(context.Context, string) error {
			addProfile(t, w.Service, evaluatedAttempt("ann", 1))
			return nil
		}},
	} {
		status := clarity.InProgress
		if test.name == "evaluate again" {
			status = clarity.Completed
			w.Judge.Says(func(context.Context, int) (clarity.Judgement, error) {
				return clarity.Judgement{}, errors.New("down")
			})
		}
		begun := must.Get(submit(t.Context(), status))(t)
		w.Judge.Says(nil)
		ledger := w.Tables.Writes(t, func() {
			claim, _, err := service.Keys(w.DB).Begin(t.Context(), "ann", test.name, []byte("request"),
				idempotency.Deferred)
			must.OK(t, err)
			ctx := idempotency.WithClaim(t.Context(), claim, func(any) (idempotency.Response, error) {
				return idempotency.Response{Status: 201, Body: []byte(strings.Repeat("x", 500))}, nil
			})
			must.OK(t, test.do(ctx, begun.ID))
		})
		if got, local := ledger.Units(false), ledger.Units(true); got != test.units || local != test.local {
			t.Errorf("%s: got %v write units, and %v with doubled indexes; want %v and %v:\n%s", test.name, got, local,
				test.units, test.local, ledger)
		}
	}
}

func second[T any](_ T, err error) error { return err }
