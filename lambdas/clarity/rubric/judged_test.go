package rubric_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity/rubric"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/scenarios"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// answerSet is a set of answers to all questions of a scenario, by a writer who knew neither rules nor words.
type answerSet struct {
	Kind string
	// Merit is what a careful teacher would give, 0 to 10.
	Merit   int
	Answers map[string]string
	// Wrong are the figures of the answers that do not come out.
	Wrong []string
}

// readJudged returns the sets of one half, by their scenarios. The other half stays unread.
func readJudged(t *testing.T, unseen bool) map[string][]answerSet {
	t.Helper()
	files := must.Get(filepath.Glob("testdata/judged/*.json"))(t)
	all := map[string][]answerSet{}
	for _, file := range files {
		data := must.Get(os.ReadFile(file))(t)
		var read struct {
			Scenario string
			Unseen   bool
			Sets     []answerSet
		}
		if err := json.Unmarshal(data, &read); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if read.Unseen == unseen {
			all[read.Scenario] = read.Sets
		}
	}
	return all
}

// judgedFigures say how well the rubric does on the sets of one half.
type judgedFigures struct {
	// tau is Kendall's tau-b of the merits and the scores of all sets.
	tau float64
	// scores are those of the sets, by kind and scenario.
	scores map[string]map[string]int
	// called are the made-up figures that the rubric calls right, of wrong ones.
	called, wrong int
}

var numeral = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// judgeSets judges the sets of one half.
func judgeSets(t *testing.T, sets map[string][]answerSet) (f judgedFigures) {
	t.Helper()
	initial := must.Get(scenarios.Initial())(t)
	var merits, scores []int
	f.scores = map[string]map[string]int{}
	for _, scenario := range initial {
		for _, set := range sets[scenario.ID] {
			var answers []string
			var called []rubric.Called
			for _, q := range scenario.Questions {
				answers = append(answers, set.Answers[q.ID])
				called = append(called, rubric.CalledRight(scenario, set.Answers[q.ID])...)
			}
			score := judge(t, scenario, answers...).OverallScore()
			merits, scores = append(merits, set.Merit), append(scores, score)
			if f.scores[set.Kind] == nil {
				f.scores[set.Kind] = map[string]int{}
			}
			f.scores[set.Kind][scenario.ID] = score
			for _, wrong := range set.Wrong {
				f.wrong++
				if slices.ContainsFunc(called, func(c rubric.Called) bool { return isOf(c, wrong) }) {
					f.called++
				}
			}
		}
	}
	f.tau = tauB(merits, scores)
	return f
}

// isOf reports whether a figure that is called right is one of a made-up computation: what it gives, if it says so.
func isOf(c rubric.Called, wrong string) bool {
	if !strings.Contains(c.Sentence, wrong) {
		return false
	}
	if _, given, ok := strings.Cut(wrong, "="); ok {
		wrong = given
	}
	return slices.ContainsFunc(numeral.FindAllString(wrong, -1),
		func(text string) bool {
			value, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
			return err == nil && value == c.Value
		})
}

// tauB is Kendall's tau-b: 1 if two rankings agree, 0 if they have nothing to do with each other.
func tauB(a, b []int) float64 {
	agree, untiedA, untiedB := 0, 0, 0
	for i := range a {
		for j := range i {
			x, y := cmp.Compare(a[i], a[j]), cmp.Compare(b[i], b[j])
			agree, untiedA, untiedB = agree+x*y, untiedA+x*x, untiedB+y*y
		}
	}
	return float64(agree) / math.Sqrt(float64(untiedA)*float64(untiedB))
}

// mean is the mean score of a kind.
func (f judgedFigures) mean(kind string) float64 {
	sum := 0
	for _, score := range f.scores[kind] {
		sum += score
	}
	return float64(sum) / float64(max(len(f.scores[kind]), 1))
}

// within counts the scenarios in which a kind scores at most so many points more than another.
func (f judgedFigures) within(kind, other string, points int) (n int) {
	for scenario, score := range f.scores[kind] {
		if score <= f.scores[other][scenario]+points {
			n++
		}
	}
	return n
}

// Three writers wrote the sets from the texts of the scenarios, before the rules were as they are. No one looks at a
// text of the unseen half, or changes a rule by its figures.
func TestJudged(t *testing.T) {
	t.Parallel()
	for half, unseen := range map[string]bool{"seen": false, "unseen": true} {
		t.Run(half, func(t *testing.T) {
			t.Parallel()
			sets := readJudged(t, unseen)
			if len(sets) < 3 {
				t.Fatalf("got sets of %d scenarios, want 3 or more", len(sets))
			}
			f := judgeSets(t, sets)
			t.Logf("%+v", f)
			n, nonsense := len(f.scores["good"]), slices.Max(slices.Collect(maps.Values(f.scores["nonsense"])))
			for reach, holds := range map[string]bool{
				"tau-b is 0.70 or more":                         f.tau >= 0.70,
				"certain and wrong is 5 above mediocre at most": 6*f.within("confidently-wrong", "mediocre", 5) >= 5*n,
				"certain and wrong is 15 below good or more":    f.within("confidently-wrong", "good", -15) == n,
				"simple English is 12 below good at most":       6*f.within("good", "simple-english", 12) >= 5*n,
				"3 % of made-up figures are right at most":      100*f.called <= 3*f.wrong && f.wrong >= 50,
				"good answers have 65 or more on average":       f.mean("good") >= 65,
				"nonsense has 20 at most":                       nonsense <= 20,
				"short and exact is above mediocre":             f.mean("short-exact") > f.mean("mediocre"),
				"made-up is below mediocre":                     f.within("made-up-figures", "mediocre", -1) == n,
			} {
				if !holds {
					t.Errorf("it does not hold that %s: %+v", reach, f)
				}
			}
		})
	}
}
