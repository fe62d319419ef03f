package clarity_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/platforms/clarity/profiletest"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

var noon = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

// ofDefinitions leaves out what a recomputation from the definitions does not have.
var ofDefinitions = cmpopts.IgnoreFields(clarity.Profile{}, "Recommendations")

// add adds an attempt to a user's profiles, oldest first.
func add(t rapid.TB, all []clarity.Profile, attempt clarity.Attempt) []clarity.Profile {
	at := len(all)
	for i, p := range all {
		order := strings.Compare(p.Timestamp.String(), attempt.Evaluation.EvaluatedAt.String())
		if order > 0 || order == 0 && p.AttemptID > attempt.ID {
			at = i
			break
		}
	}
	var preceding clarity.Profile
	if at > 0 && at == len(all) {
		preceding = all[at-1]
	}
	made := must.Get(clarity.AddAttempt(attempt, preceding, all[at:]))(t)
	return append(slices.Clone(all[:at]), made...)
}

// profileOf is the latest profile of attempts with these scores in the first dimension, and 0 in the
// others.
func profileOf(t *testing.T, scores ...int) clarity.Profile {
	t.Helper()
	var all []clarity.Profile
	for i, score := range scores {
		all = add(t, all, profiletest.Attempt("ada", fmt.Sprint(i), noon.Add(time.Duration(i)*time.Minute), score))
	}
	return all[len(all)-1]
}

// Profiles are what the definitions say, for any history and any order in which its attempts come.
func TestProfilesAreAsDefined(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var attempts []clarity.Attempt
		// Scores go up or down in a part of the histories.
		slope := rapid.IntRange(-1, 1).Draw(r, "slope")
		for i := range rapid.IntRange(1, 30).Draw(r, "attempts") {
			scores := rapid.SliceOfN(rapid.IntRange(0, 4), 8, 8).Draw(r, "scores")
			if slope != 0 {
				scores[i%8] = max(0, min(4, 2+slope*(i-8)/4))
			}
			at := noon.Add(time.Duration(rapid.IntRange(0, 40).Draw(r, "at")) * time.Millisecond)
			attempts = append(attempts, profiletest.Attempt("ada", fmt.Sprint("attempt ", i), at, scores...))
		}
		var all []clarity.Profile
		for _, attempt := range rapid.Permutation(attempts).Draw(r, "order") {
			all = add(r, all, attempt)
		}
		if diff := cmp.Diff(profiletest.Profiles(attempts), all, ofDefinitions); diff != "" {
			r.Fatalf("profiles (-defined +got):\n%s", diff)
		}
		for _, p := range all {
			if len(p.Recommendations) != len(p.Weaknesses) {
				r.Fatalf("%d recommendations for %d weaknesses", len(p.Recommendations), len(p.Weaknesses))
			}
		}
	})
}

func TestTrend(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		scores []int
		want   clarity.Trend
	}{
		"one attempt":            {[]int{4}, clarity.Stable},
		"two rise":               {[]int{0, 4}, clarity.Stable},
		"three rise":             {[]int{0, 0, 1}, clarity.Improving},
		"three fall":             {[]int{1, 0, 0}, clarity.Declining},
		"three turn":             {[]int{1, 4, 1}, clarity.Stable},
		"0.05 is stable":         {[]int{0, 0, 0, 0, 0, 0, 0, 1, 0}, clarity.Stable},
		"over 0.05":              {[]int{0, 0, 0, 0, 0, 0, 0, 0, 1}, clarity.Improving},
		"-0.05 is stable":        {[]int{0, 1, 0, 0, 0, 0, 0, 0, 0}, clarity.Stable},
		"under -0.05":            {[]int{1, 0, 0, 0, 0, 0, 0, 0, 0}, clarity.Declining},
		"0.0545 of ten":          {[]int{0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, clarity.Improving},
		"0.0424 of ten":          {[]int{0, 0, 0, 0, 0, 0, 0, 0, 1, 0}, clarity.Stable},
		"the eleventh is out":    {[]int{4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, clarity.Stable},
		"the eleventh is in ten": {[]int{4, 0, 0, 0, 0, 0, 0, 0, 0, 0}, clarity.Declining},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := profileOf(t, test.scores...)
			if got := p.Dimensions[0]; got.Trend != test.want ||
				!slices.Equal(got.RecentScores, test.scores[max(0, len(test.scores)-10):]) ||
				p.AttemptCount != len(test.scores) {
				t.Errorf("got %s of %v, attempt %d; want %s", got.Trend, got.RecentScores, p.AttemptCount, test.want)
			}
		})
	}
}

