package language

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// longestWord bounds the words that are compared and stemmed, in bytes; no English word of use is longer.
const longestWord = 40

// word is a run of letters, marks and digits, with apostrophes inside, or one emoji.
var word = regexp.MustCompile(`(?:\p{L}\.){2,}|[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’][\p{L}\p{M}\p{N}]+)*|` + emoji)

// emoji is a pattern of an emoji with its style and colour of skin, or of several that are joined to one.
const emoji = `\p{So}[\x{fe0f}\x{1f3fb}-\x{1f3ff}]*(?:\x{200d}\p{So}[\x{fe0f}\x{1f3fb}-\x{1f3ff}]*)*`

// plainEmoji leaves out the style and the colour of skin of emoji.
var plainEmoji = strings.NewReplacer("\ufe0f", "", "\U0001f3fb", "", "\U0001f3fc", "", "\U0001f3fd", "",
	"\U0001f3fe", "", "\U0001f3ff", "")

// token is a word of a text, or the end of one as the 's of "that's".
type token struct {
	from, to int
	// key is the word in lower case without apostrophes; an end has its apostrophe. Stem is the stem of the key, where
	// it is needed.
	key, stem string
	// joined says that a phrase may go on from the token before: only one space, hyphen or apostrophe stands between.
	joined bool
	// sentence and clause count the ends of sentences, and all punctuation, before the token.
	sentence, clause int
	// skip says that the token is part of an address, a name with @, or a hashtag.
	skip bool
	// isEmoji is set of one emoji, also repeated. It ends the clause.
	isEmoji bool
}

// apostrophes are left out of words that are compared.
var apostrophes = strings.NewReplacer("'", "", "’", "")

// ends are the words that stand shortened at the end of another, by their letters.
var ends = map[string]bool{"s": true, "re": true, "ll": true, "d": true, "ve": true, "m": true}

// shortened are words that people write without their apostrophe, by what stands behind it. The words that are ordinary
// ones without it ("were", "ill", "its") are left out.
var shortened = map[string]string{"im": "m", "ive": "ve", "thats": "s", "whats": "s", "hes": "s", "shes": "s",
	"youre": "re", "theyre": "re", "theres": "s", "whos": "s", "hows": "s"}

// afterIts is what follows "its" where it stands for "it's".
var afterIts = regexp.MustCompile(`(?i)^ (?:a|an|the|not|so|too|just|really|\p{L}+ing)\b`)

// tokensOf returns the tokens of a text, without their stems.
func tokensOf(text string) (tokens []token) {
	last, chunkEnd, next := 0, 0, token{}
	for _, m := range word.FindAllStringIndex(text, -1) {
		from, to := m[0], m[1]
		gap := text[min(last, from):from]
		if from >= chunkEnd {
			start := from - len(gap) + strings.LastIndexFunc(gap, unicode.IsSpace) + 1
			chunkEnd = len(text)
			if n := strings.IndexFunc(text[from:], unicode.IsSpace); n >= 0 {
				chunkEnd = from + n
			}
			chunk := text[start:chunkEnd]
			next.skip = strings.ContainsAny(chunk, "@#") || strings.Contains(chunk, "://") ||
				strings.HasPrefix(chunk, "www.")
		}
		if strings.ContainsAny(gap, ".!?;:…\n") {
			next.sentence++
		}
		// Hyphens, apostrophes and quotes end nothing.
		if strings.ContainsFunc(gap, func(r rune) bool { return r != ' ' && !strings.ContainsRune(`'’"“”*_&/-`, r) }) ||
			strings.Contains(gap, " -") {
			next.clause++
		}
		between := strings.TrimPrefix(strings.TrimPrefix(gap, "'"), "’")
		next.from, next.joined = from, between == "" || between == " " || between == "-"
		w := text[from:to]
		if first, _ := utf8.DecodeRuneInString(w); unicode.Is(unicode.So, first) {
			emoji := next
			emoji.to, emoji.key, emoji.isEmoji = to, plainEmoji.Replace(w), true
			if n := len(tokens); n > 0 && tokens[n-1].isEmoji && tokens[n-1].key == emoji.key && gap == "" {
				tokens[n-1].to = to
			} else {
				tokens = append(tokens, emoji)
				next.clause++
			}
			last = to
			continue
		}
		end := max(strings.LastIndex(w, "'"), strings.LastIndex(w, "’"))
		if end > 0 && ends[fold(w[end:])] {
			tokens = append(tokens, next.of(w[:end]))
			next.from, next.joined = from+end, true
			w = w[end:]
		}
		short := shortened[strings.ToLower(w)]
		if strings.EqualFold(w, "its") && afterIts.MatchString(text[to:]) {
			short = "s"
		}
		if short != "" {
			end := len(w) - len(short)
			tokens = append(tokens, next.of(w[:end]))
			next.from, next.joined = from+end, true
			last := next.of(w[end:])
			last.key = "'" + short
			tokens = append(tokens, last)
		} else {
			tokens = append(tokens, next.of(w))
		}
		t := &tokens[len(tokens)-1]
		if after := text[to:]; len(w) > 4 && strings.HasSuffix(w, "in") &&
			(strings.HasPrefix(after, "'") || strings.HasPrefix(after, "’")) {
			_, size := utf8.DecodeRuneInString(after)
			t.to += size
		}
		last = t.to
	}
	return tokens
}

