package rubric

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/onesynth-cdk/onesynth/platforms/clarity"
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
	// substance is how much it says about particulars, as [answer.weigh] counts it.
	substance int
	// isStrange says that more than a third of its different words are neither everyday ones nor the scenario's, so
	// that no sentence counts.
	isStrange bool
	// tally is how its figures stand.
	tally tally
	// named counts the points of the scenario's author that it names, and wanted those of a good answer. point is a
	// sentence that names one. Without a marking, all are zero.
	named, wanted int
	point         *sentence
	// mistakes are sentences that make the author's mistakes.
	mistakes []*sentence
	// isMadeUp says that most figures of the answer, or of all answers, do not come out.
	isMadeUp bool
	// allCertain counts the claims of full certainty of all answers.
	allCertain int
	// isFramed says that most of it is one frame with other fillers.
	isFramed bool
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

// finding is the score of one dimension of an answer, how many signs of it were seen, and which rules it meets and
// misses.
type finding struct {
	score, signs int
	met, missed  []string
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

// credit notes a rule as met if a sentence shows it, with the words that it rests on.
func (f *finding) credit(by []*sentence, does signal, met, missed string) bool {
	if len(by) > 0 {
		met = fmt.Sprintf("%s%s: “%s”", met, by[0].says(does), excerpt(by[0].text))
	}
	f.signs += len(by)
	return f.rule(len(by) > 0, met, missed)
}

// says returns the first words of a sentence that do something, in brackets.
func (s *sentence) says(does signal) string {
	at := slices.IndexFunc(s.marks, func(m mark) bool { return m.does&does != 0 && m.text != "" })
	if at < 0 {
		return ""
	}
	return fmt.Sprintf(" (“%s”)", s.marks[at].text)
}

// judge scores the dimensions of an answer by the rules of docs/platforms/clarity.md.
func (a *answer) judge() map[clarity.Dimension]finding {
	a.substance = a.weigh()
	found := map[clarity.Dimension]finding{
		clarity.ClarityOfThought: a.clarity(), clarity.Logic: a.logic(), clarity.Evidence: a.evidence(),
		clarity.Assumptions:  a.assumptions(),
		clarity.Alternatives: a.alternatives(), clarity.Quantitative: a.quantitative(), clarity.Humility: a.humility(),
	}
	for _, d := range a.focus {
		if !isWantedEverywhere(d) {
			found[d] = a.attempt(d, found[d])
		}
	}
	found[clarity.Relevance] = a.relevance(slices.ContainsFunc(a.focus, func(d clarity.Dimension) bool {
		return d != clarity.ClarityOfThought && found[d].score >= 2
	}))
	isAsked := func(d clarity.Dimension) bool { return isWantedEverywhere(d) || slices.Contains(a.focus, d) }
	level := a.level()
	for d, f := range found {
		if d == clarity.Humility && a.certain() >= 2 {
			f.score = max(0, f.score-1)
			f.missed = append(f.missed, "The rules found words of full certainty more than once.")
		}
		// Where nothing particular is said, there is little to judge.
		switch {
		case d == clarity.ClarityOfThought:
			f.score = min(f.score, 1+a.substance)
		case a.substance > 0:
		case isAsked(d):
			f.score = min(f.score, 2)
		default:
			f.score = min(f.score, 1)
		}
		a.grade(&f, d, isAsked(d), level)
		switch {
		case a.isFramed:
			f.missed = []string{"The rules found most of the answer to be one sentence, with other words put in."}
		case a.isStrange:
			f.missed = []string{"The rules know too few words of the answer: more than a third are neither everyday " +
				"words nor the scenario's."}
		case 2*a.repeated > a.total && (a.wanted == 0 || level < 2):
			if f.score = min(f.score, 1); !isAsked(d) {
				f.score = 0
			}
			f.missed = append([]string{"The rules found most of the answer said before: in it, in the question or in " +
				"the scenario."}, f.missed...)
		}
		found[d] = f
	}
	return found
}

// moves are what a sentence can do with particulars, beside telling a figure.
const moves = link | condition | verb | ask | weigh | premise | doubt | other | tell | limit | turn

// weigh returns how much an answer says about particulars, from 0 to 3: its different content words, figures, results
// and moves in sentences that count, against their length. Own words count up to four times the others, and what is
// said of everyone and always does not count. Without a move or a result there is none,
// and with one there are two at most.
func (a *answer) weigh() int {
	source, own, figures, made := map[string]bool{}, map[string]bool{}, map[float64]bool{}, map[string]bool{}
	total, results := 0, 0
	for _, s := range a.sentences {
		total, results = total+s.total, results+len(s.results)
		at := 0
		for _, piece := range s.split() {
			from, to := at, at+len(piece)
			at = to
			content, digits := contentOf(piece), figuresOf(piece)
			if len(digits) == 0 && slices.ContainsFunc(piece, func(w word) bool { return generalStems[w.stem] }) {
				continue
			}
			for _, c := range content {
				if a.source[c] {
					source[c] = true
				} else {
					own[c] = true
				}
			}
			for _, x := range digits {
				figures[x] = true
			}
			for _, m := range s.marks {
				if m.does&moves != 0 && m.from >= from && m.from < to && len(content) >= 3 {
					made[m.text] = true
				}
			}
		}
	}
	n := len(source) + len(figures) + results
	if len(own)+results < 2 || len(made)+results == 0 || 2*a.repeated > a.total {
		return 0
	}
	n += min(len(own), 4*n) + len(made)
	// Eight and a tenth of the words make the first level, and three more the next.
	level := (10*(n-5) - min(total, 200)) / 30
	return max(0, min(level, 3, 1+len(made)+2*results))
}

// signsOf are what the sentences of an attempt at a dimension may do, beside what its own rules ask for.
var signsOf = map[clarity.Dimension]signal{
	clarity.Logic: link | condition | verb | doubt, clarity.Evidence: ask | weigh | compare | rate | tell,
	clarity.Assumptions:  premise | doubt | condition,
	clarity.Alternatives: other | condition | tell | link, clarity.Quantitative: compare | rate | around,
	clarity.Humility: limit | turn | hedge | around | doubt,
}

// attempt takes the sentences of an answer as its attempt at a dimension that its question asks for: its substance is
// the score, and at most 2 without a sign of the dimension.
func (a *answer) attempt(d clarity.Dimension, f finding) finding {
	signs := a.those(func(s *sentence) bool {
		return s.does&signsOf[d] != 0 || d == clarity.Quantitative && len(s.results) > 0
	})
	score := a.substance
	if len(signs) == 0 {
		score, signs = min(score, 2), a.sentences
	}
	f.signs = max(f.signs, score)
	if score > f.score {
		f.score = score
		f.met = append(f.met, fmt.Sprintf("The question asks for this, and the answer speaks of particulars%s: “%s”",
			signs[0].says(signsOf[d]), excerpt(signs[0].text)))
	}
	return f
}

func (a *answer) clarity() (f finding) {
	counted, pieces, longest, tied, empties, n := 0, 0, 0, 0, 0, len(a.sentences)
	for _, s := range a.all {
		empties += s.empties
	}
	for i, s := range a.sentences {
		counted, pieces, longest = counted+s.total, pieces+s.pieces, max(longest, s.total/s.pieces)
		near := slices.Concat(a.sentences[max(0, i-2):i], a.sentences[i+1:min(n, i+3)])
		if s.pieces >= 3 || s.does&back != 0 ||
			slices.ContainsFunc(near, func(o *sentence) bool { return shared(s.content, o.content) > 0 }) {
			tied++
		}
	}
	f.point(n > 0, "Says something of its own about the scenario.",
		"The rules found no sentence that says something of its own about the scenario.")
	f.point(n > 0 && counted <= 26*pieces && longest <= 45, "The sentences have a readable length.",
		"The rules found sentences that are too long to follow, or none.")
	f.point(5*counted >= 4*a.total && 6*empties <= a.total, "Hardly a word is padding.",
		"The rules found much repetition, filler or vague words.")
	f.point(pieces >= 3 && 3*tied >= 2*n, "The thought is developed over sentences that hang together.",
		"The rules found no three sentences that build on each other.")
	f.signs = f.score
	if pieces < 3 {
		f.score = min(f.score, 2, 2*n)
	}
	if 2*counted < a.total {
		f.score = min(f.score, 1)
	}
	return f
}

// relevance scores by how much of the scenario an answer deals with. Served says that it does what a focus area asks
// for.
func (a *answer) relevance(served bool) (f finding) {
	on := a.those(func(s *sentence) bool { return s.onTopic })
	source, own, asked, figures := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[float64]bool{}
	for _, s := range a.sentences {
		for _, x := range s.figures {
			figures[x] = true
		}
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
	if !f.credit(on, 0, "Deals with the scenario",
		"The rules found no sentence that says something of its own about the scenario or the question.") {
		return f
	}
	f.score = 1
	if f.point(2*len(on) >= len(a.sentences) && len(source) >= 4 && len(own)+len(figures) >= 4,
		"Uses particulars of the scenario.", "The rules found few particulars of the scenario.") &&
		f.point(served || len(asked) >= 2, "Does what the question asks.",
			"The rules found nothing that the question asks for.") {
		f.point(5*len(on) >= 4*len(a.sentences) && len(source) >= 7 && len(own)+len(figures) >= len(source),
			"Stays with the scenario throughout.",
			"The rules found sentences that leave the scenario, or few of its particulars.")
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
			hang = hang || slices.ContainsFunc(links, func(o *sentence) bool {
				return shared(s.content, o.content) > 0
			})
			links = append(links, s)
		}
	}
	f.score = min(len(links), 3)
	f.credit(links, link|condition|verb, "Connects a claim with a reason that says something new",
		"The rules found no claim that is connected with a reason that says something new.")
	if f.rule(len(links) >= 3, "Three claims have reasons.", "The rules found fewer than three claims with reasons.") {
		f.point(conditional && hang, "The reasons hang together, and a condition or an objection is weighed.",
			"The rules found no condition or objection among them.")
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
			if l, r := contentOf(s.words[m.to:i]),
				contentOf(s.words[i:]); s.words[i].stem == "," && len(l) >= 2 && len(r) >= 2 {
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
	figures := a.those(func(s *sentence) bool { return len(s.own) >= 2 && slices.ContainsFunc(s.figures, known) })
	plain := a.those(func(s *sentence) bool {
		return len(s.own) >= 2 && len(s.content)-len(s.own) >= 3 && !slices.Contains(figures, s)
	})
	facts := slices.Concat(figures, plain[:min(1, len(plain))])
	requests := a.those(func(s *sentence) bool { return s.isAbout(ask) })
	weighings := a.those(func(s *sentence) bool { return s.does&weigh != 0 && len(s.own) >= 2 })
	n, most := len(facts)+len(requests)+len(weighings), max(len(facts), len(requests), len(weighings))
	switch f.score = min(n, 2); {
	case n >= 4 && most < n && len(figures) > 0:
		f.score = 4
	case n >= 3 && most < n:
		f.score = 3
	}
	f.credit(facts, 0, "Uses a fact of the scenario",
		"The rules found no figure or fact of the scenario with something said about it.")
	f.credit(requests, ask, "Asks for particular data", "The rules found no words that ask for particular data.")
	f.credit(weighings, weigh, "Weighs how good a source is", "The rules found no words that weigh a source.")
	return f
}

func (a *answer) assumptions() (f finding) {
	var named, questioned []*sentence
	used := map[*sentence]bool{}
	for i, s := range a.sentences {
		at := slices.IndexFunc(s.marks, func(m mark) bool { return m.does&premise != 0 })
		if at < 0 || !s.isAbout(premise) && len(contentOf(s.before(s.marks[at].from))) < 2 {
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
	f.credit(named, premise, "Names a premise",
		"The rules found no words that name a premise, such as “takes for granted”.")
	f.credit(questioned, doubt, "Questions a premise", "The rules found no words that say how a premise may fail.")
	return f
}

func (a *answer) alternatives() (f finding) {
	used := map[string]bool{}
	offered := a.those(func(s *sentence) bool {
		fresh := slices.DeleteFunc(slices.Clone(s.content), func(c string) bool { return used[c] })
		if s.does&other == 0 || len(fresh) < 3 && 2*len(fresh) < len(s.content) || shared(fresh, s.own) == 0 {
			return false
		}
		for _, c := range fresh {
			used[c] = true
		}
		return true
	})
	f.score = min(len(offered), 3)
	f.credit(offered, other, "Offers an explanation or option with content of its own",
		"The rules found no words that offer another explanation or option, with content of its own.")
	if f.rule(len(offered) >= 2, "Offers at least two.", "The rules found no second one.") {
		f.point(len(a.those(func(s *sentence) bool { return s.does&tell != 0 })) > 0,
			"Says what would tell them apart.", "The rules found no words that tell the explanations apart.")
	}
	return f
}

func (a *answer) quantitative() (f finding) {
	var mentions, uses, computed, following []*sentence
	var kinds signal
	results := 0
	for _, s := range a.sentences {
		digits := s.figures
		all := len(digits)
		for _, w := range s.words {
			if w.kind == spelledNumber {
				all++
			}
		}
		if len(digits) > 0 {
			mentions = append(mentions, s)
		}
		for kind, least := range []int{2, 1, 1} {
			if kind := compare << kind; all >= least && s.does&kind != 0 && len(s.own) >= 2 {
				uses, kinds = append(uses, s), kinds|kind
			}
		}
		switch {
		case len(s.computes) > 0:
			results += len(s.computes)
			uses, computed = append(uses, s), append(computed, s)
		case s.tally.follow > 0:
			following = append(following, s)
		}
	}
	switch n := len(uses); {
	case n >= 3 && len(computed) > 0 && (kinds != 0 || results >= 3):
		f.score = 4
	case n > 0:
		f.score = min(1+n, 3)
	default:
		f.score = min(1, len(mentions))
	}
	unread := "The rules found no figure in digits."
	if at := slices.IndexFunc(a.all, func(s *sentence) bool {
		return slices.ContainsFunc(s.words, func(w word) bool { return w.kind == number })
	}); at >= 0 {
		unread = fmt.Sprintf("The rules found figures, but in no sentence that they could read: “%s”",
			excerpt(a.all[at].text))
	}
	f.credit(mentions, 0, "Mentions a figure", unread)
	f.credit(uses, compare|rate|around, "Works with numbers",
		"The rules found no words that compare numbers, or put them into a rate or a range.")
	if len(computed) > 0 {
		f.met = append(f.met, fmt.Sprintf("Computes a figure that comes out (%s): “%s”",
			strconv.FormatFloat(computed[0].computes[0], 'f', -1, 64), excerpt(computed[0].text)))
	} else {
		f.missed = append(f.missed, "The rules found no figure that follows from others.")
	}
	if len(following) > 0 {
		f.met = append(f.met, fmt.Sprintf("Has a figure that may follow from others: “%s”", excerpt(following[0].text)))
	}
	if n := len(a.tally.misses); n > 0 {
		f.score = max(0, min(f.score-n, 2))
		f.missed = append(a.tally.misses[:1:1], f.missed...)
	}
	f.signs = max(len(mentions), len(uses)-len(computed)+results)
	return f
}

func (a *answer) humility() (f finding) {
	hedges := 0
	for _, s := range a.all {
		for _, m := range s.marks {
			hedges += int(m.does & hedge / hedge)
		}
	}
	turns := a.those(func(s *sentence) bool { return s.does&turn != 0 && s.does&sure == 0 && len(s.own) > 0 })
	limits := a.those(func(s *sentence) bool {
		isOfClaim := len(s.own) > 0 && len(s.own) < len(s.content) || s.isAbout(ask)
		return s.does&limit != 0 && s.does&(sure|turn) == 0 && isOfClaim
	})
	switch n := len(limits) + len(turns); {
	case n >= 3 || n == 2 && len(turns) > 0:
		f.score = 4
	case n > 0:
		f.score = n + 1
	default:
		f.score = min(1, len(a.those(func(s *sentence) bool { return s.does&hedge != 0 })))
	}
	f.signs = hedges + a.certain()
	f.credit(limits, limit, "Says what is not known about a particular claim",
		"The rules found no words that say what cannot be known about a particular claim.")
	f.credit(turns, turn, "Says what would change the view",
		"The rules found no words that say what would change the view.")
	if 12*hedges > a.total {
		f.score = min(f.score, 1)
		f.missed = append(f.missed, "The rules found hedges throughout, and these say nothing about any one claim.")
	}
	return f
}

// isAbout reports whether the first mark that does something has words of a particular behind it.
func (s *sentence) isAbout(does signal) bool {
	at := slices.IndexFunc(s.marks, func(m mark) bool { return m.does&does != 0 })
	if at < 0 {
		return false
	}
	words, particulars := 0, 0
	for _, w := range s.from(s.marks[at].to) {
		if w.kind == contentWord || periods[w.stem] {
			particulars++
		}
		if w.kind != functionWord && w.kind != punctuation {
			words++
		}
	}
	return particulars > 0 && words >= 2
}

func shared(a, b []string) (n int) {
	for _, c := range a {
		if slices.Contains(b, c) {
			n++
		}
	}
	return n
}
