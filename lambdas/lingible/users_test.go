package lingible_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

// named are the attributes of an item of Users, and whether there is one.
func named(t *testing.T, w *lingibletest.World, sk string) (item map[string]any, found bool) {
	t.Helper()
	for _, stored := range w.Items(t, "Users") {
		var read map[string]any
		if err := attributevalue.UnmarshalMap(stored, &read); err != nil {
			t.Fatal(err)
		}
		if read["SK"] == sk {
			return read, true
		}
	}
	return nil, false
}

// The first request of a caller creates the user, once, however many come at the same time.
func TestUserIsCreatedOnce(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	ann := w.Caller("ann#1")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			var err error
			switch i % 4 {
			case 0:
				_, err = w.Usage(t.Context(), ann)
			case 1:
				_, err = w.Profile(t.Context(), ann)
			case 2:
				_, err = w.Balance(t.Context(), ann)
			case 3:
				err = w.CreateUser(t.Context(), ann)
			}
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	all.Wait()
	want := lingible.User{
		ID: "ann#1", Email: "ann#1@example.com", Tier: lingible.Free, Status: lingible.Active,
		CreatedAt: lingibletest.Began(), UpdatedAt: lingibletest.Began(),
	}
	user, err := w.Profile(t.Context(), ann)
	if diff := cmp.Diff(want, user); diff != "" || err != nil {
		t.Errorf("got %v (-want +got):\n%s", err, diff)
	}
	if items := w.Items(t, "Users"); len(items) != 2 {
		t.Errorf("got %d items: %v", len(items), items)
	}
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
	if err := w.DeleteAccount(ctx, ann); err != nil {
		t.Fatal(err)
	}
	admitted, check = w.Admit(ann)
	for _, err := range []error{check(ctx), admitted.Admitted(ctx)} {
		if !errors.Is(err, lingible.ErrUserDeleted) {
			t.Errorf("of a deleted account: got %v", err)
		}
	}
}

// What is left follows the tier, the day in the zone of the calendar, and the last 24 hours.
func TestBalance(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	ann := w.Caller("ann")
	midnight := time.Date(2026, 2, 3, 6, 0, 0, 0, time.UTC)
	want := lingible.Balance{Tier: lingible.Free, DailyLimit: 10, DailyRemaining: 10, ResetDailyAt: midnight,
		TextLength: 50, QuizLimit: 10}
	check := func(when string) {
		t.Helper()
		got, err := w.Balance(t.Context(), ann)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: got %v (-want +got):\n%s", when, err, diff)
		}
	}
	check("at first")
	if _, err := w.Upgrade(t.Context(), ann); err != nil {
		t.Fatal(err)
	}
	want = lingible.Balance{Tier: lingible.Premium, DailyLimit: 100, DailyRemaining: 100, ResetDailyAt: midnight,
		TextLength: 100, SubmissionLimit: 10}
	check("premium")
	w.Advance(midnight.Sub(w.Read()))
	want.ResetDailyAt = midnight.Add(24 * time.Hour)
	check("the next day")
	usage := lingible.Usage{SubmittedAt: []time.Time{midnight.Add(-24 * time.Hour),
		midnight.Add(-24*time.Hour + time.Millisecond), midnight}}
	if got := len(usage.Submitted(midnight)); got != 2 {
		t.Errorf("%d submissions count, want 2", got)
	}
}

// An upgrade changes both items that have the tier, once; it moves the user in the index by tier,
// which has profiles alone.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	ann, bob := w.Caller("ann"), w.Caller("bob")
	if _, err := w.Usage(t.Context(), bob); err != nil {
		t.Fatal(err)
	}
	w.Advance(time.Hour)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if user, err := w.Upgrade(t.Context(), ann); err != nil || user.Tier != lingible.Premium {
				t.Errorf("got %+v, %v", user, err)
			}
		})
	}
	all.Wait()
	upgraded := w.Read()
	w.Advance(time.Hour)
	user, err := w.Upgrade(t.Context(), ann)
	if err != nil || user.Tier != lingible.Premium || !user.UpdatedAt.Equal(upgraded) {
		t.Errorf("again: got %+v, %v", user, err)
	}
	if usage, err := w.Usage(t.Context(), ann); err != nil || usage.Tier != lingible.Premium {
		t.Errorf("got %+v, %v", usage, err)
	}
	for tier, want := range map[lingible.Tier]string{lingible.Free: "USER#bob PROFILE",
		lingible.Premium: "USER#ann PROFILE"} {
		var got []string
		for item, err := range w.Tables.Items(t.Context(), "ListUsersByTier", dynamo.Query{Values: []any{tier}}) {
			var key struct{ PK, SK string }
			if err := errors.Join(err, attributevalue.UnmarshalMap(item, &key)); err != nil {
				t.Fatal(err)
			}
			got = append(got, key.PK+" "+key.SK)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %v, want %s", tier, got, want)
		}
	}
	// The tiers that were read are not those of the items any more.
	stale := lingible.User{ID: "ann", Tier: lingible.Free}
	if err := service.StoreTier(w.Service, t.Context(), stale, lingible.Premium, w.Read()); !errors.Is(err,
		retry.ErrStale) {
		t.Errorf("of a stale tier: got %v", err)
	}
}

// A deletion begins once. From then on the user is none until the cleaner is done; then a token from before makes no new
// account, and one from after does. TestNoRouteWithoutAccount of the API has every request.
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
	if err := w.Tables.DB.Delete(t.Context(), "DeleteUserItem", []any{"USER#ann", "PROFILE"},
		dynamo.Equal("status", lingible.Deleting)); err != nil {
		t.Fatal(err)
	}
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
		if err := w.DeleteAccount(t.Context(), w.Caller("ann")); err != nil {
			t.Fatal(err)
		}
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