// stemmed returns the tokens of a text with their stems.
func stemmed(text string) []token {
	tokens := tokensOf(text)
	for i, t := range tokens {
		tokens[i].stem = stem(t.key)
	}
	return tokens
}

// of returns the token of a word that begins where t does.
func (t token) of(w string) token {
	t.to, t.key = t.from+len(w), fold(w)
	if strings.HasPrefix(w, "'") || strings.HasPrefix(w, "’") {
		t.key = "'" + t.key
	}
	return t
}

// fold is the form in which words are compared.
func fold(w string) string {
	if len(w) > longestWord {
		w = w[:longestWord]
	}
	return strings.ToLower(apostrophes.Replace(strings.ToValidUTF8(w, "")))
}

// stem returns the stem of a word in lower case.
func stem(w string) string { return english.Stem(w, true) }

// squeezed returns a word with runs of three and more equal letters cut to at most n.
func squeezed(w string, n int) string {
	var b strings.Builder
	runes := []rune(w)
	for i := 0; i < len(runes); {
		j := i
		for j < len(runes) && runes[j] == runes[i] {
			j++
		}
		run := j - i
		if run >= 3 {
			run = n
		}
		b.WriteString(strings.Repeat(string(runes[i]), run))
		i = j
	}
	return b.String()
}

// reading is a text that is read from its start to its end.
type reading struct {
	text   string
	tokens []token
	// phrases are those that are looked for, whose senses language has. They are slang, or plain.
	phrases  phrases
	language *Language
	ofSlang  bool
	// region is the country whose slang is written; "": what all countries use.
	region string
	// sentences have the stems of each sentence.
	sentences map[int]map[string]bool
	// slang says whether the text has slang that is no ordinary word, once that was asked.
	slang *bool
	// open are the tokens where phrases begin that may be slang, once that was asked.
	open map[int]bool
}

func (l *Language) newReading(text string, ofSlang bool) *reading {
	r := &reading{text: text, tokens: stemmed(text), phrases: phrases{l.maps[slangSection]}, language: l,
		ofSlang:   ofSlang,
		sentences: map[int]map[string]bool{}}
	if ofSlang {
		r.phrases = phrases{l.maps[standardSection]}
	}
	for _, t := range r.tokens {
		if r.sentences[t.sentence] == nil {
			r.sentences[t.sentence] = map[string]bool{}
		}
		r.sentences[t.sentence][t.stem] = true
	}
	return r
}

// match is a phrase that was found in a text.
type match struct {
	sense
	// n is how many tokens it has. 0: there is none, or one that stays as it may be no slang.
	n    int
	sure certainty
	// stays says that the phrase is slang, and that no equivalent of it fits in its place.
	stays bool
	// object is the pronoun inside the phrase ("left HER on read"); 0: there is none.
	object int
}

// longest returns the longest phrase that starts at a token and has a sense there.
func (r *reading) longest(i int) (found match) {
	for n, at := range r.phrases.startingAt(r.tokens, i) {
		found = r.sensible(found, match{n: n}, i, at)
	}
	if r.ofSlang && i+2 < len(r.tokens) && pronouns[r.tokens[i+1].key] && r.tokens[i+1].joined {
		around := slices.Concat(r.tokens[i:i+1], r.tokens[i+2:min(i+2+longestAround, len(r.tokens))])
		for n, at := range r.phrases.startingAt(around, 0) {
			if n > 1 {
				found = r.sensible(found, match{n: n + 1, object: i + 1}, i, at)
			}
		}
	}
	return found
}

// longestAround bounds the words of a phrase behind a pronoun.
const longestAround = 4

// sensible returns m with the first of its senses that fits, or before, if none does.
func (r *reading) sensible(before, m match, i int, at uint64) match {
	var staying match
	for s := range r.sensesHere(at) {
		if m.object > 0 && s.pos != lingible.Verb {
			continue
		}
		if before.sure == 0 {
			before.sure = kept
		}
		m.sense, m.sure = s, r.fits(s, i, m.n)
		here := site{r, s, i, m.n}
		switch {
		case m.sure > 0 && s.with != "" && (!s.slang || here.hasSlot(m.object > 0)):
			return m
		case m.sure > 0 && staying.sure == 0, staying.n == 0 && (here.isSlangAnyway() || here.mayBeSlang()):
			staying = m
			staying.stays = true
		}
	}
	// A term that is certain to be meant, or alone here.
	if staying.sure > 0 || staying.n > 0 && before.n == 0 {
		staying.sure = max(staying.sure, kept)
		return staying
	}
	return before
}