func TestWeaknessesAndImprovements(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		scores                   [][]int // of one attempt each
		weaknesses, improvements string
	}{
		"the lowest three of eight equal ones": {[][]int{{1, 1, 1, 1, 1, 1, 1, 1}},
			"clarity 1 0, relevance 1 0, logic 1 0", ""},
		"lowest first": {[][]int{{3, 1, 3, 0, 3, 3, 3, 3}}, "evidence 0 -2.375, relevance 1 -1.375",
			""},
		"2.0 is not under 2.0":           {[][]int{{4, 4, 4, 4, 4, 4, 2, 4}}, "quantitative-reasoning 2 -1.75", ""},
		"the first of equal lowest ones": {[][]int{{4, 4, 3, 3, 4, 4, 4, 3}}, "logic 3 -0.625", ""},
		"all at the top":                 {[][]int{{4, 4, 4, 4, 4, 4, 4, 4}}, "clarity 4 0", ""},
		"an average just under": {[][]int{{4, 4, 4, 4, 4, 4, 4, 2}, {4, 4, 4, 4, 4, 4, 4, 1},
			{4, 4, 4, 4, 4, 4, 3, 2}}, "humility-uncertainty 1.6667 -2", ""},
		"two attempts are two halves": {[][]int{{4, 4, 4, 4, 4, 4, 4, 2}, {4, 4, 4, 4, 4, 4, 4, 3}},
			"humility-uncertainty 2.5 -1.3125", "humility-uncertainty 1 2 3"},
		"the largest three, equal ones in order": {
			[][]int{{2, 2, 2, 2, 2, 2, 2, 2}, {3, 4, 2, 1, 3, 3, 2, 3}},
			"evidence 1.5 -0.8125", "relevance 2 2 4, clarity 1 2 3, assumptions 1 2 3",
		},
		"the middle one is in neither half": {
			[][]int{{3, 3, 3, 3, 3, 3, 3, 3}, {4, 4, 0, 4, 4, 4, 4, 4}, {3, 3, 4, 3, 3, 3, 3, 3}},
			"logic 2.3333 -0.875", "logic 1 3 4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all []clarity.Profile
			for i, scores := range test.scores {
				all = add(t, all, profiletest.Attempt("ada", fmt.Sprint(i), noon, scores...))
			}
			p := all[len(all)-1]
			var weaknesses, improvements []string
			for _, w := range p.Weaknesses {
				weaknesses = append(weaknesses, fmt.Sprint(w.Dimension, " ", w.Score, " ", w.Gap))
			}
			for _, i := range p.Improvements {
				improvements = append(improvements, fmt.Sprint(i.Dimension, " ", i.Improvement, " ", i.From, " ", i.To))
			}
			if got := strings.Join(weaknesses, ", "); got != test.weaknesses {
				t.Errorf("weaknesses: got %s; want %s", got, test.weaknesses)
			}
			if got := strings.Join(improvements, ", "); got != test.improvements {
				t.Errorf("improvements: got %s; want %s", got, test.improvements)
			}
		})
	}
}

// Each dimension has a recommendation of its own, and a profile one for each weakness, in their
// order.
func TestRecommendations(t *testing.T) {
	t.Parallel()
	seen := map[string]clarity.Dimension{}
	for i, d := range clarity.Dimensions() {
		scores := []int{3, 3, 3, 3, 3, 3, 3, 3}
		scores[i], scores[(i+1)%8] = 0, 1
		p := add(t, nil, profiletest.Attempt("ada", "1", noon, scores...))[0]
		if len(p.Recommendations) != 2 || p.Weaknesses[0].Dimension != d {
			t.Fatalf("%s: got %v for %v", d, p.Recommendations, p.Weaknesses)
		}
		text := p.Recommendations[0]
		if other, used := seen[text]; used || len(text) < 40 {
			t.Errorf("%s: got %q, as %s has", d, text, other)
		}
		seen[text] = d
	}
}

// Lists without an element are lists on the wire.
func TestEmptyListsOfAProfile(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(profileOf(t, 4))
	if err != nil || !strings.Contains(string(text), `"improvements":[]`) || strings.Contains(string(text), "null") {
		t.Errorf("got %s, %v", text, err)
	}
}

