package rubric

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

const (
	// longestWord bounds the words that are stemmed, in bytes; no English word of use is longer.
	longestWord = 40
	// longestSentence ends a sentence without an end, in tokens, so that the work on each is bounded.
	longestSentence = 100
)

// tokens are abbreviations, numbers, words, ends of sentences, and other punctuation. The
// package regexp takes time linear in the text.
var tokens = regexp.MustCompile(
	`(?i)\b(?:e\.g|i\.e|vs|dr|mrs?|etc|approx)\.|\d+(?:[.,]\d+)*|\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)*|[.!?;…。！？؟]+["”’)]*(?:\s|$)|[\n。！？؟]|[,:()–—%]`)

// kind is what a token of a sentence is.
type kind int

// Punctuation has "^" for the start of a sentence and "," for all within. A spelled number is one in letters.
const (
	punctuation kind = iota
	functionWord
	emptyWord
	contentWord
	number
	spelledNumber
)

type word struct {
	stem  string
	kind  kind
	value float64 // of a number
}

// stem returns the stem of a word in lower case.
func stem(w string) string {
	if len(w) > longestWord {
		return strings.ToValidUTF8(w[:longestWord], "")
	}
	return english.Stem(w, true)
}

// newWord classifies a token in lower case.
func newWord(token string) word {
	if n, err := strconv.ParseFloat(strings.ReplaceAll(token, ",", ""), 64); err == nil && token[0] <= '9' {
		return word{"#", number, n}
	}
	w := word{stem: stem(token)}
	before, _, contracted := strings.Cut(token, "'")
	switch {
	case token == "%":
	case spelled[token] != 0:
		w.kind, w.value = spelledNumber, spelled[token]
	case english.IsStopWord(token), functionWords[token],
		contracted && (english.IsStopWord(before) || strings.HasSuffix(token, "n't")):
		w.kind = functionWord
	case emptyStems[w.stem] || len([]rune(token)) <= 2 || token[0] <= '9':
		w.kind = emptyWord
	default:
		w.kind = contentWord
	}
	return w
}

// mark is a phrase at words[from:to] of a sentence.
type mark struct {
	from, to int
	does     signal
	text     string
}

// sentence is a sentence, with a short one beside it.
type sentence struct {
	text  string
	words []word
	marks []mark
	does  signal // all that its marks do
	// content are its different content words; own are those that the source has not.
	content, own []string
	// total counts its words and numbers, covered those in phrases, and functions and empties such words outside of
	// them; pieces counts the sentences in it.
	total, covered, functions, empties, phrases, commas, pieces int
	// fresh counts the own words that no earlier sentence has.
	fresh   int
	onTopic bool
	// isOwn says that it reads like a sentence, and repeats neither the source nor its answer.
	isOwn bool
	// figures are the numbers in digits of its pieces.
	figures []float64
	// computes are its figures that come out, and results those of them that the source does not state.
	computes, results []float64
	tally             tally
}

// reader reads the answers of an attempt one after the other, and knows what is said already.
type reader struct {
	// source are the content words of the scenario and of the questions, and figures their numbers.
	source  map[string]bool
	figures []float64
	said    map[string]bool
	// pairs are neighbouring content words, by the turn that said them last: 0 is the source, and 1 the first answer.
	pairs map[[2]string]int
	turn  int
	// texts are the sentences of the answers so far.
	texts map[string]bool
	told  map[float64]bool
	// frames are those of the sentences of the answers so far.
	frames [][]string
	// known are the figures of the answers so far, and marking that of the scenario, or nil.
	known   map[float64]bool
	marking *marking
}

// newReader returns a reader that has read the source.
func newReader(texts ...string) *reader {
	r := &reader{source: map[string]bool{}, said: map[string]bool{}, pairs: map[[2]string]int{},
		texts: map[string]bool{}, told: map[float64]bool{}, known: map[float64]bool{}}
	for _, s := range r.sentences(strings.Join(texts, "\n\n")) {
		r.isNew(s)
		r.figures = append(r.figures, s.figures...)
	}
	r.source, r.said = r.said, map[string]bool{}
	return r
}

