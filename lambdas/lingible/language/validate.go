package language

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/blevesearch/vellum"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// The most words of a term, and the most characters of a word in one.
const (
	maxWords    = 6
	longestPart = 20
)

// keyboard are rows of keys, in both directions.
var keyboard = []string{"qwert", "werty", "asdf", "sdfg", "dfgh", "fghj", "hjkl", "zxcv", "xcvb", "cvbn", "uiop",
	"trewq", "fdsa", "lkjh", "vcxz"}

// address is a link, a mail address, a name on a network, or a number to call.
var address = regexp.MustCompile(`(?i)://|\bwww\.|\S@\S|\B@\w|\b[\w-]+\.(?:com|net|org|io|ly|me)\b|\d[\d ()-]{6,}\d`)

// Validate judges a submission in time linear in its length.
func (l *Language) Validate(_ context.Context, s lingible.Proposal) (lingible.Verdict, error) {
	term, meaning, example := wordsOf(s.Term), wordsOf(s.Meaning), wordsOf(s.Example)
	// A longer term breaks the first rule, and searching for it would take too long.
	uses := len(term) > maxWords || l.uses(s.Term, example)
	var broken []string
	rule := func(ok bool, reason string, values ...any) {
		if !ok {
			broken = append(broken, fmt.Sprintf(reason, values...))
		}
	}
	rule(len(term) > 0 && len(term) <= maxWords &&
		!slices.ContainsFunc(term, func(t token) bool {
			return t.to-t.from > 4*longestPart || len([]rune(t.key)) > longestPart
		}),
		"The term needs one to %d words of at most %d letters each.", maxWords, longestPart)
	letters, others := shares(s.Term)
	rule(letters > 0 && letters >= 3*others, "The term needs letters: at most a quarter may be other characters.")
	rule(!slices.ContainsFunc(term, func(t token) bool { return gibberish(t.key, isCapital(s.Term[t.from:t.to])) }),
		"The term looks like random letters.")
	rule(!l.has(takenSection, lingible.Slug(s.Term)) && !l.isForm(term), "The term is in the lexicon already.")
	rule(!address.MatchString(s.Term+" \n "+s.Meaning+" \n "+s.Example),
		"Links, addresses and numbers to call are not allowed.")
	rule(fresh(meaning, term) > 0, "The meaning needs a word that is not the term.")
	rule(!isList(s.Meaning, meaning), "The meaning is a list of keywords: write a phrase or a sentence.")
	rule(2*l.known(meaning, term) >= len(meaning), "Hardly a word of the meaning is known: write it in plain English.")
	rule(uses, "The example does not use the term.")
	rule(fresh(example, term) >= 3, "The example needs at least three words besides the term.")
	rule(!slices.EqualFunc(meaning, example, func(a, b token) bool { return a.key == b.key }),
		"The example repeats the meaning.")
	rule(!isList(s.Example, example), "The example is a list of keywords: write a sentence.")
	if len(broken) > 0 {
		return lingible.Verdict{Confidence: min(0.95, 0.75+0.1*float64(len(broken)-1)), Usage: 1, Reasons: broken}, nil
	}
	return l.rate(s, term, meaning, example), nil
}

// wordsOf returns the tokens of a text without its emoji.
func wordsOf(text string) []token {
	return slices.DeleteFunc(stemmed(text), func(t token) bool { return t.isEmoji })
}

// rate judges a valid submission by what speaks for it.
func (l *Language) rate(s lingible.Proposal, term, meaning, example []token) lingible.Verdict {
	v := lingible.Verdict{Valid: true, Usage: 4}
	points := 50
	award := func(ok bool, confidence, usage int, reason string) {
		if ok {
			points, v.Usage = points+confidence, v.Usage+usage
		} else {
			v.Reasons = append(v.Reasons, reason)
		}
	}
	award(len(meaning) >= 3 && 5*l.known(meaning, term) >= 4*len(meaning), 15, 1,
		"Explain the meaning in three or more plain words.")
	award(len(example) >= 5 && 10*l.known(example, term) >= 7*len(example), 15, 1,
		"Write an example of five or more words, plain apart from the term.")
	award(hasFunctionWord(example) && strings.ContainsAny(s.Example, ".!?…"), 5, 1,
		"Write the example as a sentence with its punctuation.")
	award(len(meaning) <= 15, 5, 1, "Put the meaning into fifteen words at most.")
	award(len(term) <= 3 && len([]rune(s.Term)) <= 20, 5, 1, "A term of up to three short words is used more.")
	letters, others := shares(s.Term)
	award(others*10 <= letters, 5, 1, "A term of letters alone is easier to use.")
	// Once in the lexicon, the term is replaced wherever it stands.
	if !slices.ContainsFunc(term, func(t token) bool {
		return !functionWord(t.key) && (len(term) > 1 || !commonStems[t.stem])
	}) {
		points -= 20
		v.Reasons = append(v.Reasons, "The term is an ordinary word, too: people have to say whether it is slang.")
	}
	v.Confidence = float64(points) / 100
	v.Recommended = v.Confidence >= 0.85 && v.Usage >= 7
	return v
}

