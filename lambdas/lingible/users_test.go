package lingible_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

// named are the attributes of an item of Users, and whether there is one.
func named(t *testing.T, w *lingibletest.World, sk string) (item map[string]any, found bool) {
	t.Helper()
	for _, item := range w.Items(t, "Users") {
		if item["SK"] == sk {
			return item, true
		}
	}
	return nil, false
}

// The check of a caller reads the usage once, for the first who asks for it. A deleted account is not admitted.
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
	must.OK(t, w.DeleteAccount(ctx, ann))
	admitted, check = w.Admit(ann)
	for _, err := range []error{check(ctx), admitted.Admitted(ctx)} {
		if !errors.Is(err, lingible.ErrUserDeleted) {
			t.Errorf("of a deleted account: got %v", err)
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

// A deletion begins once. From then on the user is none until the cleaner is done; then a token from before makes no
// new account, and one from after does. TestNoRouteWithoutAccount of the API has every request.
func TestAccountDeletion(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	old := w.Premium(t, "ann")
	w.Advance(90 * time.Minute)
	deleted := w.Read()
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if err := w.DeleteAccount(t.Context(), old); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	refused := func(when string, caller service.Caller) {
		t.Helper()
		if _, err := w.Usage(t.Context(), caller); !errors.Is(err, lingible.ErrUserDeleted) {
			t.Errorf("%s: got %v", when, err)
		}
	}
	refused("being deleted", old)
	w.Advance(time.Hour)
	refused("being deleted, with a new token", w.Caller("ann"))
	profile, _ := named(t, w, "PROFILE")
	grave, found := named(t, w, "METADATA")
	if _, usage := named(t, w, "USAGE#LIMITS"); usage || profile["status"] != "deleting" {
		t.Errorf("usage %t, profile %v", usage, profile)
	}
	if !found || strings.Contains(grave["PK"].(string), "ann") || grave["deleted_at"] != dynamo.FormatTime(deleted) ||
		grave["ttl"] != float64(deleted.Add(30*24*time.Hour).Unix()) {
		t.Errorf("got %v", grave)
	}
	must.OK(t, w.Tables.DB.Delete(t.Context(), "DeleteUserItem", []any{"USER#ann", "PROFILE"},
		dynamo.Equal("status", lingible.Deleting)))
	refused("deleted", old)
	same := w.Caller("ann")
	same.SignedIn = deleted
	refused("deleted, with a token of that moment", same)
	if err := w.CreateUser(t.Context(), old); !errors.Is(err, lingible.ErrUserDeleted) {
		t.Errorf("a late sign-up: got %v", err)
	}
	if usage, err := w.Usage(t.Context(), w.Caller("ann")); err != nil || usage.Tier != lingible.Free {
		t.Errorf("with a token from after: got %+v, %v", usage, err)
	}
}

// What a person has used of the limits is used after deleting the account and signing in again, too, however often. It
// counts from 0 where it would have done so for the first account.
func TestLimitsOutliveAccount(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	newQuiz(t, w, some(30, lingible.Praise)...)
	translated, asked, submitted := 0, 0, 0
	taken := func(err error) (one int) {
		t.Helper()
		if _, limited := errors.AsType[*lingible.UsageError](err); err != nil && !limited {
			t.Fatal(err)
		}
		if err == nil {
			one = 1
		}
		return one
	}
	use := func(times int) {
		t.Helper()
		ann := w.Caller("ann")
		for range times {
			_, err := w.Translate(t.Context(), ann, lingible.TranslationInput{Text: "no cap"})
			translated += taken(err)
			question, err := w.AskQuestion(t.Context(), ann, "", "")
			if taken(err) == 1 {
				asked++
				answer(t, w.Service, ann, question, true)
			}
		}
		w.Premium(t, "ann")
		for i := range times {
			_, err := w.Submit(t.Context(), ann, proposal(fmt.Sprint("term ", w.Read().Unix(), " ", i)))
			submitted += taken(err)
		}
	}
	remove := func() {
		t.Helper()
		must.OK(t, w.DeleteAccount(t.Context(), w.Caller("ann")))
		if complete, err := w.CleanAccount(t.Context(), "ann"); err != nil || !complete {
			t.Fatal(complete, err)
		}
		w.Advance(time.Minute)
	}
	for range 3 {
		use(6)
		remove()
	}
	if translated != 10 || asked != 10 || submitted != 10 {
		t.Errorf("three accounts of a day translated %d, were asked %d and submitted %d times, want 10 of each",
			translated, asked, submitted)
	}
	w.Advance(24 * time.Hour)
	use(4)
	if translated != 14 || asked != 14 || submitted != 14 {
		t.Errorf("with the next day: %d, %d and %d, want 14 of each", translated, asked, submitted)
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
