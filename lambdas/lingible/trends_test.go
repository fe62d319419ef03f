package lingible_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lingibletest"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema"
)

// newTrends gives a world a language that proposes trends, and a lexicon of these entries.
func newTrends(w *lingibletest.World, lexicon ...lingible.Entry) (*service.Service, *lingibletest.Speaker) {
	speaker := &lingibletest.Speaker{}
	w.Language = speaker
	w.Know(lexicon...)
	return w.Service, speaker
}

// trend is the item of a trend.
func trend(t *testing.T, w *lingibletest.World, slug string) (item dynamo.Item, counted lingible.CountedTrend) {
	t.Helper()
	for _, item = range w.Stored(t, "Trending") {
		if item["PK"].(*types.AttributeValueMemberS).Value == "TERM#"+slug {
			must.OK(t, attributevalue.UnmarshalMap(item, &counted))
			return item, counted
		}
	}
	t.Fatalf("there is no trend %q", slug)
	return nil, counted
}

// Uses that are counted while runs go on, several at once, are in the heat once each.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	trends, _ := newTrends(w, lingible.Entry{Term: "flex"}, lingible.Entry{Term: "rizz"})
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			w.Advance(time.Millisecond)
			trends.CountTerms(t.Context(), []string{"flex", "rizz"}, i%4 == 0)(true)
		})
		if i%8 == 0 {
			all.Go(func() {
				if _, err := trends.ScoreTrends(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	must.Get(trends.ScoreTrends(t.Context()))(t)
	for _, slug := range []string{"flex", "rizz"} {
		_, first := trend(t, w, slug)
		if first.Translations != 30 || first.LookUps != 10 || first.CountedUses != 50 || first.Heat < 49.99 ||
			first.Heat > 50 || first.IsActive {
			t.Errorf("got %+v", first)
		}
	}
}

// A run whose read another run has overtaken counts nothing twice, and brings nothing back that has
// ended.
func TestScoreTrendConditions(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	trends, _ := newTrends(w, lingible.Entry{Term: "flex"})
	trends.CountTerms(t.Context(), []string{"flex"}, false)(true)
	read, err := service.CountedTrends(w.Service, t.Context(), []string{"flex", "gone"})
	if err != nil || !read[1].LastUpdated.IsZero() || read[1].Slug != "gone" {
		t.Fatalf("got %+v, %v", read, err)
	}
	w.Advance(time.Hour)
	must.Get(trends.ScoreTrends(t.Context()))(t)
	proposed := &lingible.ProposedTrend{Term: "flex", Category: "slang"}
	for name, err := range map[string]error{
		"Overtaken": service.StoreScore(w.Service, t.Context(), read[0].Scored(w.Read(), nil), nil,
			read[0].LastUpdated),
		"Ended": service.StoreScore(w.Service, t.Context(), read[1].Scored(w.Read(), nil), nil, w.Read()),
		"NotTheFirst": service.StoreScore(w.Service, t.Context(), read[0].Scored(w.Read(), proposed), proposed,
			time.Time{}),
	} {
		if !errors.Is(err, retry.ErrStale) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if all := w.Stored(t, "Trending"); len(all) != 1 {
		t.Errorf("got %d trends, want 1", len(all))
	}
}

// A run stores the scores that lists show, and counts the uses of all other trends without writing an index. The lists
// are as if it had stored all, also after runs that were left out. Another run stores nothing.
func TestShownScores(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	trends, _ := newTrends(w)
	premium := w.Premium(t, "ann")
	var slugs []string
	for i := range 250 {
		term := fmt.Sprintf("term%03d", i)
		scored := lingible.CountedTrend{Slug: term, Heat: 4000 / float64(i+1)}
		if i%25 == 24 {
			scored.Heat = 0.6 // out of use after two days
		}
		scored.LastUpdated, scored.IsActive = w.Read(), true
		proposed := &lingible.ProposedTrend{Term: term, Definition: "It",
			Category: lingible.TrendCategories()[i%20/19]}
		must.OK(t, service.StoreScore(w.Service, t.Context(), scored, proposed, time.Time{}))
		slugs = append(slugs, term)
	}
	run := func() (writes map[float64]int) {
		t.Helper()
		w.Tables.Recorder.Requests()
		scored := must.Get(trends.ScoreTrends(t.Context()))(t).Scored
		writes, all := map[float64]int{}, 0
		for _, request := range w.Tables.Recorder.Requests() {
			if request.Action == schema.UpdateItem {
				writes[request.Units]++
				all++
			}
		}
		if all != scored {
			t.Errorf("got %d writes for %d scored trends", all, scored)
		}
		return writes
	}
	for day, later := range []time.Duration{1, 1, 9, 1} {
		w.Advance(later * 24 * time.Hour)
		used := map[string]bool{}
		for i := range 20 * (day % 2) {
			slug := slugs[(i*i*7+day)%len(slugs)]
			used[slug] = true
			must.OK(t, service.CountTerm(w.Service, t.Context(), lingible.ProposedTrend{Term: slug}, i%3 == 0,
				w.Read()))
		}
		exact := must.Get(service.CountedTrends(w.Service, t.Context(), slugs))(t)
		shown := lingible.MaxTrends + 30
		for i, read := range exact {
			if exact[i] = read.Scored(w.Read(), nil); exact[i].IsActive != read.IsActive {
				shown++
			}
		}
		writes := run()
		if writes[1] > len(used) || len(used) > 0 && writes[1] == 0 || writes[3]+writes[5] > shown {
			t.Errorf("day %d: got %v writes by their units, with %d trends used; want %d in indexes", day, writes,
				len(used), shown)
		}
		if again := run(); len(again) != 0 {
			t.Errorf("day %d: another run made %v writes", day, again)
		}
		for _, category := range append(lingible.TrendCategories(), "") {
			for _, isActiveOnly := range []bool{false, true} {
				query := lingible.TrendQuery{Category: category, ActiveOnly: isActiveOnly, Limit: lingible.MaxTrends}
				got := must.Get(trends.Trends(t.Context(), premium, query))(t)
				checkShown(t, exact, query, got)
			}
		}
	}
}

// checkShown checks that a list has the trends of the highest exact scores, in their order.
func checkShown(t *testing.T, exact []lingible.CountedTrend, query lingible.TrendQuery, got []lingible.Trend) {
	t.Helper()
	var want, scores []float64
	byTerm := map[string]lingible.Trend{}
	for _, trend := range exact {
		if (query.Category == "" || trend.Category == query.Category) && (trend.IsActive || !query.ActiveOnly) {
			byTerm[trend.Term], want = trend.Trend, append(want, trend.Popularity)
		}
	}
	slices.Sort(want)
	slices.Reverse(want)
	for _, trend := range got {
		scores = append(scores, trend.Popularity)
		if trend != byTerm[trend.Term] {
			t.Errorf("%+v: got %+v, want %+v", query, trend, byTerm[trend.Term])
		}
	}
	if !slices.Equal(scores, want[:min(query.Limit, len(want))]) {
		t.Errorf("%+v: got %v, want %v", query, scores, want)
	}
}

// Lists are in the order of popularity, ties in that of the terms. They have as many trends as the
// tier allows, also where those between are filtered out.
func TestListTrends(t *testing.T) {
	t.Parallel()
	w := lingibletest.New(t)
	w.Tables.Recorder.PageSize = 7
	trends, _ := newTrends(w)
	var all []lingible.CountedTrend
	for i := range 150 {
		scored := lingible.CountedTrend{Slug: fmt.Sprint("term-", i)}
		scored.LastUpdated, scored.IsActive, scored.Popularity = w.Read(), i%3 != 0, float64(i*7%50)
		proposed := &lingible.ProposedTrend{Term: fmt.Sprintf("term %d", i), Definition: "It",
			Category: lingible.TrendCategories()[i%2]}
		must.OK(t, service.StoreScore(w.Service, t.Context(), scored, proposed, time.Time{}))
		scored.Term, scored.Definition, scored.Category = proposed.Term, "It", proposed.Category
		all = append(all, scored)
	}
	free, premium := w.Caller("ann"), w.Premium(t, "bob")
	for name, test := range map[string]struct {
		caller service.Caller
		query  lingible.TrendQuery
		want   int
	}{
		"Free":        {free, lingible.TrendQuery{ActiveOnly: true, Limit: 100}, 10},
		"FreeLess":    {free, lingible.TrendQuery{ActiveOnly: true, Limit: 9}, 9},
		"FreeMore":    {free, lingible.TrendQuery{ActiveOnly: true, Limit: 11}, 10},
		"FreeSlang":   {free, lingible.TrendQuery{Category: lingible.Slang, Limit: 10}, 10},
		"One":         {premium, lingible.TrendQuery{ActiveOnly: true, Limit: 1}, 1},
		"Premium":     {premium, lingible.TrendQuery{ActiveOnly: true, Limit: 99}, 99},
		"PremiumMost": {premium, lingible.TrendQuery{ActiveOnly: true, Limit: 100}, 100},
		"PremiumAll":  {premium, lingible.TrendQuery{Limit: 101}, 100},
		"PremiumPhrases": {premium, lingible.TrendQuery{Category: lingible.PhraseLike, ActiveOnly: true, Limit: 100},
			50},
		"PremiumCold": {premium, lingible.TrendQuery{Category: lingible.PhraseLike, Limit: 100}, 75},
		"PremiumNone": {premium, lingible.TrendQuery{Category: lingible.Meme, Limit: 100}, 0},
	} {
		got, err := trends.Trends(t.Context(), test.caller, test.query)
		if err != nil || len(got) != test.want {
			t.Errorf("%s: got %d, %v; want %d", name, len(got), err, test.want)
			continue
		}
		if test.caller == free {
			test.query.Category = lingible.Slang
		}
		test.query.Limit = test.want
		checkShown(t, all, test.query, got)
		if !slices.IsSortedFunc(got, func(a, b lingible.Trend) int {
			return cmp.Or(cmp.Compare(b.Popularity, a.Popularity), strings.Compare(a.Term, b.Term))
		}) {
			t.Errorf("%s: got the order %+v", name, got)
		}
	}
	for _, category := range lingible.TrendCategories()[1:] {
		if _, err := trends.Trends(t.Context(), free,
			lingible.TrendQuery{Category: category, Limit: 1}); !is[*lingible.SubscriptionError](err) {
			t.Errorf("%s: got %v", category, err)
		}
	}
}
