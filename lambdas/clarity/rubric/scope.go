package rubric

import (
	"slices"
	"strings"
)

const (
	// scopeBefore and scopeBehind are how many words before and behind a sign a denial may stand.
	scopeBefore, scopeBehind = 5, 8
	// leastFrame is how many words a sentence has, at least, whose frame may be another's.
	leastFrame = 7
)

// isNegation says that a word denies what follows it.
func isNegation(w word) bool { return negations[w.stem] || strings.HasSuffix(w.stem, "n't") }

// ends says that no scope goes beyond a word: the end of a clause.
func (w word) ends() bool { return w.kind == punctuation || clauseStems[w.stem] }

// isDenied says that a sign at words[from:to] is denied: by a negation before it, such as "there are no other", or by
// what is said of it, such as "is not needed". That something does not cause another is a claim of a connection, too.
func (s *sentence) isDenied(m mark) bool {
	if m.does&(hedge|back|verb) != 0 {
		return false
	}
	before := scopeBefore
	if m.to-m.from == 1 && s.words[m.from].kind == functionWord {
		before = 1 // "not because", but not "it is not known because"
	}
	for i := m.from - 1; i >= max(0, m.from-before) && !s.words[i].ends(); i-- {
		if isNegation(s.words[i]) && s.words[i+1].stem != "onli" {
			return true
		}
	}
	if m.does&(doubt|link|condition) != 0 {
		return false
	}
	for i := m.to; i < min(len(s.words), m.to+scopeBehind) && (!s.words[i].ends() || s.words[i].stem == "and"); i++ {
		if slices.ContainsFunc(dismissals[s.words[i].stem], func(p phrase) bool { return s.matches(p.stems, i) }) {
			return true
		}
	}
	return false
}

// denies says that the words deny or dismiss what they speak of.
func denies(piece []word) (negates, dismisses bool) {
	s := &sentence{words: piece}
	for i, w := range piece {
		negates = negates || isNegation(w)
		dismisses = dismisses || slices.ContainsFunc(dismissals[w.stem], func(p phrase) bool {
			return s.matches(p.stems, i)
		})
	}
	return negates || dismisses, dismisses
}

// frameOf returns a sentence without what it is about: each content word is a gap.
func frameOf(piece []word) (frame []string) {
	for _, w := range piece {
		switch {
		case w.kind == punctuation:
		case w.kind == contentWord || w.kind == number:
			frame = append(frame, "_")
		default:
			frame = append(frame, w.stem)
		}
	}
	return frame
}

// maxNear is how many sentences before and after a sentence may have its frame. The bound keeps the work linear.
const maxNear = 6

// isFramed reports whether most of an answer has few frames with other fillers: at least two thirds of its words stand
// in sentences whose frame another one has, here or in an earlier answer.
func (r *reader) isFramed(all []*sentence) bool {
	start := len(r.frames)
	for _, s := range all {
		for _, piece := range s.split() {
			r.frames = append(r.frames, frameOf(piece))
		}
	}
	total, framed := 0, 0
	for i := start; i < len(r.frames); i++ {
		total += len(r.frames[i])
		for j := max(0, i-maxNear); j < min(len(r.frames), i+maxNear+1); j++ {
			if i != j && isSameFrame(r.frames[i], r.frames[j]) {
				framed += len(r.frames[i])
				break
			}
		}
	}
	return 3*framed >= 2*total && framed > 0
}

// isSameFrame reports whether two frames differ in one word of seven at most.
func isSameFrame(a, b []string) bool {
	if min(len(a), len(b)) < leastFrame || max(len(a), len(b)) > longestFrame {
		return false
	}
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			next := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = next
		}
	}
	return 7*row[len(b)] >= 6*max(len(a), len(b))
}

// longestFrame bounds the frames that are compared.
const longestFrame = 60
