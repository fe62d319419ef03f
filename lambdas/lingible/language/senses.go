package language

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// certainty is how sure a reading is that a phrase has a sense, from 0, for not at all, to 1.
type certainty float64

// The certainties of a phrase that is an ordinary one, too. That of a text is never above that of its least certain
// phrase.
const (
	byPlace certainty = 0.55 // the grammar of its place supports slang, and no word does
	kept    certainty = 0.5  // the phrase stays, as its ordinary sense is likelier
	nothing certainty = 0.25 // no phrase was found
	certain certainty = 1
)

// homonym says of a term that is an ordinary word, too, what shows which of the two a text means.
type homonym struct {
	// row is that of the file, which is read into the others once.
	row    string
	isRead sync.Once
	// stays are the stems of words by which a sentence shows that the ordinary word is meant.
	stays []string
	// shows are the stems of words by which a sentence shows that slang is meant, and signs the places that show it as
	// well. If there is any of them, one is needed, or other slang.
	shows []string
	signs []place
	// listed says that other slang in the text shows nothing: the ordinary word is far more frequent.
	listed bool
	// places are those of which one is needed, if there is any.
	places []place
}

// ordinary are the terms that are ordinary words, too. The file says how to read it. A row is read when its term is
// found: all together would take a start longer than all else.
var ordinary = homonyms(ordinaryWords)

func homonyms(table string) map[string]*homonym {
	rows := map[string]*homonym{}
	for line := range strings.SplitSeq(table, "\n") {
		if term, row, found := strings.Cut(line, ":"); found && line[0] != '#' {
			rows[term] = &homonym{row: row}
		}
	}
	return rows
}

// read reads the row, once.
func (h *homonym) read() {
	stays, rest, _ := strings.Cut(h.row, "|")
	shows, names, _ := strings.Cut(rest, "|")
	for _, w := range strings.Fields(stays) {
		h.stays = append(h.stays, stem(w))
	}
	for _, w := range strings.Fields(shows) {
		if name, isSign := strings.CutPrefix(w, "@"); name == "listed" {
			h.listed = true
		} else if isSign {
			h.signs = append(h.signs, places[name])
		} else {
			h.shows = append(h.shows, stem(w))
		}
	}
	for _, name := range strings.Fields(names) {
		h.places = append(h.places, places[name])
	}
}

// unlisted are the homonyms of a part of speech that no list has: terms that are one common word.
var unlisted = map[lingible.PartOfSpeech]*homonym{
	lingible.Adjective:    {places: []place{site.isAfterBe, site.isBeforeNoun}},
	lingible.Verb:         {places: []place{site.isBare, site.hasObject}},
	lingible.Noun:         {signs: []place{site.isNamedSo}, places: []place{site.hasDeterminer}},
	lingible.Interjection: {places: []place{site.isSaid}},
	lingible.Adverb:       {places: []place{site.isAdverb}},
}

// homonymOf returns what shows the sense of a term, or nil if it is no ordinary word.
func homonymOf(term string, pos lingible.PartOfSpeech) *homonym {
	key := strings.ToLower(term)
	row, found := ordinary[key+" ("+string(pos)+")"]
	if !found {
		row, found = ordinary[key]
	}
	if found {
		return row
	}
	if !strings.ContainsAny(key, " -") && (commonStems[stem(key)] || functionWord(key)) {
		return unlisted[pos]
	}
	return nil
}

// site is where a phrase of n tokens stands in a reading.
type site struct {
	*reading
	sense
	i, n int
}

// place says of a site whether it is of a kind.
type place func(site) bool

// places are the places and signs of words.txt by their names.
var places = map[string]place{
	"adverb": site.isAdverb, "amount": site.isAmount, "aside": site.isAside, "bare": site.isBare,
	"be": site.isAfterBe, "clause": site.isBeforeClause, "closing": site.isClosing, "degree": site.isDegree,
	"det": site.hasDeterminer, "doer": site.isDoer, "done": site.isDone, "end": site.isEnd, "for": site.isThanks,
	"isa": site.isNamedSo, "it": site.isOfIt, "mass": site.isMass, "mine": site.isOwned, "noun": site.isBeforeNoun,
	"object": site.hasObject, "opening": site.isOpening, "person": site.isOfPerson, "said": site.isSaid,
	"start": site.isStart, "stop": site.isStop, "subject": site.hasSubject, "takes": site.takesOne,
	"the": site.isTheOne, "very": site.isVery, "you": site.isOfYou,
}

