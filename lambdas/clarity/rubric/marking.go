package rubric

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity/scenarios"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// pattern is a pattern of a scenario's marking ([scenarios.Marking]): groups of phrases. A phrase is its words.
type pattern [][][]word

// denied is the phrase that stands for a denial.
const denied = "DENIED"

// newPattern reads a pattern.
func newPattern(text string) (p pattern) {
	for group := range strings.SplitSeq(text, "+") {
		var phrases [][]word
		for phrase := range strings.SplitSeq(group, "/") {
			var words []word
			for token := range strings.FieldsSeq(phrase) {
				if token == denied {
					words = append(words, word{stem: denied})
					continue
				}
				words = append(words, newWord(strings.ToLower(token)))
			}
			if len(words) > 0 {
				phrases = append(phrases, words)
			}
		}
		p = append(p, phrases)
	}
	return p
}

// deniable says that the pattern is of a denial.
func (p pattern) deniable() bool {
	return slices.ContainsFunc(p, func(group [][]word) bool {
		return slices.ContainsFunc(group, func(phrase []word) bool { return phrase[0].stem == denied })
	})
}

// clause is a piece of an answer for the marking.
type clause struct {
	words []word
	of    *sentence
	// negates says that it denies something, dismisses that something does not matter, and quotes that it asks,
	// supposes, or says what another says.
	negates, dismisses, quotes bool
}

// has reports whether the clause has a phrase.
func (c clause) has(phrase []word) bool {
	if phrase[0].stem == denied {
		return c.negates || c.dismisses
	}
	for i := range c.words {
		if i+len(phrase) > len(c.words) {
			return false
		}
		if startsWith(c.words[i:], phrase) {
			return true
		}
	}
	return false
}

// startsWith reports whether words begin with those of a phrase, numbers by their value.
func startsWith(words, phrase []word) bool {
	for i, w := range phrase {
		isNumber := w.kind == number || w.kind == spelledNumber
		switch {
		case isNumber && (words[i].kind == number || words[i].kind == spelledNumber) && words[i].value == w.value:
		case w.stem == "#" && w.kind != number && words[i].kind == number:
		case isNumber || words[i].stem != w.stem:
			return false
		}
	}
	return true
}

// in reports whether each group of the pattern stands in one of the clauses that may have it.
func (p pattern) in(clauses []clause, may func(clause) bool) bool {
	for _, group := range p {
		if !slices.ContainsFunc(clauses, func(c clause) bool { return may(c) && slices.ContainsFunc(group, c.has) }) {
			return false
		}
	}
	return true
}

// marking is a compiled marking.
type marking struct {
	figures          []knownFigure
	points, mistakes map[string][]pattern
}

// knownFigure is a figure that can be computed of the scenario's, with words that stand beside it.
type knownFigure struct {
	value float64
	words pattern
}

var compiled sync.Map // of markings, by the scenario's id

// markingOf returns the marking of a scenario, or nil if it has none.
func markingOf(scenario clarity.Scenario) *marking {
	written, ok := scenarios.MarkingOf(scenario)
	if !ok {
		return nil
	}
	if m, ok := compiled.Load(scenario.ID); ok {
		return m.(*marking)
	}
	m := &marking{points: map[string][]pattern{}, mistakes: map[string][]pattern{}}
	for computation, words := range written.Figures {
		if value, ok := compute(computation); ok {
			m.figures = append(m.figures, knownFigure{value, newPattern(words)})
		}
	}
	for id, texts := range written.Points {
		for _, text := range texts {
			m.points[id] = append(m.points[id], newPattern(text))
		}
	}
	for id, texts := range written.Mistakes {
		for _, text := range texts {
			m.mistakes[id] = append(m.mistakes[id], newPattern(text))
		}
	}
	compiled.Store(scenario.ID, m)
	return m
}

// mark reads an answer by the marking of its question: how many points it names of how many, and how many mistakes it
// makes.
func (a *answer) mark(m *marking, question string) {
	if m == nil || len(m.points[question]) == 0 {
		return
	}
	var clauses []clause
	for _, s := range a.all {
		if !s.isOwn || a.isStrange || a.isFramed {
			continue
		}
		for _, piece := range s.split() {
			c := clause{words: piece, of: s, quotes: slices.ContainsFunc(piece, func(w word) bool {
				return quoting[w.stem] || w.stem == "?"
			})}
			c.negates, c.dismisses = denies(piece)
			clauses = append(clauses, c)
		}
	}
	a.wanted = max(2, (2*len(m.points[question])+1)/3)
	for _, p := range m.points[question] {
		may := func(c clause) bool { return !c.dismisses }
		if p.deniable() {
			may = func(clause) bool { return true }
		}
		for i := range clauses {
			if p.in(clauses[i:min(len(clauses), i+2)], may) {
				if a.named++; a.point == nil {
					a.point = clauses[i].of
				}
				break
			}
		}
	}
	for _, p := range slices.Concat(m.mistakes[question], agreements()) {
		may := func(c clause) bool { return !c.quotes && (!c.negates || p.negates()) }
		for i := range clauses {
			if p.in(clauses[i:i+1], may) {
				a.mistakes = append(a.mistakes, clauses[i].of)
				break
			}
		}
	}
}

