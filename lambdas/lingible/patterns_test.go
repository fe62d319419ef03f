package lingible_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

func second[T any](_ T, err error) error { return err }

// What no operation reads finds what operations store: a translation, the users of a tier, and the terms of the quiz.
func TestPatternsForOthers(t *testing.T) {
	t.Parallel()
	m := newModerated(t, 10)
	ann := m.Premium(t, "ann")
	made, err := m.Translate(t.Context(), ann, lingible.TranslationInput{Text: "no cap"})
	if err != nil {
		t.Fatal(err)
	}
	var kept lingible.Translation
	found, err := m.Tables.Get(t.Context(), "GetTranslation", &kept, "USER#ann", "TRANSLATION#"+made.ID)
	if err != nil || !found || kept.ID != made.ID {
		t.Errorf("got %+v, %v", kept, err)
	}
	if added, err := m.AddEntry(t.Context(), eligible("yap", lingible.Talk, 0.9)); err != nil || !added {
		t.Fatal(added, err)
	}
	for pattern, values := range map[string][]any{
		"ListUsersByTier": {"premium"}, "ListQuizByDifficulty": {"beginner"}, "ListQuizByCategory": {"talk", 0, 1},
	} {
		want := map[string]string{"ListUsersByTier": "USER#ann"}[pattern]
		if want == "" {
			want = "TERM#yap"
		}
		items := 0
		for item, err := range m.Tables.Items(t.Context(), pattern, dynamo.Query{Values: values}) {
			if err != nil {
				t.Fatal(err)
			}
			items++
			if key, ok := item["PK"].(*types.AttributeValueMemberS); !ok || key.Value != want {
				t.Errorf("%s: got %v, want %s", pattern, item, want)
			}
		}
		if items == 0 {
			t.Errorf("%s: got none", pattern)
		}
	}
}

// Idempotency keys and the counts of rate limits are items of the users' table, and a refusal is kept, too.
func TestGuards(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	limit := lingible.Platform().RateLimits[0]
	for i := range 2 {
		state, err := w.Limiter().CountRequest(t.Context(), limit, "ann", w.Read())
		if err != nil || state.Remaining != limit.Requests-1-i {
			t.Errorf("call %d: got %+v, %v", i, state, err)
		}
	}
	keys := w.Keys()
	keys.Clock = w.Read
	begin := func() (*idempotency.Claim, *idempotency.Response) {
		t.Helper()
		claim, kept, err := keys.Begin(t.Context(), "ann", "a key", []byte("request"), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return claim, kept
	}
	claim, kept := begin()
	if kept != nil {
		t.Fatalf("got %+v", kept)
	}
	if err := keys.Settle(t.Context(), claim, idempotency.Response{Status: 409}); err != nil {
		t.Fatal(err)
	}
	if _, kept := begin(); kept == nil || kept.Status != 409 {
		t.Errorf("got %+v", kept)
	}
	if items := w.Items(t, "Users"); len(items) != 2 {
		t.Errorf("got %v", items)
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
			if err != nil {
				t.Fatal(err)
			}
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
