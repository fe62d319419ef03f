package lingible_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/metricstest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
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
			dailyUsed(t, w, ann) != before+1 || !slices.ContainsFunc(w.Items(t, "Translations"),
			func(item map[string]any) bool { return item["translation_id"] == string(first.Body) }) {
			t.Errorf("died after request %d: got %s, %v, and %s, %v; %d were charged", died, first.Body, err,
				again.Body, errAgain, dailyUsed(t, w, ann)-before)
		}
	}
}
