package rubric_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity/rubric"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/scenarios"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// A figure of a careful answer that is replaced by another one of its size is hardly ever called right.
func TestInventedFigures(t *testing.T) {
	t.Parallel()
	all := must.Get(scenarios.Initial())(t)
	random := rand.New(rand.NewPCG(1, 2))
	called, invented := 0, 0
	sets := readJudged(t, false)
	for _, scenario := range all {
		for _, set := range sets[scenario.ID] {
			if !slices.Contains([]string{"good", "simple-english", "short-exact"}, set.Kind) {
				continue
			}
			for _, q := range scenario.Questions {
				c, n := invent(scenario, set.Answers[q.ID], random)
				called, invented = called+c, invented+n
			}
		}
	}
	t.Logf("of %d invented figures %d are called right", invented, called)
	if invented < 500 || 40*called > invented {
		t.Errorf("got %d of %d, want one in forty at most", called, invented)
	}
}

// invent replaces each figure of an answer that the scenario has not by others of its size, and returns how many of
// these the rubric calls right.
func invent(scenario clarity.Scenario, answer string, random *rand.Rand) (called, invented int) {
	for _, at := range numeral.FindAllStringIndex(answer, -1) {
		text := strings.ReplaceAll(answer[at[0]:at[1]], ",", "")
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || value < 5 && value == math.Trunc(value) || strings.Contains(scenario.Description,
			answer[at[0]:at[1]]) {
			continue
		}
		_, decimals, _ := strings.Cut(text, ".")
		for range 10 {
			other := strconv.FormatFloat(value*(0.6+random.Float64()), 'f', len(decimals), 64)
			given, _ := strconv.ParseFloat(other, 64)
			if math.Abs(given-value) <= 0.05*value || strings.Contains(scenario.Description, other) {
				continue
			}
			invented++
			text := answer[:at[0]] + other + answer[at[1]:]
			if slices.ContainsFunc(rubric.CalledRight(scenario, text), func(c rubric.Called) bool {
				return c.Value == given && strings.Contains(c.Sentence, other)
			}) {
				called++
			}
		}
	}
	return called, invented
}