// sentences returns the sentences of a text. Two of them are one if either is short.
func (r *reader) sentences(text string) []*sentence {
	text = strings.ToValidUTF8(text, " ")
	var all []*sentence
	words, start := []word{{stem: "^"}}, 0
	end := func(at int) {
		if s := r.newSentence(words, text[start:at]); s.total > 0 {
			if last := len(all) - 1; last >= 0 && min(len(s.content), len(all[last].content)) < 3 &&
				all[last].total+s.total <= longestSentence/2 {
				s = r.newSentence(slices.Concat(all[last].words, words), all[last].text+s.text)
				s.pieces += all[last].pieces
				all = all[:last]
			}
			all = append(all, s)
		}
		words, start = []word{{stem: "^"}}, at
	}
	for _, at := range tokens.FindAllStringIndex(text, -1) {
		token := strings.ReplaceAll(strings.ToLower(text[at[0]:at[1]]), "’", "'")
		switch r := []rune(token)[0]; {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '%':
			words = append(words, newWord(strings.TrimSuffix(token, ".")))
		case strings.ContainsRune(",:()–—", r):
			words = append(words, word{stem: ","})
		default:
			if r == '?' || r == '？' || r == '؟' {
				words = append(words, word{stem: "?"})
			}
			end(at[1])
		}
		if len(words) > longestSentence {
			end(at[1])
		}
	}
	end(len(text))
	return all
}

// newSentence finds the phrases of a sentence and its content words.
func (r *reader) newSentence(words []word, text string) *sentence {
	s := &sentence{text: text, words: slices.Clone(words), pieces: 1}
	covered := 0 // up to here, by phrases
	for i := range s.words {
		for _, p := range phraseBook[s.words[i].stem] {
			if !s.matches(p.stems, i) {
				continue
			}
			if m := (mark{i, i + len(p.stems), p.does, p.text}); !s.isDenied(m) {
				s.marks = append(s.marks, m)
				s.does |= p.does
			}
			if p.does&^plain != 0 {
				if i >= covered {
					s.phrases++
				}
				covered = max(covered, i+len(p.stems))
			}
		}
		w := &s.words[i]
		if w.kind != punctuation {
			s.total++
		}
		switch {
		case w.stem == ",":
			s.commas++
		case w.kind == punctuation:
		case i < covered:
			s.covered++
			if w.kind == contentWord {
				w.kind = emptyWord
			}
		case w.kind == emptyWord:
			s.empties++
		case w.kind == functionWord:
			s.functions++
		}
	}
	s.content = contentOf(s.words)
	for _, piece := range s.split() {
		s.figures = append(s.figures, figuresOf(piece)...)
	}
	for _, c := range s.content {
		if !r.source[c] {
			s.own = append(s.own, c)
		}
	}
	s.onTopic = len(s.own) < len(s.content) ||
		slices.ContainsFunc(s.words, func(w word) bool { return matterStems[w.stem] })
	return s
}

func (s *sentence) matches(phrase []string, at int) bool {
	if at+len(phrase) > len(s.words) {
		return false
	}
	for i, stem := range phrase {
		if w := s.words[at+i]; w.stem != stem && (stem != "#" || w.kind != spelledNumber) {
			return false
		}
	}
	return true
}

// contentOf returns the different content words.
func contentOf(words []word) (content []string) {
	for _, w := range words {
		if w.kind == contentWord && !slices.Contains(content, w.stem) {
			content = append(content, w.stem)
		}
	}
	return content
}

// from returns the words from i to the end of the piece.
func (s *sentence) from(i int) []word {
	rest := s.words[i:]
	if end := slices.IndexFunc(rest, func(w word) bool { return w.stem == "^" }); end > 0 {
		rest = rest[:end]
	}
	return rest
}

// before returns the words of the piece before i.
func (s *sentence) before(i int) []word {
	start := i
	for start > 0 && s.words[start].stem != "^" {
		start--
	}
	return s.words[start:i]
}

// split returns the words of each piece.
func (s *sentence) split() (pieces [][]word) {
	start := 0
	for i, w := range s.words {
		if w.stem == "^" && i > start {
			pieces, start = append(pieces, s.words[start:i]), i
		}
	}
	return append(pieces, s.words[start:])
}

