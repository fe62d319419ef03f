package lingible_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

// The check of a caller reads the usage once, for the first who asks for it.
func TestAdmit(t *testing.T) {
	t.Parallel()
	w, ctx := lingibletest.New(t), t.Context()
	ann := w.Caller("ann")
	admitted, check := w.Admit(ann)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := admitted.Admitted(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("before the check: got %v", err)
	}
	if err := errors.Join(check(ctx), admitted.Admitted(ctx)); err != nil {
		t.Error(err)
	}
	for _, reads := range []int{0, 1} {
		w.Tables.Recorder.Requests()
		usage, err := w.Usage(ctx, admitted)
		if made := len(w.Tables.Recorder.Requests()); err != nil || usage.UserID != "ann" || made != reads {
			t.Errorf("got %+v, %v with %d requests, want %d", usage, err, made, reads)
		}
	}
}

// An upgrade moves the user in the index by tier, which has profiles alone. It is refused if the tiers that were read
// are not those of the items any more.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	must.Get(w.Usage(t.Context(), w.Caller("bob")))(t)
	w.Premium(t, "ann")
	for tier, want := range map[lingible.Tier]string{lingible.Free: "USER#bob PROFILE",
		lingible.Premium: "USER#ann PROFILE"} {
		var got []string
		for item, err := range w.Tables.Items(t.Context(), "ListUsersByTier", dynamo.Query{Values: []any{tier}}) {
			must.OK(t, err)
			got = append(got, dynamo.Text(item, "PK")+" "+dynamo.Text(item, "SK"))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %v, want %s", tier, got, want)
		}
	}
	stale := lingible.User{ID: "ann", Tier: lingible.Free}
	if err := service.StoreTier(w.Service, t.Context(), stale, lingible.Premium, w.Read()); !errors.Is(err,
		retry.ErrStale) {
		t.Errorf("of a stale tier: got %v", err)
	}
}

// A write that met too many others is refused by the limit, if these have reached it; otherwise it may be repeated.
func TestLimitReachedMeanwhile(t *testing.T) {
	t.Parallel()
	calls := map[string]struct {
		writes schema.Action
		do     func(*lingibletest.World, service.Caller, int) error
	}{
		"Submit": {schema.TransactWriteItems, func(w *lingibletest.World, ann service.Caller, i int) error {
			_, err := w.Submit(t.Context(), ann, proposal(fmt.Sprint("term ", i)))
			return err
		}},
		"Translate": {schema.UpdateItem, func(w *lingibletest.World, ann service.Caller, i int) error {
			_, err := w.Translate(t.Context(), ann, lingible.TranslationInput{Text: fmt.Sprint("word ", i)})
			return err
		}},
	}
	for name, call := range calls {
		for _, others := range []int{9, 10} {
			t.Run(fmt.Sprint(name, others), func(t *testing.T) {
				t.Parallel()
				w := lingibletest.New(t)
				ann := w.Caller("ann")
				if name == "Submit" {
					ann = w.Premium(t, "ann")
				}
				met := false
				w.Tables.Recorder.FaultsOf(func(_ context.Context, r dynamotest.Request) error {
					if r.Action != call.writes || met {
						return nil
					}
					met = true
					for i := range others {
						if err := call.do(w, ann, i); err != nil {
							t.Errorf("call %d: %v", i, err)
						}
					}
					return retry.ErrBusy
				}, nil)
				err := call.do(w, ann, others)
				if _, limited := errors.AsType[*lingible.UsageError](err); limited != (others == 10) ||
					!limited && !errors.Is(err, retry.ErrBusy) {
					t.Errorf("after %d others: got %v", others, err)
				}
			})
		}
	}
}