// A stored profile that is not whole is an error, and no crash.
func TestBrokenProfiles(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*clarity.Profile){
		"no dimensions":     func(p *clarity.Profile) { p.Dimensions = nil },
		"no overall scores": func(p *clarity.Profile) { p.RecentOverallScores = nil },
		"a score less":      func(p *clarity.Profile) { p.Dimensions[3].RecentScores = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := profileOf(t, 1, 2, 3)
			spoil(&p)
			attempt := profiletest.Attempt("ada", "x", noon)
			if _, err := clarity.AddAttempt(attempt, p, nil); err == nil {
				t.Error("it may precede")
			}
			if _, err := clarity.AddAttempt(attempt, clarity.Profile{}, []clarity.Profile{p}); err == nil {
				t.Error("it may follow")
			}
		})
	}
}

func TestCheckEvaluated(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(*clarity.Attempt)
		want  string
	}{
		"OK":              {func(*clarity.Attempt) {}, ""},
		"ErrNoID":         {func(a *clarity.Attempt) { a.ID = "" }, "attemptId"},
		"ErrNoUser":       {func(a *clarity.Attempt) { a.UserID = "" }, "userId"},
		"ErrNoEvaluation": {func(a *clarity.Attempt) { a.Evaluation = nil }, "evaluation"},
		"ErrNoMoment":     {func(a *clarity.Attempt) { a.Evaluation.EvaluatedAt = wire.Time{} }, "evaluatedAt"},
		"ErrOverallScore": {func(a *clarity.Attempt) { a.Evaluation.OverallScore = 101 }, "overallScore"},
		"ErrScore":        {func(a *clarity.Attempt) { a.Evaluation.Dimensions[2].Score = 5 }, "logic"},
		"ErrDimensions": {func(a *clarity.Attempt) {
			a.Evaluation.Dimensions = a.Evaluation.Dimensions[1:]
		}, "7 dimensions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			attempt := profiletest.Attempt("ada", "1", noon)
			test.spoil(&attempt)
			if err := attempt.CheckEvaluated(); (err == nil) != (test.want == "") ||
				err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v; want %q", err, test.want)
			}
		})
	}
}

// The example in docs/platforms/clarity.md was computed by hand.
func TestProfileByHand(t *testing.T) {
	t.Parallel()
	document := must.Get(os.ReadFile("../../docs/platforms/clarity.md"))(t)
	// The scores are read from the document; all else is compared with it.
	scores := make([][]int, 5)
	for _, d := range clarity.Dimensions() {
		_, row, _ := strings.Cut(string(document), "\n| "+string(d)+" | ")
		var of [5]int
		if _, err := fmt.Sscanf(row, "%d %d %d %d %d |", &of[0], &of[1], &of[2], &of[3], &of[4]); err != nil {
			t.Fatalf("%s: %v", d, err)
		}
		for i, score := range of {
			scores[i] = append(scores[i], score)
		}
	}
	var all []clarity.Profile
	for i, of := range scores {
		all = add(t, all, profiletest.Attempt("ada", fmt.Sprint(i), noon, of...))
	}
	p := all[4]
	gaps := map[clarity.Dimension]float64{}
	for _, w := range p.Weaknesses {
		gaps[w.Dimension] = w.Gap
	}
	for _, d := range p.Dimensions {
		want := fmt.Sprintf("| %s | %s | %v | %v | %s |", d.Name, strings.Trim(fmt.Sprint(d.RecentScores), "[]"),
			d.MovingAverage, d.StandardDeviation, d.Trend)
		if gap, ok := gaps[d.Name]; ok {
			want += fmt.Sprintf(" %v |", gap)
		}
		if !strings.Contains(string(document), want) {
			t.Errorf("the document does not have %s", want)
		}
	}
	overall := p.RecentOverallScores
	for _, want := range []string{
		fmt.Sprintf("overall scores %d, %d, %d, %d and %d, which are %v on average", overall[0], overall[1], overall[2],
			overall[3], overall[4], p.OverallAverage),
		fmt.Sprintf("Weaknesses: %s, %s, %s.", p.Weaknesses[0].Dimension, p.Weaknesses[1].Dimension,
			p.Weaknesses[2].Dimension),
		fmt.Sprintf("Improvements: %s from %v to %v, %s from %v to %v, %s from %v to %v.",
			p.Improvements[0].Dimension, p.Improvements[0].From, p.Improvements[0].To, p.Improvements[1].Dimension,
			p.Improvements[1].From, p.Improvements[1].To,
			p.Improvements[2].Dimension, p.Improvements[2].From, p.Improvements[2].To),
	} {
		if !strings.Contains(string(document), want) {
			t.Errorf("the document does not have %q", want)
		}
	}
}