// uses says that a text has the term, also inflected as a verb, a noun or an adjective.
func (l *Language) uses(term string, text []token) bool {
	spellings := map[string]bool{phraseOf(term): true}
	for pos, forms := range formsOf {
		for _, f := range forms {
			spellings[phraseOf(inflect(strings.ToLower(term), pos, f))] = true
		}
	}
	delete(spellings, "")
	var own phrases
	var written bytes.Buffer
	made, err := vellum.New(&written, nil)
	for _, spelling := range slices.Sorted(maps.Keys(spellings)) {
		if err == nil {
			err = made.Insert([]byte(spelling), 0)
		}
	}
	if err == nil && made.Close() == nil {
		own.FST, _ = vellum.Load(written.Bytes())
	}
	for i := range text {
		for range own.startingAt(text, i) {
			return true
		}
	}
	return false
}

// isForm says that the words are a term of the lexicon, in any form.
func (l *Language) isForm(words []token) bool {
	terms := phrases{l.maps[standardSection]}
	for n := range terms.startingAt(words, 0) {
		if n == len(words) {
			return true
		}
	}
	return false
}

// known counts the words that the language knows, or that are words of the term.
func (l *Language) known(words, term []token) (n int) {
	own := stemsOf(term)
	for _, t := range words {
		if l.knows(t) || own[t.stem] {
			n++
		}
	}
	return n
}

func stemsOf(words []token) map[string]bool {
	stems := map[string]bool{}
	for _, t := range words {
		stems[t.stem] = true
	}
	return stems
}

// fresh counts the different words that are no words of the term.
func fresh(words, term []token) int {
	stems := stemsOf(words)
	for _, t := range term {
		delete(stems, t.stem)
	}
	return len(stems)
}

// isList says that a text is words beside each other rather than a phrase: a comma for every other word, or four words
// and more without one that carries grammar.
func isList(text string, words []token) bool {
	separators := strings.Count(text, ",") + strings.Count(text, ";") + strings.Count(text, "|") +
		strings.Count(text, "#")
	return separators >= 2 && 2*separators+1 >= len(words) || len(words) >= 4 && !hasFunctionWord(words)
}

func hasFunctionWord(words []token) bool {
	return slices.ContainsFunc(words, func(t token) bool { return functionWord(t.key) })
}

// gibberish says that no one could say a word: it has no vowel and is no short form, one letter four times in a row,
// one pair or triple three times, six consonants in a row, or a row of keys.
func gibberish(w string, capital bool) bool {
	vowels, run, consonants := 0, 0, 0
	runes := []rune(w)
	for i, r := range runes {
		run++
		if i > 0 && runes[i-1] != r {
			run = 1
		}
		consonants++
		if strings.ContainsRune("aeiouy", r) || r >= 0x80 || unicode.IsDigit(r) {
			vowels, consonants = vowels+1, 0
		}
		if run >= 4 || consonants >= 6 && !(capital && len(runes) <= 8) {
			return true
		}
		for size := 2; size <= 3; size++ {
			if i+1 >= 3*size && string(runes[i+1-size:i+1]) == string(runes[i+1-2*size:i+1-size]) &&
				string(runes[i+1-size:i+1]) == string(runes[i+1-3*size:i+1-2*size]) {
				return true
			}
		}
	}
	return vowels == 0 && len(runes) > 4 && !capital ||
		slices.ContainsFunc(keyboard, func(row string) bool { return strings.Contains(w, row) })
}

func isCapital(w string) bool { return strings.ToUpper(w) == w }

// shares counts the letters of a text, and its other characters without spaces, hyphens and apostrophes.
func shares(text string) (letters, others int) {
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r):
			letters++
		case !unicode.IsSpace(r) && !strings.ContainsRune("-'’", r):
			others++
		}
	}
	return letters, others
}