// before returns the kth word before the phrase, and after the word that follows it, in the same clause; "" is beyond
// it.
func (s site) before(k int) string { return squeezed(s.key(s.i-k, s.i), 1) }
func (s site) after() string       { return s.key(s.i+s.n, s.i+s.n-1) }

// certainty says how sure it is that the phrase is slang here.
func (h *homonym) certainty(s site) certainty {
	h.isRead.Do(h.read)
	words := s.sentences[s.tokens[s.i].sentence]
	has := func(stem string) bool {
		// The words of a phrase that slang is written for say nothing about it.
		return words[stem] && (s.sense.slang ||
			!slices.ContainsFunc(s.tokens[s.i:s.i+s.n], func(t token) bool { return t.stem == stem }))
	}
	is := func(p place) bool { return p(s) }
	if s.n == len(s.tokens) {
		return certain // a look-up
	}
	if slices.ContainsFunc(h.stays, has) || len(h.places) > 0 && !slices.ContainsFunc(h.places, is) {
		return 0
	}
	switch {
	case slices.ContainsFunc(h.shows, has), slices.ContainsFunc(h.signs, is), s.isSaid(), s.isCalledSo(),
		!h.listed && s.hasOtherSlang():
		return certain
	case len(h.shows)+len(h.signs) > 0:
		return 0
	case len(h.places) > 0 && !(s.isAfterBe() && s.isOfPerson()):
		return byPlace
	}
	return certain
}

// isOrdinary reports whether a word of the sentence shows that the ordinary word is meant.
func (h *homonym) isOrdinary(s site) bool {
	h.isRead.Do(h.read)
	words := s.sentences[s.tokens[s.i].sentence]
	return slices.ContainsFunc(h.stays, func(stem string) bool { return words[stem] })
}

// isOpen reports whether nothing shows which of the two the phrase is, in a place where slang can be.
func (h *homonym) isOpen(s site) bool {
	return !h.isOrdinary(s) && !h.listed && len(h.shows)+len(h.signs)+len(h.places) > 0 &&
		(len(h.places) == 0 || slices.ContainsFunc(h.places, func(p place) bool { return p(s) }))
}

// isLoose says that the text is written as chat is: it does not begin with a capital letter.
func (r *reading) isLoose() bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(r.text))
	return unicode.IsLower(first)
}

// hasOtherSlang says that the text has slang that is no ordinary word.
func (r *reading) hasOtherSlang() bool {
	if r.slang == nil {
		found := slices.ContainsFunc(r.tokens, func(t token) bool { return !t.skip && chat[t.key] })
		for i := 0; i < len(r.tokens) && !found; i++ {
			for _, at := range r.phrases.startingAt(r.tokens, i) {
				for s := range r.language.senses(at, r.ofSlang) {
					found = found || s.slang && s.homonym == nil
				}
			}
		}
		r.slang = &found
	}
	return *r.slang
}

// hasOtherOpen says that the text has another phrase that may be slang.
func (s site) hasOtherOpen() bool {
	if s.open == nil {
		s.reading.open = map[int]bool{}
		for i := range s.tokens {
			for n, at := range s.phrases.startingAt(s.tokens, i) {
				for other := range s.language.senses(at, s.ofSlang) {
					if (site{s.reading, other, i, n}).isOpen() {
						s.open[i] = true
					}
				}
			}
		}
	}
	return len(s.open) > 2 || len(s.open) > 1 && s.open[s.i]
}

// degrees counts the words of degree directly before the phrase.
func (s site) degrees() (k int) {
	for w := s.before(1); intensifiers[w] || degree[w] || len(w) > 4 && strings.HasSuffix(w, "ly") ||
		k > 0 && w == "a" && (s.before(k) == "bit" || s.before(k) == "little"); w = s.before(k + 1) {
		k++
	}
	return k
}

// isContent says that a word can be a noun or its adjective.
func isContent(w string) bool {
	return w != "" && !functionWord(w) && !connectives[w] && !adverbs[w] && !vocatives[w] && !strings.HasSuffix(w, "ly")
}

func isDeterminer(w string) bool {
	return determiners[w] || w == "that" || w == "this" || w == "these" || w == "those" || w == "another" || w == "her"
}

// isBoundary says that nothing, or only a word that calls, stands beside a phrase.
func isBoundary(w string) bool { return w == "" || vocatives[w] }

