package rubric_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// Short answers in plain English are told apart, and both marks can be believed. The second file was written before the
// rules were, and shows its totals alone, so that nothing is tuned on it.
func TestPlainAnswers(t *testing.T) {
	t.Parallel()
	for _, half := range []string{"tuned", "held-out"} {
		sum, n, covered := map[string]int{}, map[string]int{}, map[string]bool{}
		good, ranked := 0, 0
		for _, text := range read(t, "testdata/plain-"+half+".md") {
			j := judge(t, text.scenario, text.answer)
			score := j.OverallScore()
			sum[text.label], n[text.label], covered[text.scenario.ID] = sum[text.label]+score, n[text.label]+1, true
			if text.label == "Good" {
				good = score
			} else if good > score {
				ranked++
			}
			if half == "tuned" {
				t.Logf("%s %s, %s: %v\n%s\n%s", text.scenario.ID, text.scenario.Questions[0].ID, text.label,
					text.scenario.Questions[0].FocusAreas, text.answer, explain(j))
			}
		}
		if n["Good"] < 20 || n["Poor"] != n["Good"] || len(covered) < 12 {
			t.Fatalf("%s: got %v answers about %d scenarios; want 20 of both and 12", half, n, len(covered))
		}
		mean := func(label string) float64 { return float64(sum[label]) / float64(n[label]) }
		t.Logf("%s: %d of %d ranked right; good ones have %.1f on average, poor ones %.1f", half, ranked, n["Good"],
			mean("Good"), mean("Poor"))
		if mean("Good") < 55 || mean("Poor") > 20 || 10*ranked < 8*n["Good"] {
			t.Errorf("%s: got good %.1f, poor %.1f and %d ranked right; want 55 at least, 20 at most and eight in ten",
				half, mean("Good"), mean("Poor"), ranked)
		}
	}
}

// Nonsense, stuffing and copies score below 20, also where they are shaped to the rules.
func TestNonsense(t *testing.T) {
	t.Parallel()
	var all []text
	for _, half := range []string{"tuned", "held-out"} {
		texts := read(t, "testdata/nonsense-"+half+".md")
		if len(texts) < 6 {
			t.Errorf("%s: got %d texts, want 6", half, len(texts))
		}
		all = append(all, texts...)
	}
	for _, text := range append(all, read(t, "testdata/cheats.md")...) {
		if j := judge(t, text.scenario, text.answer); j.OverallScore() >= 20 {
			t.Errorf("%s, %s: got %d, want less than 20\n%s", text.scenario.Title, text.label, j.OverallScore(),
				explain(j))
		}
	}
}

// A reason of what is missing says that the rules found none, never that there is none, and a figure is never denied.
func TestReasonsClaimWhatWasSeen(t *testing.T) {
	t.Parallel()
	var all []text
	for _, file := range []string{"plain-tuned", "nonsense-tuned"} {
		all = append(all, read(t, "testdata/"+file+".md")...)
	}
	denial := regexp.MustCompile(`^(Answer \d: )?(No|Nothing|Most|Much|Few|Sentences|Some) `)
	for _, text := range all {
		j := judge(t, text.scenario, text.answer)
		for _, d := range j.Dimensions {
			for _, reason := range d.Rationale {
				if denial.MatchString(reason) && !strings.HasPrefix(reason, "No question asks for it") {
					t.Errorf("%s, %s: got the reason %q", text.scenario.ID, d.Name, reason)
				}
			}
			says := slices.ContainsFunc(d.Rationale, func(r string) bool {
				return strings.HasPrefix(r, "The rules cannot judge this")
			})
			if d.Uncertain != says {
				t.Errorf("%s, %s: got uncertain %v and the reasons %q", text.scenario.ID, d.Name, d.Uncertain,
					d.Rationale)
			}
		}
	}
	for answer, want := range map[string]struct {
		id, question string
		least        int
	}{
		"Three of 240 bridges have a crack; 95 percent of these give 2.85 alarms. Of 237 sound ones 5 percent give " +
			"11.85. So about 3 of some 15 alarms are real.": {"bridge-alarms", "q1", 2},
		"Per day it is 150 coffees in February and 165 in March, so the true rise is 10 percent, not 21.": {
			"cafe-loyalty-card", "q1", 2},
	} {
		at := slices.IndexFunc(all, func(t text) bool {
			return t.scenario.ID == want.id && t.scenario.Questions[0].ID == want.question
		})
		d := scoreOf(judge(t, all[at].scenario, answer), clarity.Quantitative)
		if d.Score < want.least || !slices.ContainsFunc(d.Rationale, func(r string) bool {
			return strings.Contains(r, "Computes a figure that comes out (")
		}) {
			t.Errorf("%s: got %d, %q; want a figure that comes out", answer, d.Score, d.Rationale)
		}
	}
}

// Of a dimension that the rules saw too little of, they say so. If no question asks for it, it is no bad mark: its
// score is that of what the questions ask for.
func TestUncertain(t *testing.T) {
	t.Parallel()
	for _, text := range read(t, "testdata/plain-tuned.md") {
		if text.scenario.ID != "polar-station-fuel" || text.scenario.Questions[0].ID != "q1" || text.label != "Good" {
			continue
		}
		j := judge(t, text.scenario, text.answer)
		if d := scoreOf(j, clarity.Assumptions); !d.Uncertain || d.Score < 2 {
			t.Errorf("got %+v, want it uncertain, with the score of the dimensions that the question asks for", d)
		}
		if d := scoreOf(j, clarity.Quantitative); d.Uncertain {
			t.Errorf("got %+v, want it certain", d)
		}
		return
	}
	t.Error("the answer is gone")
}
