package language_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/language"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// live is the language of an export with that index.
func live(index []byte) *language.Live {
	return language.NewLive(func(context.Context, string) (language.Latest, string, error) {
		return language.Latest{Index: index}, "digest", nil
	}, nil, slog.New(slog.DiscardHandler), nil)
}

// TestIndexOfQuiz: the quiz finds the terms that it asks about by difficulty and category, and no others.
func TestIndexOfQuiz(t *testing.T) {
	t.Parallel()
	entries := initialTerms(t)
	built := must.Get(language.Build(entries))(t)
	l := live(built)
	for _, difficulty := range append(lingible.Difficulties(), "") {
		for _, category := range append(lingible.Categories(), "") {
			want := map[string]bool{}
			for _, e := range entries {
				if e.IsQuizEligible && (difficulty == "" || e.QuizDifficulty() == difficulty) &&
					(category == "" || e.QuizCategory == category) {
					want[e.Slug()] = true
				}
			}
			count, term, err := l.QuizTerms(t.Context(), difficulty, category)
			if err != nil || count != len(want) {
				t.Errorf("%q %q: got %d terms, %v; want %d", difficulty, category, count, err, len(want))
				continue
			}
			for i := range count {
				if e, err := term(i); err != nil || !want[e.Slug()] {
					t.Errorf("%q %q: got %+v, %v", difficulty, category, e, err)
				}
			}
		}
	}
}

// FuzzIndex: a spoiled index is an error, and never a panic.
func FuzzIndex(f *testing.F) {
	built := must.Get(language.Build(terms("flex")))(f)
	f.Add(built)
	f.Add(built[:len(built)-1])
	f.Add([]byte("lexicon2"))
	f.Fuzz(func(t *testing.T, index []byte) {
		_, err := live(index).Translate(t.Context(), lingible.TranslationInput{Text: "They flex."})
		if isWhole := bytes.Equal(index, built); isWhole != (err == nil) ||
			!isWhole && !errors.Is(err, language.ErrIndex) {
			t.Errorf("got %v for an index that is whole: %t", err, isWhole)
		}
	})
}
