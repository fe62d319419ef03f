package dynamodb_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/claritytest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/schema"
)

// TestWriteUnits writes attempts whose texts have 4.5 KB, as in docs/COST.md, under a claim on an
// idempotency key, and compares the write units: as DynamoDB counts them, and with the indexes of a
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
		{"begin", 18, 23, func(ctx context.Context, _ string) error { return second(submit(ctx, clarity.InProgress)) }},
		{"save", 18, 23, func(ctx context.Context, begun string) error {
			return second(w.Save(ctx, "ann", begun, clarity.Save{}, 0, true))
		}},
		{"submit", 47, 58, func(ctx context.Context, _ string) error { return second(submit(ctx, clarity.Completed)) }},
		{"complete", 52, 69, func(ctx context.Context, begun string) error {
			return second(w.Save(ctx, "ann", begun, clarity.Save{Change: clarity.Change{Status: clarity.Completed}}, 0, true))
		}},
		{"add a profile", 6, 6, func(context.Context, string) error { addProfile(t, w.Store, evaluatedAttempt("ann", 1)); return nil }},
	} {
		begun, err := submit(t.Context(), clarity.InProgress)
		if err != nil {
			t.Fatal(err)
		}
		ledger := w.Tables.Writes(t, schema.Clarity().Database, func() {
			ctx := t.Context()
			if test.name != "add a profile" {
				claim, _, err := w.Store.Keys().Begin(ctx, "ann", test.name, []byte("request"), time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				ctx = idempotency.WithClaim(ctx, claim, func(any) (idempotency.Response, error) {
					return idempotency.Response{Status: 201, Body: []byte(strings.Repeat("x", 500))}, nil
				})
			}
			if err := test.do(ctx, begun.ID); err != nil {
				t.Fatal(err)
			}
		})
		if got, local := ledger.Units(false), ledger.Units(true); got != test.units || local != test.local {
			t.Errorf("%s: got %v write units, and %v with doubled indexes; want %v and %v:\n%s", test.name, got, local, test.units, test.local, ledger)
		}
	}
}