// sensesHere returns the senses at an offset. Of slang that is written, they are those that the region uses most, those
// that it uses as well, and those of all.
func (r *reading) sensesHere(at uint64) iter.Seq[sense] {
	all := r.language.senses(at, r.ofSlang)
	if r.ofSlang {
		return all
	}
	return func(yield func(sense) bool) {
		for _, wanted := range []use{most, some, everywhere} {
			for s := range all {
				if r.useOf(s) == wanted && !yield(s) {
					return
				}
			}
		}
	}
}

// use says how a region uses a term.
type use int

const (
	never use = iota
	most
	some
	everywhere
)

func (r *reading) useOf(s sense) use {
	switch {
	case s.regions == "":
		return everywhere
	case r.region == "" || !strings.Contains(s.regions, r.region):
		return never
	case strings.HasPrefix(s.regions, r.region):
		return most
	}
	return some
}

// key returns the word at a token of the same clause, and "" beyond it, or of an emoji.
func (r *reading) key(i, of int) string {
	if i < 0 || i >= len(r.tokens) || r.tokens[i].clause != r.tokens[of].clause || r.tokens[i].isEmoji {
		return ""
	}
	return r.tokens[i].key
}

// fits says how certain it is that the phrase of n tokens at i has the sense there; 0 is no.
func (r *reading) fits(s sense, i, n int) certainty {
	if !r.isPartOfSpeech(s, i, n) || s.slang && r.isInWord(i, n) {
		return 0
	}
	// Of slang that is written, a noun alone is read as the ordinary word too easily ("the BREAD" for money).
	if s.homonym != nil && (s.slang || s.pos == lingible.Noun) {
		return s.homonym.certainty(site{r, s, i, n})
	}
	return certain
}

