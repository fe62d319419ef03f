package lingible_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/model"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// translates makes so many translations, one after the other.
func translates(t *testing.T, w *lingibletest.World, caller service.Caller, n int) {
	t.Helper()
	for i := range n {
		must.Get(w.Translate(t.Context(), caller,
			lingible.TranslationInput{Text: fmt.Sprint("text ", i)}))(t)
	}
}

func dailyUsed(t *testing.T, w *lingibletest.World, caller service.Caller) int {
	t.Helper()
	balance := must.Get(w.Balance(t.Context(), caller))(t)
	return balance.DailyUsed
}

// kept is what the history has, in pages.
func kept(t *testing.T, w *lingibletest.World, caller service.Caller, page int) []lingible.Translation {
	t.Helper()
	return dynamotest.Pages(t, func(from string) ([]lingible.Translation, string, error) {
		list, err := w.Translations(t.Context(), caller, page, from)
		return list.Translations, list.NextCursor, err
	})
}

// Of 100 translations at once by a free user with 3 left, 3 succeed, and 3 are charged. Failed ones
// and unchanged ones among them cost nothing. The terms of those that are refused do not count.
func TestLimitUnderConcurrency(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	newTrends(w, lingible.Entry{Term: "flex"})
	w.Language = &lingibletest.Speaker{Change: func(r *lingible.Rendering) { r.Terms = []string{"flex"} }}
	ann := w.Caller("ann")
	translates(t, w, ann, 7)
	var made atomic.Int64
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			text := fmt.Sprint("text ", i)
			if i%10 == 0 {
				text = []string{"same", "fail"}[i/10%2]
			}
			got, err := w.Translate(t.Context(), ann, lingible.TranslationInput{Text: text})
			used, limited := errors.AsType[*lingible.UsageError](err)
			_, failed := errors.AsType[*model.Error](err)
			switch {
			case limited && used.Limit == 10 && used.Until.Equal(time.Date(2026, 2, 3, 6, 0, 0, 0, time.UTC)):
			case text == "fail" && failed, text == "same" && err == nil && got.Unchanged &&
				got.TranslatedText == "same" && got.ID == "":
			case err == nil && !got.Unchanged && got.TranslatedText == "to_standard "+text && got.DailyUsed > 7 &&
				got.DailyUsed <= 10 && got.DailyLimit == 10:
				made.Add(1)
			default:
				t.Errorf("%s: got %+v, %v", text, got, err)
			}
		})
	}
	all.Wait()
	if used := dailyUsed(t, w, ann); made.Load() != 3 || used != 10 {
		t.Errorf("%d succeeded, and %d of 10 are used", made.Load(), used)
	}
	if items := w.Stored(t, "Translations"); len(items) != 0 {
		t.Errorf("a free user has a history: %v", items)
	}
	if sums := metricstest.Sums(t, w.Counted()); sums["Translations"] != 10 || sums["TermsNotCounted"] != 0 {
		t.Errorf("got the metrics %v", sums)
	}
	if _, counted := trend(t, w, "flex"); counted.Translations != 10 || counted.LookUps != 0 {
		t.Errorf("got %+v", counted)
	}
	// The day is the zone's, and its first translations count from 0, however many come at once.
	midnight := time.Date(2026, 2, 3, 6, 0, 0, 0, time.UTC)
	w.Advance(midnight.Add(-time.Millisecond).Sub(w.Read()))
	late := func() error { return second(w.Translate(t.Context(), ann, lingible.TranslationInput{Text: "late"})) }
	if err := late(); !errors.Is(err, &lingible.UsageError{}) {
		t.Errorf("before midnight: got %v", err)
	}
	w.Advance(time.Millisecond)
	made.Store(0)
	for range 30 {
		all.Go(func() {
			if err := late(); err == nil {
				made.Add(1)
			} else if !errors.Is(err, &lingible.UsageError{}) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if used := dailyUsed(t, w, ann); made.Load() != 10 || used != 10 {
		t.Errorf("the next day, %d succeeded, and %d of 10 are used", made.Load(), used)
	}
}

// The history has the translations of a premium user, newest first, for 30 days, also while expired
// items are not yet deleted; each item has its end.
func TestHistory(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	ann, bob := w.Premium(t, "ann"), w.Premium(t, "ann#")
	var want []lingible.Translation
	for i := range 7 {
		got := must.Get(w.Translate(t.Context(), ann, lingible.TranslationInput{Text: fmt.Sprint("Text “", i, "”")}))(t)
		want = slices.Insert(want, 0, got.Translation)
		translates(t, w, bob, 1)
		w.Advance(time.Hour)
	}
	for _, page := range []int{1, 3, 7, 100} {
		if diff := cmp.Diff(want, kept(t, w, ann, page)); diff != "" {
			t.Errorf("in pages of %d (-want +got):\n%s", page, diff)
		}
	}
	for _, item := range w.Stored(t, "Translations") {
		var read struct {
			CreatedAt time.Time `dynamodbav:"created_at"`
			TTL       int64     `dynamodbav:"ttl"`
		}
		if err := attributevalue.UnmarshalMap(item, &read); err != nil ||
			read.TTL != read.CreatedAt.Add(30*24*time.Hour).Unix() {
			t.Errorf("got %+v, %v", read, err)
		}
	}
	list, err := w.Translations(t.Context(), bob, 3, "")
	if err != nil || len(list.Translations) != 3 {
		t.Fatalf("got %+v, %v", list, err)
	}
	if _, err := w.Translations(t.Context(), ann, 3, list.NextCursor); !errors.As(err, new(*validate.Error)) {
		t.Errorf("with the cursor of another user: got %v", err)
	}
	if _, err := w.Translations(t.Context(), w.Caller("free"), 3, ""); !errors.Is(err, &lingible.SubscriptionError{}) {
		t.Errorf("of a free user: got %v", err)
	}
	// Deletions are of one's own.
	ctx := t.Context()
	for _, id := range []string{want[0].ID, "", "x", "019D0000-0000-7000-8000-000000000000",
		"019d0000-0000-7000-8000-000000000000"} {
		if err := w.DeleteTranslation(ctx, "ann#", id); !errors.Is(err, lingible.ErrTranslationNotFound) {
			t.Errorf("delete %q: got %v", id, err)
		}
	}
	if err := w.DeleteTranslation(ctx, "ann", want[0].ID); err != nil {
		t.Error(err)
	}
	if err := w.DeleteTranslation(ctx, "ann", want[0].ID); !errors.Is(err, lingible.ErrTranslationNotFound) {
		t.Errorf("delete again: got %v", err)
	}
	w.Advance(30*24*time.Hour - 5*time.Hour)
	if diff := cmp.Diff(want[1:4], kept(t, w, ann, 2)); diff != "" {
		t.Errorf("30 days later (-want +got):\n%s", diff)
	}
	// A request that ends too soon says so, and a repeat goes on.
	leaving := worldtest.Leaving(ctx, 2*time.Second)
	if err := w.DeleteTranslations(leaving, "ann"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without time: got %v", err)
	}
	if err := w.DeleteTranslations(ctx, "ann"); err != nil {
		t.Error(err)
	}
	if items := w.Stored(t, "Translations"); len(items) != 7 {
		t.Errorf("%d items are left, want those of the other user", len(items))
	}
}

// The terms of a charged translation count once, those that are all of the text apart, and their loss fails no request.
func TestTermsAreCounted(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	w.Know(lingible.Entry{Term: "no cap"}, lingible.Entry{Term: "flex"})
	ann := w.Premium(t, "ann")
	for _, text := range []string{"No cap!", "same", "fail"} {
		_, _ = w.Translate(t.Context(), ann, lingible.TranslationInput{Text: text})
	}
	// The term may be in another form in the text.
	w.Language = &lingibletest.Speaker{Change: func(r *lingible.Rendering) {
		*r = lingible.Rendering{Text: "showing off", Confidence: 0.25, Terms: []string{"flex"}}
	}}
	flexes := []lingible.TranslationInput{{Text: "they flex"}, {Text: "Flexing!"},
		{Text: "boast", Direction: lingible.ToSlang}}
	for _, isLost := range []bool{false, true} {
		w.Tables.Recorder.Faults(func(operation schema.Action) error {
			if isLost && operation == schema.UpdateItem {
				return errors.New("refused")
			}
			return nil
		}, nil)
		for _, in := range flexes {
			got, err := w.Translate(t.Context(), ann, in)
			if err != nil || !got.LowConfidence {
				t.Errorf("got %+v, %v", got, err)
			}
		}
	}
	for slug, want := range map[string][2]int{"no-cap": {1, 0}, "flex": {1, 2}} {
		if _, counted := trend(t, w, slug); [2]int{counted.LookUps, counted.Translations} != want {
			t.Errorf("%s: got %+v, want %v", slug, counted, want)
		}
	}
	want := map[string]float64{"Translations": 7, "LanguageFailures": 1, "TermsNotCounted": 3}
	if diff := cmp.Diff(want, metricstest.Sums(t, w.Counted())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A charge that comes again, since the answer to it was lost, is one, also after others, and when
// another day has begun.
func TestLostCharge(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	ann := w.Caller("ann")
	w.Tables.Wire.Lose(1)
	translates(t, w, ann, 2)
	midnight := time.Date(2026, 2, 3, 6, 0, 0, 0, time.UTC)
	for i, between := range []func(){
		func() {},
		func() { translates(t, w, ann, 4) },
		func() { w.Advance(midnight.Sub(w.Read())); translates(t, w, ann, 9) },
	} {
		usage := must.Get(w.Usage(t.Context(), ann))(t)
		now := w.Read()
		charge := func() error {
			made := lingible.ChargedTranslation{Translation: lingible.Translation{ID: fmt.Sprint("charge ", i)}}
			return service.StoreTranslation(w.Service, t.Context(), usage, now, made)
		}
		must.OK(t, charge())
		between()
		used := dailyUsed(t, w, ann)
		if err := charge(); err != nil || dailyUsed(t, w, ann) != used || used != []int{3, 8, 9}[i] {
			t.Errorf("%d: got %v; %d were charged, and %d are", i, err, used, dailyUsed(t, w, ann))
		}
	}
}

// The answer is kept under the idempotency key with the charge: whenever an answer is lost or the
// process dies, the next attempt gets the kept answer or makes the translation, and one is charged.
func TestTranslationIsChargedOnce(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	ann := w.Premium(t, "ann")
	keys := w.Keys()
	keys.Clock = w.Read
	attempt := func(key string) (idempotency.Response, error) {
		response, _, err := idempotency.Request{
			Keys: keys, Scope: ann.ID, Key: key, Content: []byte("request"), Claim: idempotency.BeforeWork,
			Log: slog.New(slog.DiscardHandler),
			Answer: func(result any) (idempotency.Response, error) {
				return idempotency.Response{Status: 200, Body: []byte(result.(lingible.ChargedTranslation).ID)}, nil
			},
		}.Do(t.Context(), func(ctx context.Context) (any, error) {
			return w.Translate(ctx, ann, lingible.TranslationInput{Text: "no cap"})
		})
		return response, err
	}
	for died := 1; ; died++ {
		before, key := dailyUsed(t, w, ann), fmt.Sprint("key ", died)
		w.Kill(died-1, true)
		_, err := attempt(key)
		w.Heal()
		if err == nil {
			break
		}
		w.Advance(time.Minute) // its lease ends
		first, err := attempt(key)
		again, errAgain := attempt(key)
		if err != nil || errAgain != nil || string(first.Body) != string(again.Body) ||
			dailyUsed(t, w, ann) != before+1 || !slices.ContainsFunc(kept(t, w, ann, 100),
			func(t lingible.Translation) bool {
				return t.ID == string(first.Body)
			}) {
			t.Errorf("died after request %d: got %s, %v, and %s, %v; %d were charged", died, first.Body, err,
				again.Body, errAgain, dailyUsed(t, w, ann)-before)
		}
	}
}

// Nothing is charged or kept for a user whose account is deleted while the language is at work.
func TestDeletionAmidTranslation(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	ann := w.Premium(t, "ann")
	w.Language = &lingibletest.Speaker{Change: func(*lingible.Rendering) {
		if err := w.DeleteAccount(t.Context(), ann); err != nil {
			t.Error(err)
		}
	}}
	w.Advance(time.Hour)
	got, err := w.Translate(t.Context(), ann, lingible.TranslationInput{Text: "no cap"})
	if !errors.Is(err, lingible.ErrUserDeleted) || len(w.Stored(t, "Translations")) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}
