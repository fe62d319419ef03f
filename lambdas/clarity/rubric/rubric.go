// Package rubric is the embedded evaluator: it judges the answers of an attempt by the rules of
// docs/platforms/clarity.md, without a network or a model. The same answers always get the same judgement.
package rubric

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// ModelID is the ModelID of every judgement of the rubric. It changes with the rules.
const ModelID = "onesynth.rubric-3"

// Evaluate judges the answers in time linear in their length. It is a [service.Evaluator], and returns the error of the
// context and no other.
//
// [service.Evaluator]: https://pkg.go.dev/github.com/onesynth-cdk/onesynth/lambdas/clarity#Evaluator
func Evaluate(ctx context.Context, scenario clarity.Scenario, answers []clarity.Answer) (clarity.Judgement,
	error) {
	texts := []string{scenario.Title, scenario.Description}
	for _, q := range scenario.Questions {
		texts = append(texts, q.Text)
	}
	r := newReader(texts...)
	r.marking = markingOf(scenario)
	var read []*answer
	var all tally
	var how manner
	certain := 0
	for _, given := range answers {
		if err := ctx.Err(); err != nil {
			return clarity.Judgement{}, err
		}
		a := r.answer(given.Text)
		text := given.QuestionText
		if q := slices.IndexFunc(scenario.Questions, func(q clarity.Question) bool {
			return q.ID == given.QuestionID
		}); q >= 0 {
			text, a.focus = scenario.Questions[q].Text, scenario.Questions[q].FocusAreas
		}
		a.asked = newReader(text).source
		a.mark(r.marking, given.QuestionID)
		all.add(a.tally)
		certain += a.certain()
		how.add(given.Text)
		read = append(read, a)
	}
	if how.isCertain() {
		certain += manyCertain
	}
	counts := false
	var found []judged
	for i, a := range read {
		a.isMadeUp, a.allCertain = a.tally.isMadeUp() || all.isMadeUp(), certain
		counts = counts || len(a.sentences) > 0
		findings := a.judge()
		found = append(found, judged{number: i + 1, focus: a.focus, findings: findings, substance: a.worth(),
			isMarked: a.wanted > 0})
	}
	j := clarity.Judgement{ModelID: ModelID}
	others := unasked(found)
	for _, d := range clarity.Dimensions() {
		j.Dimensions = append(j.Dimensions, score(d, found, others))
	}
	j.Feedback = feedback(j.Dimensions, counts)
	return j, ctx.Err()
}

// judged is what the rules say of one answer.
type judged struct {
	number int
	focus  []clarity.Dimension
	// substance is what the answer is worth ([answer.worth]).
	substance int
	findings  map[clarity.Dimension]finding
	// isMarked says that the scenario's author says what a good answer names.
	isMarked bool
}

// focusWeight is the weight of an answer to a question whose focus areas name the dimension; another has 1.
const focusWeight = 3

// isWantedEverywhere says that a dimension is wanted in each answer, whatever its question asks.
func isWantedEverywhere(d clarity.Dimension) bool {
	return d == clarity.ClarityOfThought || d == clarity.Relevance
}

// unasked is the score of a dimension that no question asks for: the mean of those that questions ask for, rounded
// down.
func unasked(answers []judged) int {
	sum, n := 0, 0
	for _, a := range answers {
		for _, d := range a.focus {
			sum, n = sum+min(a.findings[d].score, a.substance), n+1
		}
	}
	return sum / max(n, 1)
}

// leastSigns is how many signs of a dimension the rules need to judge it.
const leastSigns = 2