// figuresOf returns the numbers in digits of a piece, unless it has hardly a word about them.
func figuresOf(piece []word) []float64 {
	all := numbersOf(piece, number)
	if len(all) > len(contentOf(piece))+1 {
		return nil
	}
	return all
}

// numbersOf returns the numbers of a piece that are of these kinds.
func numbersOf(piece []word, kinds ...kind) (all []float64) {
	for _, w := range piece {
		if slices.Contains(kinds, w.kind) {
			all = append(all, w.value)
		}
	}
	return all
}

// speaksOfTime says that a piece may divide by the days of a month, or the like.
func speaksOfTime(piece []word) bool {
	return slices.ContainsFunc(piece, func(w word) bool { return periods[w.stem] })
}

// reads says that the words stand as in an English sentence: enough function words, and neither a list nor a string of
// phrases.
func (s *sentence) reads() bool {
	return 5*(s.functions+s.empties) >= s.total-s.covered && 5*s.functions <= 4*s.total && 5*s.phrases <= s.total+2 &&
		3*s.commas <= s.total
}

// saysEnough says that the sentence has three content words, or fewer and does something with them.
func (s *sentence) saysEnough() bool {
	n := len(s.content)
	return n >= 3 || n > 0 && (len(s.results) > 0 || len(s.own) > 0 && s.does&moves != 0)
}

// isNew says that neither the source nor an earlier sentence says the same, or that it computes a figure that neither
// has, and remembers the sentence. isOwn says so where an earlier answer may say the same in other sentences.
func (r *reader) isNew(s *sentence) (isNew, isOwn bool) {
	before, pairs, old, oldHere := "", 0, 0, 0
	computed := false
	for _, x := range s.results {
		if !r.told[x] {
			computed, r.told[x] = true, true
			s.fresh++
		}
	}
	for _, w := range s.words {
		if w.kind != contentWord {
			continue
		}
		pair := [2]string{min(before, w.stem), max(before, w.stem)}
		pairs++
		if turn, ok := r.pairs[pair]; ok {
			old++
			if turn == 0 || turn == r.turn {
				oldHere++
			}
		}
		if !r.said[w.stem] && !r.source[w.stem] {
			s.fresh++
		}
		if turn, ok := r.pairs[pair]; !ok || turn > 0 {
			r.pairs[pair] = r.turn
		}
		r.said[w.stem] = true
		before = w.stem
	}
	is := func(old int) bool {
		return 3*old <= pairs || (s.fresh > 0 || s.does&moves != 0) && 2*old <= pairs || computed
	}
	isOwn = is(oldHere) && !r.texts[s.text]
	r.texts[s.text] = true
	return is(old), isOwn
}

// answer reads an answer, and decides which of its sentences count.
func (r *reader) answer(text string) *answer {
	r.turn++
	a := &answer{reader: r, all: r.sentences(text)}
	counts := make([]bool, len(a.all)+2)
	words, strange := map[string]bool{}, 0
	var before []float64
	for i, s := range a.all {
		var t tally
		t, before = r.count(s, before)
		s.tally = t
		a.tally.add(t)
		a.tally.misses = append(a.tally.misses, t.misses...)
		isNew, isOwn := r.isNew(s)
		if a.total += s.total; !isNew {
			a.repeated += s.total
		}
		s.isOwn = isOwn && s.reads()
		counts[i+1] = isNew && s.saysEnough() && s.reads()
		for _, c := range s.content {
			if !words[c] && !r.source[c] && !vocabulary[c] {
				strange++
			}
			words[c] = true
		}
	}
	a.isStrange = len(words) > 0 && 3*strange > len(words)
	if a.isFramed = r.isFramed(a.all); a.isFramed || a.isStrange {
		return a
	}
	onTopic := func(i int) bool { return counts[i] && a.all[i-1].onTopic }
	for i, s := range a.all {
		if counts[i+1] && (s.onTopic || onTopic(i) || onTopic(i+2)) {
			a.sentences = append(a.sentences, s)
		}
	}
	return a
}
