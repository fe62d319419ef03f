package rubric

import (
	"fmt"
	"math"
	"slices"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity"
)

// answer is an answer, read.
type answer struct {
	*reader
	// all are all sentences, sentences those that count.
	all, sentences []*sentence
	// total counts all words, and repeated the words of sentences that say nothing new.
	total, repeated int
	// asked are the content words of the question, and focus its focus areas.
	asked map[string]bool
	focus []clarity.Dimension
}

// those returns the sentences that count and show something.
func (a *answer) those(show func(*sentence) bool) (some []*sentence) {
	for _, s := range a.sentences {
		if show(s) {
			some = append(some, s)
		}
	}
	return some
}

// finding is the score of one dimension of an answer, and which rules it meets and misses.
type finding struct {
	score       int
	met, missed []string
}

// rule notes a rule as met or missed, and returns whether it holds.
func (f *finding) rule(holds bool, met, missed string) bool {
	if holds {
		f.met = append(f.met, met)
	} else {
		f.missed = append(f.missed, missed)
	}
	return holds
}

// point scores one if the rule holds.
func (f *finding) point(holds bool, met, missed string) bool {
	if f.rule(holds, met, missed) {
		f.score++
	}
	return holds
}

// credit notes a rule as met if a sentence shows it.
func (f *finding) credit(by []*sentence, met, missed string) bool {
	if len(by) > 0 {
		met = fmt.Sprintf("%s: “%s”", met, excerpt(by[0].text))
	}
	return f.rule(len(by) > 0, met, missed)
}

// judge scores the dimensions of an answer by the rules of docs/RUBRIC.md.
func (a *answer) judge() map[clarity.Dimension]finding {
	found := map[clarity.Dimension]finding{
		clarity.ClarityOfThought: a.clarity(), clarity.Logic: a.logic(), clarity.Evidence: a.evidence(), clarity.Assumptions: a.assumptions(),
		clarity.Alternatives: a.alternatives(), clarity.Quantitative: a.quantitative(), clarity.Humility: a.humility(),
	}
	found[clarity.Relevance] = a.relevance(slices.ContainsFunc(a.focus, func(d clarity.Dimension) bool { return d != clarity.ClarityOfThought && found[d].score >= 2 }))
	for d, f := range found {
		if 2*a.repeated > a.total {
			f.score = min(f.score, 1)
			f.missed = append([]string{"Most of the answer repeats itself, the question or the scenario."}, f.missed...)
		}
		found[d] = f
	}
	return found
}

func (a *answer) clarity() (f finding) {
	counted, pieces, longest, tied, empties, n := 0, 0, 0, 0, 0, len(a.sentences)
	for _, s := range a.all {
		empties += s.empties
	}
	for i, s := range a.sentences {
		counted, pieces, longest = counted+s.total, pieces+s.pieces, max(longest, s.total/s.pieces)
		near := slices.Concat(a.sentences[max(0, i-2):i], a.sentences[i+1:min(n, i+3)])
		if s.does&back != 0 || slices.ContainsFunc(near, func(o *sentence) bool { return shared(s.content, o.content) > 0 }) {
			tied++
		}
	}
	f.point(n > 0, "Says something of its own about the scenario.", "No sentence says something of its own about the scenario.")
	f.point(n > 0 && counted <= 26*pieces && longest <= 45, "The sentences have a readable length.", "Sentences are too long to follow, or there are none.")
	f.point(5*counted >= 4*a.total && 6*empties <= a.total, "Hardly a word is padding.", "Much of the text is repetition, filler or vague words.")
	f.point(n >= 3 && 3*tied >= 2*n, "The thought is developed over sentences that hang together.", "The thought is not developed: at least three sentences should build on each other.")
	if n < 3 {
		f.score = min(f.score, 2, 2*n)
	}
	if 2*counted < a.total {
		f.score = min(f.score, 1)
	}
	return f
}

// relevance scores by how much of the scenario an answer deals with. Served says that it does what a focus area asks for.
func (a *answer) relevance(served bool) (f finding) {
	on := a.those(func(s *sentence) bool { return s.onTopic })
	source, own, asked := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, s := range a.sentences {
		for _, c := range s.content {
			switch {
			case a.asked[c]:
				asked[c], source[c] = true, true
			case a.source[c]:
				source[c] = true
			default:
				own[c] = true
			}
		}
	}
	if !f.credit(on, "Deals with the scenario", "No sentence says something of its own about the scenario or the question.") {
		return f
	}
	f.score = 1
	if f.point(2*len(on) >= len(a.sentences) && len(source) >= 4 && len(own) >= 4, "Uses particulars of the scenario.", "Few sentences deal with the particulars of the scenario.") &&
		f.point(served || len(asked) >= 2, "Does what the question asks.", "The answer does not do what the question asks.") {
		f.point(5*len(on) >= 4*len(a.sentences) && len(source) >= 7 && len(own) >= len(source), "Stays with the scenario throughout.", "Some sentences leave the scenario, or few of its particulars are used.")
	}
	return f
}