// score makes the score of the attempt from the scores of its answers. Of a dimension that no question asks for, others
// is the least that the attempt gets.
func score(d clarity.Dimension, answers []judged, others int) clarity.DimensionScore {
	sum, weights, best, signs, isMarked := 0, 0, 0, 0, false
	everywhere := isWantedEverywhere(d)
	for _, a := range answers {
		s, weight := a.findings[d].score, 1
		signs, isMarked = signs+a.findings[d].signs, isMarked || a.isMarked
		if slices.Contains(a.focus, d) {
			weight = focusWeight
		}
		if everywhere || weight == focusWeight {
			sum, weights = sum+weight*s, weights+weight
		} else {
			best = max(best, s)
		}
	}
	// Half a point of the weights rounds up: (2·sum + weights) / (2·weights).
	total := best
	if signs < leastSigns || isMarked {
		total = max(best, others)
	}
	if weights > 0 {
		total = (2*sum + weights) / (2 * weights)
		if !everywhere && best*weights > sum {
			mean := 4 * weights
			total = max(total, (2*(3*sum+best*weights)+mean)/(2*mean))
		}
	}
	made := clarity.DimensionScore{Name: d, Score: total, Uncertain: signs < leastSigns}
	var first []string
	if made.Uncertain {
		first = append(first, "The rules cannot judge this: they found fewer than two signs of it.")
	}
	if weights == 0 && total > best {
		first = append(first, "No question asks for it: the score is the mean of what the questions ask for.")
	}
	made.Rationale = reasons(d, answers, first)
	return made
}

// reasons returns the first ones, what speaks for the dimension in the best answer, and what is missing in the weakest.
func reasons(d clarity.Dimension, answers []judged, all []string) []string {
	if len(answers) == 0 {
		return []string{"There is no answer."}
	}
	by := func(a, b judged) int { return a.findings[d].score - b.findings[d].score }
	best, weakest := slices.MaxFunc(answers, by), slices.MinFunc(answers, by)
	add := func(a judged, rules []string, most int) {
		for _, rule := range rules[:min(len(rules), most)] {
			if len(answers) > 1 {
				rule = fmt.Sprintf("Answer %d: %s", a.number, rule)
			}
			all = append(all, rule)
		}
	}
	add(best, best.findings[d].met, 3)
	add(weakest, weakest.findings[d].missed, clarity.MaxReasons-len(all))
	if len(all) == 0 {
		all = append(all, "Meets every rule of this dimension.")
	}
	return all
}

// advice is what to try next in each dimension.
var advice = map[clarity.Dimension]string{
	clarity.ClarityOfThought: "open with your view, and build three short sentences on it.",
	clarity.Relevance:        "tie each sentence to a particular of the scenario and to what the question asks.",
	clarity.Logic:            "give each claim a reason that says something new, and weigh one objection.",
	clarity.Evidence:         "use a figure of the scenario, and say which data you would ask for from whom.",
	clarity.Assumptions:      "name two things that the argument takes for granted, and say how each may fail.",
	clarity.Alternatives:     "offer two other explanations, and say what would tell them apart.",
	clarity.Quantitative:     "compute with the figures: a difference, a rate, or a range.",
	clarity.Humility:         "say which claim you cannot be sure of, why, and what would change your mind.",
}

// feedback names the strongest dimension, the weakest, and what to try next. Of equals, the first counts.
func feedback(scores []clarity.DimensionScore, counts bool) string {
	const byRules = " Rules have judged this, and they understand nothing: a reader may see it otherwise."
	if !counts {
		return "The rules found no English sentence that says something of its own about the scenario, and they " +
			"score nothing else. Next, answer the question in whole sentences, in your own words and with " +
			"particulars of the scenario." + byRules
	}
	by := func(a, b clarity.DimensionScore) int { return a.Score - b.Score }
	best, weakest := slices.MaxFunc(scores, by), slices.MinFunc(scores, by)
	if best.Score == weakest.Score {
		return fmt.Sprintf("Every dimension scores %d of %d. Next, %s", best.Score, clarity.MaxScore,
			advice[clarity.Logic]) + byRules
	}
	return fmt.Sprintf("Your strongest dimension is %s (%d of %d). %s The weakest is %s (%d of %d). Next, %s",
		best.Name, best.Score, clarity.MaxScore, strings.TrimSuffix(best.Rationale[0], ".")+".", weakest.Name,
		weakest.Score, clarity.MaxScore, advice[weakest.Name]) + byRules
}

// longestExcerpt bounds what a reason quotes, in characters.
const longestExcerpt = 80

// excerpt returns the start of a text on one line, up to the end of a word.
func excerpt(text string) string {
	runes := []rune(strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " "))
	if len(runes) <= longestExcerpt {
		return string(runes)
	}
	cut := longestExcerpt
	for i := cut; i > cut/2; i-- {
		if runes[i] == ' ' {
			cut = i
			break
		}
	}
	return string(runes[:cut]) + "…"
}
