package language

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/blevesearch/vellum"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// The index of a lexicon is one block of bytes that is searched where it lies: nothing of it is read at a start but its
// header. It has the magic, a CRC-32 (Castagnoli) of all that follows, the length of the header, the header as JSON,
// and the sections. Maps from texts are finite state transducers, whose values are offsets in the sections. Numbers are
// little-endian, or unsigned varints.
const magic = "lexicon2"

// ErrIndex says that bytes are no index of this version, or a spoiled one: the next export makes another.
var ErrIndex = errors.New("no index of a lexicon, or of another version, or a spoiled one")

// Sections.
const (
	// entries are the entries as JSON, each behind its length.
	entriesSection = iota
	// lemmas are what translations need of entries: slug, plain text, regions, term and variants.
	lemmasSection
	// lists are of offsets of entries: a number, and as many numbers of four bytes.
	listsSection
	// senses are lists of references, each in order of preference.
	sensesSection
	// Maps: of slugs to entries, of phrases to senses, of slugs of terms and variants, of stems, and of slugs of plain
	// texts to lists.
	slugsSection
	standardSection
	slangSection
	takenSection
	vocabularySection
	synonymsSection
	sections
)

// texting is the tag of terms that are short for others.
const texting = "texting"

// leastWritten is the least momentum of a term that is written for plain words; 0 is unknown.
const leastWritten = 0.3

// maxTrends is how many terms the index has in order of momentum.
const maxTrends = lingible.MaxTrends

// header begins an index.
type header struct {
	// Lengths are those of the sections.
	Lengths [sections]int
	// Trends are the entries that are most in use.
	Trends []uint32
	// Quiz are the lists of the terms that the quiz asks about, by [quizList].
	Quiz map[string]uint32
}

// quizList names a list of the quiz; empty: of all difficulties, or categories.
func quizList(difficulty lingible.Difficulty, category lingible.Category) string {
	return string(difficulty) + " " + string(category)
}

// reference is a sense as it is written.
type reference struct {
	lemma uint32
	// name is which of the term and the variants it is.
	name, pos, form byte
}

// builder makes an index.
type builder struct {
	entries, lemmas, lists, senses []byte
	toStandard, slang, similar     map[string][]reference
	synonyms, quiz                 map[string][]uint32
	maps                           [sections]map[string]uint64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Build makes the index of entries.
func Build(entries []lingible.Entry) ([]byte, error) {
	b := &builder{toStandard: map[string][]reference{}, slang: map[string][]reference{},
		similar:  map[string][]reference{},
		synonyms: map[string][]uint32{}, quiz: map[string][]uint32{}}
	for section := range b.maps {
		b.maps[section] = map[string]uint64{}
	}
	// Where two entries could translate a text, the one with the higher score does.
	entries = slices.SortedStableFunc(slices.Values(entries), func(a, b lingible.Entry) int {
		return cmp.Or(cmp.Compare(b.QuizScore(), a.QuizScore()), strings.Compare(a.Slug(), b.Slug()))
	})
	for _, e := range entries {
		if err := b.add(e); err != nil {
			return nil, err
		}
	}
	h := header{Quiz: map[string]uint32{}}
	inUse := slices.SortedStableFunc(slices.Values(entries), func(a, b lingible.Entry) int {
		return cmp.Or(cmp.Compare(b.Momentum, a.Momentum), strings.Compare(a.Slug(), b.Slug()))
	})
	for _, e := range inUse[:min(maxTrends, len(inUse))] {
		h.Trends = append(h.Trends, uint32(b.maps[slugsSection][e.Slug()]))
	}
	for name, of := range b.quiz {
		h.Quiz[name] = b.list(of)
	}
	for slug, of := range b.synonyms {
		b.maps[synonymsSection][slug] = uint64(b.list(of))
	}
	// What says nearly the same comes behind what says the same.
	for phrase, references := range b.similar {
		b.slang[phrase] = append(b.slang[phrase], references...)
	}
	b.write(standardSection, b.toStandard)
	b.write(slangSection, b.slang)
	return b.index(h)
}

// list writes a list, and returns its offset.
func (b *builder) list(of []uint32) (offset uint32) {
	offset = uint32(len(b.lists))
	b.lists = binary.LittleEndian.AppendUint32(b.lists, uint32(len(of)))
	for _, entry := range of {
		b.lists = binary.LittleEndian.AppendUint32(b.lists, entry)
	}
	return offset
}

// write writes the senses of phrases, and takes their offsets into the map of a section.
func (b *builder) write(section int, phrases map[string][]reference) {
	for phrase, references := range phrases {
		b.maps[section][phrase] = uint64(len(b.senses))
		b.senses = binary.AppendUvarint(b.senses, uint64(len(references)))
		for _, r := range references {
			b.senses = append(binary.AppendUvarint(b.senses, uint64(r.lemma)), r.name, r.pos, r.form)
		}
	}
}

// index puts the sections behind their header.
func (b *builder) index(h header) ([]byte, error) {
	parts := [sections][]byte{entriesSection: b.entries, lemmasSection: b.lemmas, listsSection: b.lists,
		sensesSection: b.senses}
	for section := slugsSection; section < sections; section++ {
		var err error
		if parts[section], err = transducer(b.maps[section]); err != nil {
			return nil, err
		}
	}
	for i, part := range parts {
		h.Lengths[i] = len(part)
	}
	head, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("header of the index: %w", err)
	}
	body := append(binary.LittleEndian.AppendUint32(nil, uint32(len(head))), head...)
	body = append(body, slices.Concat(parts[:]...)...)
	built := binary.LittleEndian.AppendUint32([]byte(magic), crc32.Checksum(body, castagnoli))
	return append(built, body...), nil
}