// isAfterBe: "the film was SO MID", with no noun after it.
func (s site) isAfterBe() bool {
	next, k := s.after(), s.degrees()+1
	if w := s.before(1); copulas[s.before(2)] && (w == "so" || w == "too") {
		return true // "that's SO CRINGE delete it"
	}
	if isContent(next) && next != "cause" || isMany(next) {
		return false
	}
	w := s.before(k)
	return (w == "" || w == "why") && (k > 1 || moods[next]) || copulas[w] ||
		subjects[w] && (copulas[s.before(k+1)] || k > 1) || // "why you SO PRESSED"
		w == "out" && strings.HasPrefix(s.before(k+1), "turn")
}

// isOfPerson: who is said to be so is a person.
func (s site) isOfPerson() bool {
	for k := s.degrees() + 1; ; k++ {
		w := s.before(k)
		switch {
		case subjects[w] && w != "they", persons[w], w == "why", w == "" && moods[s.after()],
			w == "" && k > 1 && (s.before(k-1) == "be" || modals[s.before(k-1)] || degree[s.before(k-1)]),
			w != "" && s.isName(s.i-k):
			return true
		case !copulas[w] && !modals[w] && !intensifiers[w]:
			return false
		}
	}
}

// isOfIt: "it's NIPPY".
func (s site) isOfIt() bool {
	return slices.ContainsFunc([]int{1, 2, 3, 4, 5}, func(k int) bool { return s.before(k) == "it" })
}

// isOfYou: "you KILLED IT", "you're KILLING IT".
func (s site) isOfYou() bool { return s.before(1) == "you" || s.before(2) == "you" }

// isVery: a word of degree, and not "too" or "not", stands before the phrase. A mill can be completely gutted, too.
func (s site) isVery() bool { return degree[s.before(1)] && s.before(1) != "completely" }

// isBeforeNoun: "a MID film".
func (s site) isBeforeNoun() bool {
	next := s.after()
	if next != "bit" && !isContent(next) || next[0] <= '9' {
		return false
	}
	k := s.degrees() + 1
	w := s.before(k)
	return isDeterminer(w) || w == "some" || isContent(w) && isDeterminer(s.before(k+1)) ||
		strings.HasSuffix(next, "s") && !copulas[w] && !subjects[w] && !modals[w] && !persons[w] && w != "to"
}

// hasDeterminer: "a STAN", "her first STAN", or a plural.
func (s site) hasDeterminer() bool {
	for k := 1; k <= 3; k++ {
		if w := s.before(k); isDeterminer(w) {
			return true
		} else if !isContent(w) && !intensifiers[w] {
			break
		}
	}
	return s.form == plural && !isMany(s.before(1))
}

// isNamedSo: "he is a complete STAN".
func (s site) isNamedSo() bool {
	for k := 1; k <= 3; k++ {
		switch w := s.before(k); {
		case isDeterminer(w):
			before := s.before(k + 1)
			return copulas[before] || naming[before] || before == "of" && softeners[s.before(k+2)]
		case !isContent(w) && !intensifiers[w]:
			return false
		}
	}
	return false
}

// isCalledSo: "he's such a TOOL", "what an absolute WEAPON".
func (s site) isCalledSo() bool {
	if s.pos != lingible.Noun {
		return false
	}
	article := s.before(2) == "a" || s.before(2) == "an" || isOwner(s.before(2))
	return (s.before(1) == "a" || s.before(1) == "an") && s.before(2) == "such" || article && utter[s.before(1)] ||
		s.isCalledYou()
}

// isCalledYou: "rack off, you GALAH".
func (s site) isCalledYou() bool { return s.before(1) == "you" && s.before(2) == "" && s.isEnd() }

// isOwner: "you absolute MELT".
func isOwner(w string) bool { return w == "you" || w == "the" }

// isTheOne: "she is the GOAT".
func (s site) isTheOne() bool { return s.before(1) == "the" && copulas[s.before(2)] }

// isMass: no article and no number makes one of it.
func (s site) isMass() bool {
	for k := 1; k <= 3; k++ {
		if w := s.before(k); w == "a" || w == "an" || w == "one" || isMany(w) {
			return false
		} else if !isContent(w) {
			break
		}
	}
	return s.form == base
}

// isAmount: a number stands before the phrase.
func (s site) isAmount() bool { return isMany(s.before(1)) || s.before(1) == "1" }

