package lingible_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

var morning = time.Date(2026, 2, 2, 6, 0, 0, 0, time.UTC)

const week = 7 * 24 * time.Hour

// A score follows from heat, which follows from new uses and from the time that has passed.
func TestScored(t *testing.T) {
	t.Parallel()
	type trend = lingible.CountedTrend
	proposal := func(popularity float64) *lingible.ProposedTrend {
		return &lingible.ProposedTrend{Term: "rizz", Definition: "Charm", Category: lingible.Slang,
			Popularity: popularity}
	}
	for name, test := range map[string]struct {
		before   trend
		proposed *lingible.ProposedTrend
		heat     float64
		score    float64
		active   bool
		uses     int
	}{
		"Nothing": {before: trend{LastUpdated: morning}},
		"Use": {before: trend{Translations: 1, LastUpdated: morning}, heat: 1, score: 2, active: true,
			uses: 1},
		"LookUp": {before: trend{LookUps: 1, LastUpdated: morning}, heat: 2, score: 3.8, active: true, uses: 2},
		"Counted": {before: trend{Translations: 7, LookUps: 1, CountedUses: 9, Heat: 4, LastUpdated: morning},
			heat: 4, score: 7.4, active: true, uses: 9},
		"Half": {before: trend{Translations: 60, CountedUses: 10, LastUpdated: morning}, heat: 50, score: 50,
			active: true, uses: 60},
		"Hot": {before: trend{Heat: 1e6, LastUpdated: morning}, heat: 1e6, score: 100, active: true},
		"AWeekLater": {before: trend{Heat: 100, LastUpdated: morning.Add(-week)}, heat: 50, score: 50,
			active: true},
		"UseAWeekAgo": {before: trend{Heat: 1, LastUpdated: morning.Add(-week)}, heat: 0.5, score: 1, active: true},
		"UseBefore":   {before: trend{Heat: 1, LastUpdated: morning.Add(-week - time.Second)}, heat: 0.5, score: 1},
		"YearsAgo":    {before: trend{Heat: 1000, LastUpdated: morning.Add(-200 * week)}},
		"FasterClock": {before: trend{Heat: 8, LastUpdated: morning.Add(time.Hour)}, heat: 8, score: 13.8,
			active: true},
		"Proposed": {proposed: proposal(71.25), score: 71.3, active: true},
		"ProposedLess": {before: trend{Translations: 50, LastUpdated: morning}, proposed: proposal(49.9), heat: 50,
			score: 50, active: true, uses: 50},
		"ProposedMore": {before: trend{Translations: 50, LastUpdated: morning}, proposed: proposal(50.1), heat: 50,
			score: 50.1, active: true, uses: 50},
		"ProposedByHalf": {proposed: proposal(0.5), score: 0.5, active: true},
		"ProposedWrong":  {proposed: proposal(-3), active: true},
		"ProposedBeyond": {proposed: proposal(300), score: 100, active: true},
	} {
		got := test.before.Scored(morning, test.proposed)
		if math.Abs(got.Heat-test.heat) > 1e-5 || got.Popularity != test.score || got.IsActive != test.active ||
			got.CountedUses != test.uses {
			t.Errorf("%s: got %+v", name, got)
		}
		if test.proposed != nil && got.Term != "rizz" || got.LastUpdated.Before(morning) ||
			got.LastUpdated.Before(test.before.LastUpdated) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// The heat depends on the uses and on time, and not on how often a trend is scored.
func TestScoredAnyOften(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		heat := rapid.Float64Range(0, 1e6).Draw(t, "heat")
		often := lingible.CountedTrend{Heat: heat, LastUpdated: morning}
		once := often
		var last time.Time
		for _, minutes := range rapid.SliceOfN(rapid.IntRange(0, 20_000), 1, 10).Draw(t, "pauses") {
			last = often.LastUpdated.Add(time.Duration(minutes) * time.Minute)
			often = often.Scored(last, nil)
			if again := often.Scored(last, nil); again != often {
				t.Fatalf("again: got %+v, want %+v", again, often)
			}
		}
		once = once.Scored(last, nil)
		if math.Abs(often.Heat-once.Heat) > 1e-6+1e-9*heat || math.Abs(often.Popularity-once.Popularity) > 0.11 {
			t.Fatalf("got %+v, and at once %+v", often, once)
		}
		uses := rapid.IntRange(0, 1000).Draw(t, "uses")
		more := once
		more.Translations += uses
		if got := more.Scored(last, nil); got.Heat != once.Heat+float64(uses) || got.Popularity < once.Popularity ||
			got.Popularity > 100 {
			t.Fatalf("%d more uses: got %+v after %+v", uses, got, once)
		}
	})
}