// transducer writes a map.
func transducer(of map[string]uint64) ([]byte, error) {
	var written bytes.Buffer
	made, err := vellum.New(&written, nil)
	for _, text := range slices.Sorted(maps.Keys(of)) {
		if err == nil {
			err = made.Insert([]byte(text), of[text])
		}
	}
	if err == nil {
		err = made.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("index of the lexicon: %w", err)
	}
	return written.Bytes(), nil
}

// add adds an entry.
func (b *builder) add(e lingible.Entry) error {
	slug := e.Slug()
	encoded, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("term %q: %w", slug, err)
	}
	offset := uint32(len(b.entries))
	b.entries = append(binary.AppendUvarint(b.entries, uint64(len(encoded))), encoded...)
	b.maps[slugsSection][slug] = uint64(offset)
	if e.IsQuizEligible {
		for _, list := range []string{quizList("", ""), quizList(e.QuizDifficulty(), ""), quizList("", e.QuizCategory),
			quizList(e.QuizDifficulty(), e.QuizCategory)} {
			b.quiz[list] = append(b.quiz[list], offset)
		}
	}
	for _, text := range slices.Concat([]string{e.Gloss}, e.Examples) {
		b.learn(text)
	}
	names := slices.Concat([]string{e.Term}, e.Variants)
	for _, name := range names {
		b.maps[takenSection][lingible.Slug(name)] = 0
		b.learn(name)
	}
	if e.Plain == nil {
		b.addSenses(e, names, "", lingible.Phrase)
		return nil
	}
	meaning := lingible.Slug(e.Plain.Text)
	b.synonyms[meaning] = append(b.synonyms[meaning], offset)
	for _, plain := range slices.Concat([]lingible.Plain{*e.Plain}, e.Also) {
		b.learn(plain.Text)
		b.addSenses(e, names, plain.Text, plain.PartOfSpeech)
	}
	return nil
}