// isInWord says that a hyphen or a full stop joins a phrase to a word beside it: "MID-waters", "lake.PROPS".
func (r *reading) isInWord(i, n int) bool {
	first, last := r.tokens[i], r.tokens[i+n-1]
	joins := func(at, beyond int) bool {
		if at < 0 || beyond < 0 || at >= len(r.text) || beyond >= len(r.text) ||
			r.text[at] != '-' && r.text[at] != '.' {
			return false
		}
		c := r.text[beyond]
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	return joins(first.from-1, first.from-2) || joins(last.to, last.to+1)
}

// isPartOfSpeech says that the words beside a phrase allow the part of speech of a sense.
func (r *reading) isPartOfSpeech(s sense, i, n int) bool {
	prev, next := r.key(i-1, i), r.key(i+n, i+n-1)
	if s.slang && s.pos == lingible.Adjective && !copulas[prev] {
		// "the knock FLOORED him", "I POOPED out", "we MESSED UP the room"
		first, _, _ := strings.Cut(s.own, " ")
		if !degree[prev] && (objects[next] || determiners[next]) || subjects[prev] && strings.HasSuffix(first, "ed") {
			return false
		}
	}
	if n > 1 || strings.ContainsAny(s.own, " -") {
		// "a CHIP IN the cup", "took the VEG OUT of the oven", "are FLAT OUT of the packet"
		isPart := s.slang && next == "of" && (s.pos == lingible.Verb || strings.HasSuffix(s.own, " out"))
		return !isPart && !(s.pos == lingible.Verb && s.slang && s.form == base && determiners[prev])
	}
	switch s.pos {
	case lingible.Verb:
		if determiners[prev] || prepositions[prev] && prev != "to" || s.form == base && prev == "this" {
			return false
		}
		return !(s.slang && strings.HasPrefix(s.with, "be ") && (objects[next] || determiners[next]))
	case lingible.Noun:
		isCalled := site{r, s, i, n}.isCalledYou() // "you GALAH"
		if subjects[prev] && !isCalled || modals[prev] || prev == "to" {
			return false
		}
		return !(r.isName(i) && strings.ToLower(s.own) == s.own)
	case lingible.Adjective:
		return !((prev == "a" || prev == "an") && (next == "" || functionWord(next)))
	}
	return true
}

// isName says that a word is a capital one inside a sentence.
func (r *reading) isName(i int) bool {
	t := r.tokens[i]
	first, _ := utf8.DecodeRuneInString(r.text[t.from:])
	return unicode.IsUpper(first) && i > 0 && r.tokens[i-1].sentence == t.sentence &&
		strings.ToUpper(r.text[t.from:t.to]) != r.text[t.from:t.to]
}

// write returns what stands for a match at i: inflected, and in the case of the original.
func (r *reading) write(m match, i int) string {
	s, n := m.sense, m.n
	prev := r.key(i-1, i)
	f := s.form
	at := i - 1
	for intensifiers[r.key(at, i)] {
		at--
	}
	subject, auxiliary := r.key(at, i), r.key(at-1, i)
	// "she HIT the books" has the past, "did she HIT the books" has not, and "they HIT the books" can be either.
	if f == base && s.pos == lingible.Verb && s.slang && inflect(s.own, s.pos, past) == s.own &&
		!modals[auxiliary] && auxiliary != "let" &&
		(subject == "he" || subject == "she" || subject == "it" || isContent(subject) && !isPlural(subject)) {
		f = past
	}
	if f == past && perfect[prev] {
		f = participle
	}
	if f == base && s.pos == lingible.Noun && isMany(prev) {
		f = plural
	}
	isDegree := degree[prev] || prev == "too"
	if first, rest, _ := strings.Cut(s.with, " "); s.slang && isDegree && rest != "" && doubledUp[first] {
		s.with = rest // "so very tired"
	}
	with := inflect(s.with, s.pos, f)
	if rest, ok := strings.CutPrefix(s.with, "be "); ok && s.pos == lingible.Verb {
		with = be(f, subject) + " " + rest
	}
	if m.object > 0 {
		object := r.text[r.tokens[m.object].from:r.tokens[m.object].to]
		first, rest, _ := strings.Cut(with, " ")
		if rest != "" && !prepositions[rest[strings.LastIndex(rest, " ")+1:]] {
			with = first + " " + object + " " + rest
		} else {
			with += " " + object
		}
	}
	original := r.text[r.tokens[i].from:r.tokens[i+n-1].to]
	letters := strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) {
			return c
		}
		return -1
	}, original)
	first, _ := utf8.DecodeRuneInString(original)
	isUpper, written := letters == strings.ToUpper(letters) && letters != strings.ToLower(letters),
		strings.ToUpper(s.own) == s.own
	starts := i == 0 || r.tokens[i-1].sentence != r.tokens[i].sentence
	switch {
	case isUpper && !written && len(letters) > 3 && syllables(strings.ToLower(letters)) > 0,
		isUpper && r.isShouted(i, n):
		return strings.ToUpper(with)
	case unicode.IsUpper(first) && (starts || !isUpper && !isCapital(s.own[:1])):
		c, size := utf8.DecodeRuneInString(with)
		return string(unicode.ToUpper(c)) + with[size:]
	}
	return with
}

// isMany says that a word is a number above one.
func isMany(w string) bool {
	return numbers[w] || w != "" && w[0] >= '0' && w[0] <= '9' && w != "1"
}

// isShouted says that a neighbouring word of two letters or more is written in capitals.
func (r *reading) isShouted(i, n int) bool {
	return slices.ContainsFunc([]int{i - 1, i + n}, func(k int) bool {
		if k < 0 || k >= len(r.tokens) {
			return false
		}
		w := r.text[r.tokens[k].from:r.tokens[k].to]
		return len(w) > 1 && strings.ToUpper(w) == w && strings.ToLower(w) != w
	})
}

// article returns the article that the word before a token needs, and where it stands, or "" if that is right or none.
func (r *reading) article(i int, with string) (string, int) {
	if key := r.key(i-1, i); key != "a" && key != "an" || r.text[r.tokens[i-1].to:r.tokens[i].from] != " " {
		return "", 0
	}
	t := r.tokens[i-1]
	article, old := articleBefore(with), r.text[t.from:t.to]
	switch {
	case strings.EqualFold(article, old):
		return "", 0
	case old == strings.ToUpper(old) && len(old) > 1:
		return strings.ToUpper(article), t.from
	case unicode.IsUpper(rune(old[0])):
		return strings.ToUpper(article[:1]) + article[1:], t.from
	}
	return article, t.from
}

// isPlural reports whether a word looks like a plural.
func isPlural(w string) bool {
	return strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && w != "this" && w != "always"
}

// be returns the form of "be" after a word.
func be(f form, prev string) string {
	many := prev == "we" || prev == "you" || prev == "they" || prev == "these" || prev == "those" || isPlural(prev)
	switch {
	case f == gerund:
		return "being"
	case f == participle:
		return "been"
	case f == past && many:
		return "were"
	case f == past:
		return "was"
	case f == third:
		return "is"
	case prev == "i":
		return "am"
	case prev == "" || prev == "to" || modals[prev]:
		return "be"
	case many || prev == "and" || prev == "all":
		return "are"
	}
	return "be"
}