// agreements are patterns of consent to the speaker of a scenario: what that one concludes is wrong in each.
var agreements = sync.OnceValue(func() []pattern {
	return []pattern{newPattern(words["agreement"])}
})

// negates says that the pattern itself has a denial.
func (p pattern) negates() bool {
	return slices.ContainsFunc(p, func(group [][]word) bool {
		return slices.ContainsFunc(group, func(phrase []word) bool {
			return phrase[0].stem == denied || slices.ContainsFunc(phrase, isNegation)
		})
	})
}

// manyCertain is how many claims of full certainty, in all answers, make it their manner.
const manyCertain = 4

// manner counts the words of an answer that allow nothing else, those that do, and all.
type manner struct{ absolute, tentative, words int }

// leastManner is how many words the answers of an attempt have, at least, whose manner is looked at.
const leastManner = 150

// isCertain says that words of certainty are about as many as tentative ones, of which careful answers have more.
func (m manner) isCertain() bool { return m.words >= leastManner && 10*m.absolute >= 9*m.tentative }

// add counts the words of a text.
func (m *manner) add(text string) {
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		m.words++
		if absolutes[w] {
			m.absolute++
		}
		if tentatives[w] {
			m.tentative++
		}
	}
}

// level is what an answer is worth by its marking, from 0 to 4, or 4 without one: the points that it names, less its
// mistakes. Claims of full certainty, and figures that do not come out, lower either.
func (a *answer) level() int {
	level := 4
	if a.wanted > 0 {
		level = min(4, (4*a.named+a.wanted/2)/a.wanted) - min(len(a.mistakes), 2)
	}
	switch certain := a.certain(); {
	case certain >= 3, a.wanted > 0 && a.allCertain >= 2*manyCertain:
		level -= 2
	case a.wanted > 0 && (certain > 0 || a.allCertain >= manyCertain), certain == 2:
		level--
	}
	switch {
	case a.tally.isMadeUp():
		level = 0
	case a.isMadeUp:
		level = min(level, 1)
	}
	return max(0, level)
}

// grade lets the level of an answer raise a dimension that its question asks for, and bound each.
func (a *answer) grade(f *finding, d clarity.Dimension, isAsked bool, level int) {
	if isAsked && a.wanted > 0 && len(a.sentences) > 0 {
		f.signs = max(f.signs, leastSigns)
		least := level
		if d == clarity.ClarityOfThought {
			least = min(level, clarity.MaxScore-1)
		}
		if least > f.score && a.point != nil {
			f.score = least
			f.met = append(f.met, fmt.Sprintf("Names points that the scenario's author looks for, %d of the %d of a "+
				"good answer: “%s”", min(a.named, a.wanted), a.wanted, excerpt(a.point.text)))
		}
	}
	if f.score > level+1 {
		f.score = level + 1
		f.missed = slices.Concat(a.faults(), f.missed)
	}
}

// faults are the reasons for a low level.
func (a *answer) faults() (all []string) {
	if len(a.mistakes) > 0 {
		all = append(all, fmt.Sprintf("Has words of a claim that counts as a mistake here: “%s”",
			excerpt(a.mistakes[0].text)))
	}
	if a.isMadeUp {
		all = append(all, "The rules found more figures that do not come out, or of which they see no origin, than "+
			"figures that come out.")
	}
	if a.certain() > 0 || a.allCertain >= manyCertain {
		all = append(all, "The rules found words of full certainty.")
	}
	if a.named < a.wanted {
		all = append(all, fmt.Sprintf("The rules found %d of the %d points of a good answer that the scenario's "+
			"author looks for.", a.named, a.wanted))
	}
	return all
}

// worth is how much an answer says: its level if it has a marking, and otherwise its substance.
func (a *answer) worth() int {
	if a.wanted > 0 && len(a.sentences) > 0 {
		return a.level()
	}
	return a.substance
}

// certain counts the claims of full certainty.
func (a *answer) certain() (n int) {
	for _, s := range a.all {
		end := 0
		for _, m := range s.marks {
			if m.does&sure != 0 && m.from >= end {
				n, end = n+1, m.to
			}
		}
	}
	return n
}