// addSenses adds the senses that an entry has by one equivalent, or by none.
func (b *builder) addSenses(e lingible.Entry, names []string, plain string, pos lingible.PartOfSpeech) {
	lemma := uint32(len(b.lemmas))
	for _, text := range slices.Concat([]string{e.Slug(), plain, strings.Join(e.Regions, " ")}, names) {
		b.lemmas = append(binary.AppendUvarint(b.lemmas, uint64(len(text))), text...)
	}
	forms := formsOf[pos]
	if first, _, many := strings.Cut(strings.ToLower(e.Term), " "); pos == lingible.Phrase && many && verbHeads[first] {
		if head, _, _ := strings.Cut(plain, " "); verbHeads[head] {
			pos, forms = lingible.Verb, formsOf[lingible.Verb]
		}
	}
	part := byte(slices.Index(lingible.PartsOfSpeech(), pos))
	for i, name := range names {
		for _, f := range append([]form{base}, forms...) {
			r := reference{lemma, byte(i), part, byte(f)}
			if given := formOf(name, e.Term, pos); i > 0 && given != base {
				r.form = byte(given)
				addPhrase(b.toStandard, name, r)
				break
			}
			for _, inflected := range inflections(name, pos, f) {
				addPhrase(b.toStandard, inflected, r)
				if joined := gaps.Replace(inflected); joined != inflected {
					addPhrase(b.toStandard, joined, r)
				}
			}
		}
	}
	// Words of grammar are in every text: no term stands for one. Nor does an emoji, or another spelling of a word.
	isSpelling := slices.Contains(e.Tags, texting) && !strings.Contains(plain, " ")
	isOfRegion := pos == lingible.Interjection && len(e.Regions) > 0 // "abeg" for "please"
	isGrammar := !intensifiers[plain] && !isOfRegion &&
		!slices.ContainsFunc(strings.Fields(plain), func(w string) bool { return !functionWord(w) && !helping[w] })
	isRare := e.Momentum > 0 && e.Momentum < leastWritten
	if isGrammar || isRare || everyday[plain] || isSpelling || !strings.ContainsFunc(e.Term, unicode.IsLetter) {
		return
	}
	for _, f := range append([]form{base}, forms...) {
		r := reference{lemma, 0, part, byte(f)}
		addPhrase(b.slang, inflect(plain, pos, f), r)
		for _, synonym := range similar()[plain] {
			addPhrase(b.similar, inflect(synonym, pos, f), r)
		}
		// Slang has the degree in it: "chuffed" is "very pleased".
		if pos == lingible.Adjective && f == base {
			addPhrase(b.similar, "very "+plain, r)
			addPhrase(b.similar, "really "+plain, r)
		}
	}
}

// learn takes the words of a text into the vocabulary.
func (b *builder) learn(text string) {
	for _, t := range stemmed(text) {
		b.maps[vocabularySection][t.stem] = 0
	}
}

// wordEnd is between the words of a phrase.
const wordEnd = 0

// addPhrase adds a sense to a phrase, once for each lemma, part of speech and form.
func addPhrase(to map[string][]reference, phrase string, r reference) {
	var words []string
	for i, t := range tokensOf(phrase) {
		// A phrase with other punctuation inside is not one that a text is searched for.
		if i > 0 && !t.joined {
			return
		}
		words = append(words, t.key)
	}
	key := strings.Join(words, string(rune(wordEnd)))
	if len(words) > 0 && !slices.ContainsFunc(to[key], func(o reference) bool {
		return o.lemma == r.lemma && o.pos == r.pos && o.form == r.form
	}) {
		to[key] = append(to[key], r)
	}
}

// phrases are phrases, with offsets of their senses.
type phrases struct{ *vellum.FST }

// child is the place behind a word, also behind one with letters drawn out; found is false if no phrase goes there.
func (p phrases) child(at int, value uint64, key string) (place int, sum uint64, found bool) {
	for _, k := range []string{key, squeezed(key, 2), squeezed(key, 1)} {
		place, sum = at, value
		for i := 0; i < len(k) && p.CanMatch(place); i++ {
			var more uint64
			place, more = p.AcceptWithVal(place, k[i])
			sum += more
		}
		// A word that only begins another one is none.
		if p.CanMatch(place) && (p.IsMatch(place) || p.CanMatch(p.Accept(place, wordEnd))) {
			return place, sum, true
		}
	}
	return 0, 0, false
}

