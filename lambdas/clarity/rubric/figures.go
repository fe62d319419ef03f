package rubric

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// tally is how the figures of an answer stand.
type tally struct {
	// right come out, or are the author's; wrong are computations that do not come out, and unknown other figures that
	// follow neither from the scenario nor from those beside them.
	right, wrong, unknown int
	// follow are figures that may follow from those beside them.
	follow int
	// misses say of wrong computations what they give.
	misses []string
}

// isMadeUp says that most of the figures do not come out.
func (t tally) isMadeUp() bool { return t.wrong+t.unknown >= 2 && t.wrong+t.unknown > t.right }

// add adds another tally.
func (t *tally) add(o tally) {
	t.right, t.wrong, t.unknown, t.follow = t.right+o.right, t.wrong+o.wrong, t.unknown+o.unknown, t.follow+o.follow
}

// maxNumbers bounds the numbers of a computation, and of a piece, that are computed with.
const maxNumbers = 12

// calendar has the numbers by which people divide who compare months, weeks and days.
var calendar = []float64{7, 12, 24, 28, 29, 30, 31, 52, 365}

// isOrdinary says that a number is no figure that must come from somewhere: a small one, a year, or a date.
func isOrdinary(x float64) bool {
	return x == math.Trunc(x) && (x <= 3 || x >= 1500 && x <= 2100) || x == 100 || slices.Contains(calendar, x)
}

// count weighs the figures of a sentence. Before are the numbers of the piece before it.
func (r *reader) count(s *sentence, before []float64) (t tally, numbers []float64) {
	right, wrong := map[float64]bool{}, map[float64]bool{}
	for _, e := range equations(s.text) {
		if e.isRight {
			right[e.given], s.computes = true, append(s.computes, e.given)
			continue
		}
		wrong[e.given] = true
		t.wrong++
		t.misses = append(t.misses, fmt.Sprintf("Computes a figure that does not come out, but gives %s: “%s”",
			strconv.FormatFloat(math.Round(100*e.value)/100, 'f', -1, 64), excerpt(s.text[e.from:e.to])))
	}
	for _, piece := range s.split() {
		c := clause{words: piece}
		numbers = numbersOf(piece, number, spelledNumber)
		numbers = numbers[:min(len(numbers), maxNumbers)]
		near := slices.Concat(numbers, before)
		supposed := slices.ContainsFunc(piece, func(w word) bool { return supposing[w.stem] })
		digits := figuresOf(piece)
		for _, x := range digits[:min(len(digits), maxNumbers)] {
			isGiven := slices.Contains(r.figures, x)
			switch {
			case wrong[x]:
			case right[x] || !isGiven && r.marking.knows(x, c):
				if !isGiven {
					s.results = append(s.results, x)
				}
				if !right[x] {
					s.computes = append(s.computes, x)
				}
				if !r.known[x] {
					t.right++
				}
			case isGiven || r.known[x] || isOrdinary(x):
			case follows(x, near, speaksOfTime(piece)):
				t.follow++
			case supposed || r.marking == nil:
			default:
				t.unknown++
			}
			r.known[x] = true
		}
		before = numbers
	}
	return t, numbers
}

// follows says that x is a sum, difference, product, quotient or share of two numbers beside it, to one per cent.
func follows(x float64, near []float64, isOfTime bool) bool {
	is := func(y float64) bool { return 0.99*x <= y && y <= 1.01*x }
	for i, p := range near {
		if p == x || p == 0 {
			continue
		}
		if isOfTime && slices.ContainsFunc(calendar, func(q float64) bool { return is(p/q) || is(p*q) }) {
			return true
		}
		for _, q := range near[i+1:] {
			if q == x || q == 0 {
				continue
			}
			if is(p+q) || is(math.Abs(p-q)) || is(p*q) || is(p/q) || is(q/p) || is(100*p/q) || is(100*q/p) ||
				is(p*q/100) || is(100*math.Abs(p-q)/q) || is(100*math.Abs(p-q)/p) {
				return true
			}
		}
	}
	return false
}

// leastKnown is the least whole figure that is no coincidence.
const leastKnown = 10

// knows reports whether the author of the scenario says that a figure can be computed, and the clause has words that
// stand beside it.
func (m *marking) knows(x float64, c clause) bool {
	if m == nil || isOrdinary(x) || x == math.Trunc(x) && x < leastKnown {
		return false
	}
	decimals := 0
	for y := x; decimals < 3 && math.Abs(y-math.Round(y)) > 1e-9; decimals++ {
		y *= 10
	}
	// A whole figure is rounded where it says so, or by three in a thousand.
	most := 0.5001 * math.Pow10(-decimals)
	if decimals == 0 && !slices.ContainsFunc(c.words, func(w word) bool { return roundedStems[w.stem] }) {
		most = max(0.05, 0.003*x)
	}
	anywhere := func(clause) bool { return true }
	return slices.ContainsFunc(m.figures, func(f knownFigure) bool {
		return math.Abs(f.value-x) <= most && f.words.in([]clause{c}, anywhere)
	})
}