// canBeVerb: a verb can stand here; a base form needs a word before that goes with it.
func (s site) canBeVerb() bool {
	w := s.before(1)
	return s.form != base && !isMany(w) || isBoundary(w) || subjects[w] || persons[w] || modals[w] || intensifiers[w] ||
		connectives[w] || w == "to" || w == "'s" && s.before(2) == "let" ||
		len(w) > 3 && strings.HasSuffix(w, "s") || strings.HasSuffix(w, "ly")
}

// hasSubject: a pronoun does it ("we STAN").
func (s site) hasSubject() bool {
	prev := s.before(s.degrees() + 1)
	return subjects[prev] || modals[prev] || prev == "to"
}

// isBare: a verb without an object, and without a way that it goes.
func (s site) isBare() bool {
	next := s.after()
	return s.canBeVerb() && !(s.form == base && copulas[next]) &&
		(next == "every" || next == "all" || !isContent(next) && !determiners[next] && !objects[next] && !ways[next] &&
			!isMany(next))
}

// hasObject: a verb with an object, or whose object is its subject ("we got ROASTED").
func (s site) hasObject() bool {
	next := s.after()
	return s.isDone() && !isContent(next) || s.canBeVerb() &&
		(isContent(next) || determiners[next] || objects[next] || isMany(next) || next == "all")
}

// takesOne: a verb whose object begins with a determiner or is a pronoun: "NICK his bike", not "Nick bought a bike".
func (s site) takesOne() bool {
	next := s.after()
	return s.canBeVerb() && (determiners[next] || objects[next] || isMany(next))
}

// isDone: "my bike was NICKED", "they have NICKED it".
func (s site) isDone() bool { return s.form == past && perfect[s.before(1)] }

// isAdverb: it belongs to a verb or an adjective, not to a noun. Written in two, it is an adjective too often.
func (s site) isAdverb() bool {
	prev := s.before(1)
	return !isDeterminer(prev) && (s.n == 1 && s.own != "totes" || isBoundary(prev) || subjects[prev] ||
		copulas[prev] || modals[prev] || perfect[prev] || intensifiers[prev])
}

// isDoer: "BRO is late", and not "BRO, come here".
func (s site) isDoer() bool {
	next := s.after()
	return s.before(1) == "" && (copulas[next] || modals[next] || perfect[next])
}

// isDegree: "is DEAD easy", "so DAMN cold".
func (s site) isDegree() bool {
	prev := s.before(1)
	return (copulas[prev] || intensifiers[prev] || isBoundary(prev)) && isContent(s.after())
}

// isSaid: it is a clause of its own.
func (s site) isSaid() bool { return isBoundary(s.before(1)) && isBoundary(s.after()) }

// isThanks: "CHEERS for the lift".
func (s site) isThanks() bool { return isBoundary(s.before(1)) && s.after() == "for" }

// isOpening: "NO CAP she did".
func (s site) isOpening() bool {
	next := s.after()
	return isBoundary(s.before(1)) && (subjects[next] || next == "it" ||
		(next == "this" || next == "that") && copulas[s.key(s.i+s.n+1, s.i)])
}

// isClosing: "it took an hour NO CAP", where no verb and no preposition before it has it as its object.
func (s site) isClosing() bool {
	prev := s.before(1)
	return isBoundary(s.after()) && !perfect[prev] && !transitive[prev] && !strings.HasSuffix(prev, "s") &&
		!strings.HasSuffix(prev, "ed") &&
		(!functionWord(prev) || objects[prev])
}

// isStart: nothing stands before it in the clause.
func (s site) isStart() bool { return isBoundary(s.before(1)) }

// isEnd: nothing follows in the clause.
func (s site) isEnd() bool { return isBoundary(s.after()) }

// isStop: nothing follows in the clause but another one ("he thinks he's ALL THAT but he isn't").
func (s site) isStop() bool { return s.isEnd() || connectives[s.after()] }

// isOwned: somebody is said to have it ("my YARD").
func (s site) isOwned() bool {
	w := s.before(1)
	return w == "my" || w == "your" || w == "his" || w == "her" || w == "our" || w == "their"
}

// isBeforeClause: "I left CAUSE he was late", and not "the CAUSE I support".
func (s site) isBeforeClause() bool {
	next, prev := s.after(), s.before(1)
	return (subjects[next] || next == "it" || next == "there") && !isDeterminer(prev) && !prepositions[prev]
}

// isAside: "you FOR REAL did", "I am FOR REAL tired".
func (s site) isAside() bool {
	prev := s.before(1)
	return subjects[prev] || vocatives[prev] || copulas[prev] && s.isOfPerson()
}