func (a *answer) logic() (f finding) {
	var links []*sentence
	var before []string
	conditional, hang := false, false
	for _, s := range a.sentences {
		linked := false
		for _, m := range s.marks {
			if m.does&(link|condition|verb) != 0 && s.connects(m, before) {
				linked, conditional = true, conditional || m.does&condition != 0
			}
		}
		if before = s.content; linked {
			hang = hang || slices.ContainsFunc(links, func(o *sentence) bool { return shared(s.content, o.content) > 0 })
			links = append(links, s)
		}
	}
	f.score = min(len(links), 3)
	f.credit(links, "Connects a claim with a reason that says something new", "No claim is connected with a reason that says something new.")
	if f.rule(len(links) >= 3, "Three claims have reasons.", "Give more of the claims reasons.") {
		f.point(conditional && hang, "The reasons hang together, and a condition or an objection is weighed.", "No condition or objection is weighed.")
	}
	return f
}

// connects says that the mark stands between two parts, and each says something that the other does not. Before is the
// content of the sentence before.
func (s *sentence) connects(m mark, before []string) bool {
	left, right := contentOf(s.words[:m.from]), contentOf(s.from(m.to))
	if len(left) < 2 {
		left = before
		// In "because of this, that" the comma ends the first part.
		for i := m.to; i < len(s.words) && m.does&(link|condition) != 0; i++ {
			if l, r := contentOf(s.words[m.to:i]), contentOf(s.words[i:]); s.words[i].stem == "," && len(l) >= 2 && len(r) >= 2 {
				left, right = l, r
				break
			}
		}
	}
	common := shared(left, right)
	return s.fresh >= 2 && len(left) >= 2 && len(right) >= 2 && common < len(left) && common < len(right)
}

func (a *answer) evidence() (f finding) {
	known := func(n float64) bool { return slices.Contains(a.figures, n) }
	figures := a.those(func(s *sentence) bool { return len(s.own) >= 2 && slices.ContainsFunc(s.figures(), known) })
	plain := a.those(func(s *sentence) bool {
		return len(s.own) >= 2 && len(s.content)-len(s.own) >= 3 && !slices.Contains(figures, s)
	})
	facts := slices.Concat(figures, plain[:min(1, len(plain))])
	requests := a.those(func(s *sentence) bool { return s.after(ask) >= 2 })
	weighings := a.those(func(s *sentence) bool { return s.does&weigh != 0 && len(s.own) >= 2 })
	n, most := len(facts)+len(requests)+len(weighings), max(len(facts), len(requests), len(weighings))
	switch f.score = min(n, 2); {
	case n >= 4 && most < n && len(figures) > 0:
		f.score = 4
	case n >= 3 && most < n:
		f.score = 3
	}
	f.credit(facts, "Uses a fact of the scenario", "No figure or fact of the scenario is used.")
	f.credit(requests, "Asks for particular data", "No particular data are asked for.")
	f.credit(weighings, "Weighs how good a source is", "No source is weighed.")
	return f
}

func (a *answer) assumptions() (f finding) {
	var named, questioned []*sentence
	used := map[*sentence]bool{}
	for i, s := range a.sentences {
		at := slices.IndexFunc(s.marks, func(m mark) bool { return m.does&premise != 0 })
		if at < 0 || s.after(premise) < 2 && len(contentOf(s.before(s.marks[at].from))) < 2 {
			continue
		}
		named = append(named, s)
		if slices.ContainsFunc(s.marks[at:], func(m mark) bool {
			after := contentOf(s.words[m.to:])
			return m.does&doubt != 0 && m.from >= s.marks[at].to+2 && shared(after, s.own) > 0
		}) {
			questioned = append(questioned, s)
			continue
		}
		for _, next := range a.sentences[i+1 : min(len(a.sentences), i+3)] {
			if !used[next] && len(next.own) > 0 && (next.does&doubt != 0 || next.words[len(next.words)-1].stem == "?") {
				used[next] = true
				questioned = append(questioned, s)
				break
			}
		}
	}
	f.score = min(2, len(named)) + min(2, len(questioned))
	f.credit(named, "Names a premise", "No premise is named: say what the argument takes for granted.")
	f.credit(questioned, "Questions a premise", "No premise is questioned: say how it may fail.")
	return f
}

