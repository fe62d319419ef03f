package lingible_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

func second[T any](_ T, err error) error { return err }

// is reports whether an error is of a type.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// What no operation reads finds the translation that operations store.
func TestGetTranslation(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	made := must.Get(w.Translate(t.Context(), w.Premium(t, "ann"), lingible.TranslationInput{Text: "no cap"}))(t)
	var kept lingible.Translation
	found, err := w.Tables.Get(t.Context(), "GetTranslation", &kept, "USER#ann", "TRANSLATION#"+made.ID)
	if err != nil || !found || kept.ID != made.ID {
		t.Errorf("got %+v, %v", kept, err)
	}
}

// Idempotency keys and the counts of rate limits are items of the users' table. A refusal is kept, and work that fails
// before it writes reads it.
func TestGuards(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	must.Get(w.Limiter().CountRequest(t.Context(), lingible.Platform().RateLimits[0], "ann", w.Read()))(t)
	keys := w.Keys()
	claim, _, err := keys.Begin(t.Context(), "ann", "a key", []byte("request"), time.Minute)
	must.OK(t, errors.Join(err, keys.Settle(t.Context(), claim, idempotency.Response{Status: 409})))
	kept, isReplay, err := idempotency.Request{Keys: keys, Scope: "ann", Key: "a key", Content: []byte("request"),
		Claim: idempotency.WithWrite}.Do(t.Context(), func(context.Context) (any, error) {
		return nil, errors.New("failed")
	})
	if items := w.Stored(t, "Users"); kept.Status != 409 || !isReplay || err != nil || len(items) != 2 {
		t.Errorf("got %+v, %t, %v, and %v", kept, isReplay, err, items)
	}
}

// No reader of an index takes for absent what the index does not project.
func TestIndexesProject(t *testing.T) {
	t.Parallel()
	m := newModerated(t, 10)
	m.submitted("unvalidated")
	m.open("open")
	m.Know(lingible.Entry{Term: "yap"})
	m.CountTerms(t.Context(), []string{"yap"}, false)(true)
	if added, err := m.AddEntry(t.Context(), eligible("flex", lingible.Talk, 0.9)); err != nil || !added {
		t.Fatal(added, err)
	}
	m.Advance(time.Minute)
	values := map[string][]any{
		"SubmissionsStatusIndex": {"validated"}, "SubmissionsByUserIndex": {"author 1"},
		"ValidationStatusIndex": {"pending"},
		"LexiconSourceIndex":    {"test"}, "LexiconQuizDifficultyIndex": {"beginner"},
		"LexiconQuizCategoryIndex": {"talk", 0, 1},
		"TrendingActiveIndex":      {"true"}, "TrendingCategoryIndex": {"slang"}, "UsersTierIndex": {"premium"},
	}
	database := lingible.Platform().Database
	for _, p := range database.AccessPatterns {
		table, _ := database.Table(p.Table)
		index, ok := table.Index(p.Index)
		if !ok || index.Projection == schema.ProjectAll {
			continue
		}
		items := 0
		for item, err := range m.Tables.Items(t.Context(), p.Name, dynamo.Query{Values: values[p.Index]}) {
			must.OK(t, err)
			items++
			for attribute := range item {
				if !table.Projects(index, attribute) {
					t.Errorf("%s returns %s, which the schema does not project", p.Index, attribute)
				}
			}
		}
		if items == 0 {
			t.Errorf("%s has no item", p.Index)
		}
	}
}
