package language

import (
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// hasSlot reports whether the plain words for a phrase fit between the words beside it. isInside says that the object
// of a verb stands inside the phrase.
func (s site) hasSlot(isInside bool) bool {
	if s.n == len(s.tokens) {
		return true // a look-up
	}
	words := strings.Fields(s.with)
	prev, first := s.before(1), fold(words[0])
	starts := isBoundary(prev) || connectives[prev] || saying[prev]
	switch {
	case determiners[first] && (isDeterminer(prev) || degree[prev]),
		(subjects[first] && len(words) > 1 || clauses[words[0]]) && !starts:
		return false
	case s.tokens[s.i].isEmoji && s.pos == lingible.Adjective:
		return s.isAfterBe() && prev != "dead"
	}
	switch s.pos {
	case lingible.Verb:
		return s.hasVerbSlot(words, isInside)
	case lingible.Noun:
		return s.hasNounSlot(words)
	case lingible.Adjective:
		isLong := slices.ContainsFunc(words, func(w string) bool { return prepositions[w] })
		return !(isLong && isContent(s.after()) && s.isBeforeNoun()) && !(absolute[first] && degree[prev]) &&
			!support[prev]
	case lingible.Interjection:
		return starts
	case lingible.Adverb, lingible.Phrase:
		return !doubledUp[first] || len(words) > 1 || isContent(s.after()) // "tired AF"
	}
	return true
}

// hasVerbSlot: the verb has an object if it needs one, and none if it cannot have one.
func (s site) hasVerbSlot(words []string, isInside bool) bool {
	prev, next, then := s.before(1), s.after(), s.key(s.i+s.n+1, s.i+s.n)
	head, last := words[0], words[len(words)-1]
	isTime := times[next] || next == "every" || times[then] && (next == "all" || isDeterminer(next) || isMany(next))
	hasObject := isInside || !isTime && !particles[next] && (determiners[next] || objects[next] || isMany(next) ||
		isContent(next) || next == "all" && (determiners[then] || isContent(then)))
	if degree[prev] && copulas[s.before(2)] && s.form == base {
		return false // "it is so SLAY"
	}
	// "he's LOST THE PLOT" has, and "it's NICKED" is.
	own := strings.Fields(s.own)
	hasOwnObject := len(own) > 1 && !particles[own[len(own)-1]] && !prepositions[own[len(own)-1]]
	auxiliary := s.before(s.degrees() + 1) // "he's so TILTED"
	isPassive := (s.form == past || s.form == participle) && (passives[auxiliary] || copulas[auxiliary]) &&
		!(auxiliary == "'s" && hasOwnObject)
	if head == "be" {
		return !support[prev] && !isPassive && !hasObject && next != "hard" && !(degree[next] && then == "hard")
	}
	isLong := len(words) > 1
	if isInside && isLong && makers[head] {
		return !isPassive // "ticked us off": "made us angry"
	}
	endsOpen := isLong && prepositions[last] && !particles[last]
	isEither := particles[last] || strings.HasSuffix(last, "ing") && !copulas[head] // "stop answering me"
	isClosed := !isLong && intransitive[head] || isLong && !endsOpen && !isEither
	switch {
	case isClosed && (hasObject || isPassive):
		return false
	case isClosed && isLong && (calls[next] || prepositions[next] && isBoundary(then)):
		return false
	case (endsOpen || needsObject[head] && !isLong) && !hasObject && !isPassive && !s.isFronted():
		return false
	}
	return !slices.Contains(grammar["unfit "+head], next)
}

// isFronted: a word before stands for the object ("who they GHOSTED", "the film we GHOSTED").
func (s site) isFronted() bool {
	if subjects[s.before(1)] && isContent(s.before(2)) {
		return true
	}
	for k := 1; k <= 6; k++ {
		if w := s.before(k); fronted[w] {
			return true
		} else if w == "" {
			return false
		}
	}
	return false
}

// hasNounSlot: what can be counted has a determiner, and what cannot has none that counts.
func (s site) hasNounSlot(words []string) bool {
	head := words[nounHead(words)]
	prev := s.before(1)
	if prev == "'s" && s.before(2) == "let" {
		return false
	}
	// "her DRIP is new" has no slot for "clothes", and "the VIBES are good" none for "atmosphere".
	if next, isMany := s.after(), !mass[head] && pluralOf(head) == head; mass[head] || isMany {
		agrees := !(isMany && s.form == base && singular[next] || mass[head] && s.form == plural && severals[next])
		return agrees && prev != "a" && prev != "an" && prev != "another"
	}
	isAbstract := strings.HasSuffix(head, "ness") || strings.HasSuffix(head, "ity") || strings.HasSuffix(head, "ment")
	if s.form != base || isAbstract || isBoundary(prev) || connectives[prev] || determiners[words[0]] {
		return true
	}
	if prepositions[prev] && len(words) == 1 {
		return true // "at uni"
	}
	for k := 1; k <= 4; k++ {
		switch w := s.before(k); {
		case w == "'s":
			before := s.before(k + 1)
			return !subjects[before] && before != "it" && before != "that" && before != "there" && before != "what" &&
				before != "who" && before != "here"
		case isDeterminer(w), isMany(w), w == "you", w == "what", w == "such", w == "all", w == "more", w == "one":
			return true
		case !isContent(w) && !intensifiers[w] && !strings.HasSuffix(w, "ly") && !isDeterminer(s.before(k+1)):
			return false
		}
	}
	return true
}

// isSlangAnyway: the phrase is slang, also where its sense does not fit. One that is written as a name is, is none.
func (s site) isSlangAnyway() bool {
	if !s.sense.slang || s.isName(s.i) && strings.ToLower(s.own) == s.own {
		return false
	}
	return s.homonym == nil || s.tokens[s.i].isEmoji && !s.homonym.isOrdinary(s)
}

// mayBeSlang: nothing shows whether the phrase is slang, in a place where it can be, and the text is loose or has
// another such phrase.
func (s site) mayBeSlang() bool {
	return s.isOpen() && (s.isLoose() || s.hasOtherOpen())
}

// isOpen: nothing shows whether the phrase is slang, in a place where it can be.
func (s site) isOpen() bool {
	return s.sense.slang && s.homonym != nil && s.isPartOfSpeech(s.sense, s.i, s.n) && !s.isName(s.i) &&
		s.homonym.isOpen(s)
}