// startingAt are the phrases that start at a token, the shortest first: how many tokens they have, and where their
// senses are.
func (p phrases) startingAt(tokens []token, i int) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		if p.FST == nil {
			return
		}
		place, sum := p.Start(), uint64(0)
		for j := i; j < len(tokens) && !tokens[j].skip && (j == i || tokens[j].joined); j++ {
			if j > i {
				var more uint64
				if place, more = p.AcceptWithVal(place, wordEnd); !p.CanMatch(place) {
					return
				}
				sum += more
			}
			var found bool
			if place, sum, found = p.child(place, sum, tokens[j].key); !found {
				return
			}
			if isPhrase, last := p.IsMatchWithVal(place); isPhrase && !yield(j-i+1, sum+last) {
				return
			}
		}
	}
}

// open reads the header of an index.
func open(built []byte) (*Language, error) {
	rest, ok := bytes.CutPrefix(built, []byte(magic))
	if !ok || len(rest) < 8 || binary.LittleEndian.Uint32(rest) != crc32.Checksum(rest[4:], castagnoli) {
		return nil, ErrIndex
	}
	size := int(binary.LittleEndian.Uint32(rest[4:]))
	rest = rest[8:]
	l := &Language{}
	if size > len(rest) || json.Unmarshal(rest[:size], &l.header) != nil {
		return nil, ErrIndex
	}
	rest = rest[size:]
	for i, length := range l.header.Lengths {
		if length < 0 || length > len(rest) {
			return nil, ErrIndex
		}
		l.sections[i], rest = rest[:length], rest[length:]
	}
	for section := slugsSection; section < sections; section++ {
		var err error
		if l.maps[section], err = vellum.Load(l.sections[section]); err != nil {
			return nil, errors.Join(ErrIndex, err)
		}
	}
	return l, nil
}

// find returns the value of a text in the map of a section.
func (l *Language) find(section int, text string) (value uint64, found bool) {
	if l.maps[section] == nil {
		return 0, false
	}
	value, found, err := l.maps[section].Get([]byte(text))
	return value, found && err == nil
}

// has reports whether the map of a section has a text.
func (l *Language) has(section int, text string) bool {
	_, found := l.find(section, text)
	return found
}

// sense reads the senses at an offset, in order of preference.
func (l *Language) senses(at uint64, slang bool) iter.Seq[sense] {
	return func(yield func(sense) bool) {
		rest := l.sections[sensesSection][at:]
		count, n := binary.Uvarint(rest)
		rest = rest[n:]
		for range count {
			lemma, n := binary.Uvarint(rest)
			name, pos, f := rest[n], lingible.PartsOfSpeech()[rest[n+1]], form(rest[n+2])
			rest = rest[n+3:]
			texts := l.sections[lemmasSection][lemma:]
			text := func() (text string) {
				length, n := binary.Uvarint(texts)
				text, texts = string(texts[n:n+int(length)]), texts[n+int(length):]
				return text
			}
			s := sense{slug: text(), with: text(), regions: text(), pos: pos, form: f, slang: slang}
			s.own = text()
			for range name {
				s.own = text()
			}
			s.homonym = homonymOf(s.own, pos)
			if !slang {
				s.own, s.with = s.with, s.own
			}
			if !yield(s) {
				return
			}
		}
	}
}

// entryAt reads the entry at an offset.
func (l *Language) entryAt(at uint32) (entry lingible.Entry, err error) {
	rest := l.sections[entriesSection][at:]
	length, n := binary.Uvarint(rest)
	if err := json.Unmarshal(rest[n:n+int(length)], &entry); err != nil {
		return entry, fmt.Errorf("read a term of the index: %w", err)
	}
	return entry, nil
}

// list returns the offsets of the entries of a list.
func (l *Language) list(at uint32) (count int, entry func(int) uint32) {
	rest := l.sections[listsSection][at:]
	return int(binary.LittleEndian.Uint32(rest)), func(i int) uint32 { return binary.LittleEndian.Uint32(rest[4+4*i:]) }
}