func (a *answer) alternatives() (f finding) {
	used := map[string]bool{}
	offered := a.those(func(s *sentence) bool {
		fresh := slices.DeleteFunc(slices.Clone(s.content), func(c string) bool { return used[c] })
		if s.does&other == 0 || len(fresh) < 3 || shared(fresh, s.own) == 0 {
			return false
		}
		for _, c := range fresh {
			used[c] = true
		}
		return true
	})
	f.score = min(len(offered), 3)
	f.credit(offered, "Offers an explanation or option with content of its own", "No other explanation or option with content of its own is offered.")
	if f.rule(len(offered) >= 2, "Offers at least two.", "Offer at least two explanations, each with content of its own.") {
		f.point(len(a.those(func(s *sentence) bool { return s.does&tell != 0 })) > 0, "Says what would tell them apart.", "Nothing would tell the explanations apart.")
	}
	return f
}

func (a *answer) quantitative() (f finding) {
	var before []float64
	var mentions, uses, computed []*sentence
	var kinds signal
	for _, s := range a.sentences {
		digits := s.figures()
		if len(digits) > 0 {
			mentions = append(mentions, s)
		}
		all := len(digits)
		for _, w := range s.words {
			if w.kind == spelledNumber {
				all++
			}
		}
		for kind, least := range []int{2, 1, 1} {
			if kind := compare << kind; all >= least && s.does&kind != 0 && len(s.own) >= 2 {
				uses, kinds = append(uses, s), kinds|kind
			}
		}
		if a.computes(digits, before) {
			uses, computed = append(uses, s), append(computed, s)
		}
		before = digits
	}
	switch n := len(uses); {
	case n >= 3 && len(computed) > 0 && kinds != 0:
		f.score = 4
	case n > 0:
		f.score = min(1+n, 3)
	default:
		f.score = min(1, len(mentions))
	}
	f.credit(mentions, "Mentions a figure", "No figure is mentioned in a sentence about it.")
	f.credit(uses, "Works with numbers", "No number is compared, computed with, or put into a rate or range.")
	f.credit(computed, "Computes a figure that comes out", "No figure is computed from others.")
	return f
}

// mostNumbers bounds the numbers of a sentence, and of the scenario, that are computed with.
const mostNumbers = 12

// computes says that a figure that the source does not state follows from two others, one of them in the sentence or the one before.
func (a *answer) computes(digits, before []float64) bool {
	digits = digits[:min(len(digits), mostNumbers)]
	near := slices.Concat(digits, before[:min(len(before), mostNumbers)])
	far := slices.Concat(near, a.figures[:min(len(a.figures), mostNumbers)])
	for _, x := range digits {
		if slices.Contains(a.figures, x) || x < 3 {
			continue
		}
		comesOut := func(y float64) bool { return math.Abs(x-y) <= 0.01*x }
		for _, p := range near {
			for _, q := range far {
				if p == x || q == x || p == q || p == 0 || q == 0 {
					continue
				}
				if slices.ContainsFunc([]float64{p + q, math.Abs(p - q), p * q, p / q, q / p, 100 * p / q, 100 * q / p, 100 * math.Abs(p-q) / q,
					100 * math.Abs(p-q) / p, p * (1 + q/100), q * (1 + p/100), p * (1 - q/100), q * (1 - p/100), p * q / 100}, comesOut) {
					return true
				}
			}
		}
	}
	return false
}

func (a *answer) humility() (f finding) {
	hedges, certain := 0, 0
	for _, s := range a.all {
		for _, m := range s.marks {
			hedges += int(m.does & hedge / hedge)
			certain += int(m.does & sure / sure)
		}
	}
	turns := a.those(func(s *sentence) bool { return s.does&turn != 0 && s.does&sure == 0 && len(s.own) > 0 })
	limits := a.those(func(s *sentence) bool {
		return s.does&limit != 0 && s.does&(sure|turn) == 0 && len(s.own) > 0 && len(s.own) < len(s.content)
	})
	switch n := len(limits) + len(turns); {
	case n >= 3 || n == 2 && len(turns) > 0:
		f.score = 4
	case n > 0:
		f.score = n + 1
	default:
		f.score = min(1, len(a.those(func(s *sentence) bool { return s.does&hedge != 0 })))
	}
	f.credit(limits, "Says what is not known about a particular claim", "No limit is tied to a particular claim: say what you cannot tell, and why.")
	f.credit(turns, "Says what would change the view", "Nothing is named that would change the view.")
	if 12*hedges > a.total {
		f.score = min(f.score, 1)
		f.missed = append(f.missed, "Hedging throughout says nothing about any one claim.")
	}
	if certain >= 2 {
		f.score = max(0, f.score-1)
		f.missed = append(f.missed, "Full certainty is claimed more than once.")
	}
	return f
}

// after counts the content words behind the first mark that does something.
func (s *sentence) after(does signal) int {
	for _, m := range s.marks {
		if m.does&does != 0 {
			return len(contentOf(s.from(m.to)))
		}
	}
	return 0
}

func shared(a, b []string) (n int) {
	for _, c := range a {
		if slices.Contains(b, c) {
			n++
		}
	}
	return n
}
