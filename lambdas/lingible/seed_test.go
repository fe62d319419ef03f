package lingible_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lexicons"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// load loads all initial data, and returns how many items were added.
func load(t *testing.T, s *service.Service) (added int) {
	t.Helper()
	handle := must.Get(lexicons.Load(s))(t)
	for progress := (seed.Progress{Total: 1}); progress.Next < progress.Total; added += progress.Added {
		progress = must.Get(handle(t.Context(), seed.Request{Next: progress.Next}))(t)
	}
	return added
}

// The first load stores every term and every pool, under the attributes that the schema has. The
// next ones change nothing, also not a term that was changed meanwhile.
func TestSeed(t *testing.T) {
	t.Parallel()
	tables := dynamotest.Open(t, lingible.Platform().Database)
	store := &service.Service{DB: tables.DB}
	initial := must.Get(lexicons.Initial())(t)
	changed := initial[7]
	changed.Gloss = "Changed by an operator"
	if added, err := store.AddEntry(t.Context(), changed); !added || err != nil {
		t.Fatal(added, err)
	}
	initial[7] = changed
	if got, want := load(t, store), len(initial)-1+len(lingible.Categories()); got != want {
		t.Errorf("added %d items, want %d", got, want)
	}
	if got := load(t, store); got != 0 {
		t.Errorf("added %d items again", got)
	}

	var slugs []string
	var entries []*lingible.Entry
	for _, entry := range initial {
		slugs, entries = append(slugs, entry.Slug()), append(entries, &entry)
	}
	got, _, err := service.Entries(&service.Exporter{DB: tables.DB}, t.Context(), slugs)
	if diff := cmp.Diff(entries, got); diff != "" || err != nil {
		t.Errorf("got %v (-want +got):\n%s", err, diff)
	}
	bySource, err := service.SlugsOf(t.Context(), tables.DB, "ListEntriesBySource", lingible.SourceInitial)
	slices.Sort(slugs)
	slices.Sort(bySource)
	if !slices.Equal(bySource, slugs) || err != nil {
		t.Errorf("got %v, %v by source", bySource, err)
	}

	wrong := must.Get(lexicons.WrongAnswers())(t)
	pools := map[lingible.Category][]string{}
	table, _ := lingible.Platform().Database.Table("Lexicon")
	for _, item := range tables.Stored(t, table.Name) {
		for name := range item {
			if _, ok := table.Attribute(name); !ok {
				t.Errorf("an item has %s, which the schema does not", name)
			}
		}
		var pool struct {
			PK, SK  string
			Answers []string `dynamodbav:"wrong_answers"`
		}
		must.OK(t, attributevalue.UnmarshalMap(item, &pool))
		if pool.SK == "METADATA#wrong_answers" {
			pools[lingible.Category(pool.PK[len("WRONG_ANSWERS#"):])] = pool.Answers
		}
	}
	if diff := cmp.Diff(wrong, pools); diff != "" {
		t.Errorf("pools (-want +got):\n%s", diff)
	}
}
