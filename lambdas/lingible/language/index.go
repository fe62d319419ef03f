package language

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
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
	// quizRecords are the records of the lists of the quiz, which the header has.
	quizRecords
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

// value packs a reference into the value of a [record].
func (r reference) value() uint64 {
	return uint64(r.lemma)<<24 | uint64(r.name)<<16 | uint64(r.pos)<<8 | uint64(r.form)
}

// referenceOf unpacks a reference.
func referenceOf(value uint64) reference {
	return reference{uint32(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}
}

// builder makes an index. What grows with the lexicon is in files.
type builder struct {
	parts   [sections]*part
	records records
	// words are the stems of all texts. A longer lexicon has few more.
	words map[string]bool
	// inUse are the terms that are most in use.
	inUse []trend
	// score is that of the term that is being added.
	score float64
}

// trend is a term's momentum, and the offset of its entry.
type trend struct {
	momentum float64
	entry    uint32
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Build makes the index of entries.
func Build(entries []lingible.Entry) ([]byte, error) {
	var built bytes.Buffer
	entries = slices.SortedStableFunc(slices.Values(entries),
		func(a, b lingible.Entry) int { return strings.Compare(a.Slug(), b.Slug()) })
	err := Write(&built, func(yield func(lingible.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	})
	return built.Bytes(), err
}

// Write writes the index of terms, which come in the order of their slugs. It holds none of them: its memory grows by
// some bytes a term.
func Write(into io.Writer, terms iter.Seq2[lingible.Entry, error]) (err error) {
	b := &builder{words: map[string]bool{}}
	defer b.close()
	for section := range b.parts {
		if b.parts[section], err = newPart(); err != nil {
			return err
		}
	}
	for e, err := range terms {
		if err == nil {
			err = b.add(e)
		}
		if err != nil {
			return err
		}
	}
	b.rank()
	h := header{Quiz: map[string]uint32{}}
	for _, t := range b.inUse {
		h.Trends = append(h.Trends, t.entry)
	}
	if err := b.arrange(&h); err != nil {
		return err
	}
	return b.write(into, h)
}

func (b *builder) close() {
	for _, p := range b.parts {
		if p != nil {
			p.file.Close()
		}
	}
	b.records.close()
}

// rank leaves the first maxTrends of the terms that are most in use.
func (b *builder) rank() {
	slices.SortStableFunc(b.inUse, func(a, b trend) int { return cmp.Compare(b.momentum, a.momentum) })
	b.inUse = b.inUse[:min(maxTrends, len(b.inUse))]
}

// arrange writes lists, senses and maps, of the records in their order.
func (b *builder) arrange(h *header) (err error) {
	var transducers [sections]*vellum.Builder
	for section := slugsSection; section < sections; section++ {
		if transducers[section], err = vellum.New(b.parts[section], nil); err != nil {
			return fmt.Errorf("index of the lexicon: %w", err)
		}
	}
	for word := range slices.Values(slices.Sorted(maps.Keys(b.words))) {
		if err := transducers[vocabularySection].Insert([]byte(word), 0); err != nil {
			return fmt.Errorf("index of the lexicon: %w", err)
		}
	}
	for same, err := range b.records.groups() {
		if err != nil {
			return err
		}
		section, text, value := same[0].section, same[0].text, same[0].value
		switch section {
		case standardSection, slangSection:
			value, err = b.sensesOf(same)
		case synonymsSection, quizRecords:
			value, err = b.list(same)
		}
		switch {
		case err != nil:
		case section == quizRecords:
			h.Quiz[text] = uint32(value)
		default:
			err = transducers[section].Insert([]byte(text), value)
		}
		if err != nil {
			return fmt.Errorf("index of the lexicon: %w", err)
		}
	}
	for section := slugsSection; section < sections; section++ {
		if err := transducers[section].Close(); err != nil {
			return fmt.Errorf("index of the lexicon: %w", err)
		}
	}
	return nil
}

// list writes a list, and returns its offset.
func (b *builder) list(of []record) (offset uint64, err error) {
	written := binary.LittleEndian.AppendUint32(nil, uint32(len(of)))
	for _, r := range of {
		written = binary.LittleEndian.AppendUint32(written, uint32(r.value))
	}
	return b.parts[listsSection].append(written)
}

// sensesOf writes the senses of a phrase, once for each lemma, part of speech and form, and returns their offset.
func (b *builder) sensesOf(phrase []record) (offset uint64, err error) {
	var all []reference
	for _, record := range phrase {
		if r := referenceOf(record.value); !slices.ContainsFunc(all, func(o reference) bool {
			return o.lemma == r.lemma && o.pos == r.pos && o.form == r.form
		}) {
			all = append(all, r)
		}
	}
	written := binary.AppendUvarint(nil, uint64(len(all)))
	for _, r := range all {
		written = append(binary.AppendUvarint(written, uint64(r.lemma)), r.name, r.pos, r.form)
	}
	return b.parts[sensesSection].append(written)
}

// write puts the sections behind their header.
func (b *builder) write(into io.Writer, h header) error {
	for i, p := range b.parts {
		if err := p.flush(); err != nil {
			return err
		}
		h.Lengths[i] = int(p.size)
	}
	head, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("header of the index: %w", err)
	}
	head = append(binary.LittleEndian.AppendUint32(nil, uint32(len(head))), head...)
	sum := crc32.New(castagnoli)
	body := func() io.Reader {
		readers := []io.Reader{bytes.NewReader(head)}
		for _, p := range b.parts {
			readers = append(readers, p.reader())
		}
		return io.MultiReader(readers...)
	}
	if _, err := io.Copy(sum, body()); err != nil {
		return fmt.Errorf("index of the lexicon: %w", err)
	}
	begin := binary.LittleEndian.AppendUint32([]byte(magic), sum.Sum32())
	if _, err := io.Copy(into, io.MultiReader(bytes.NewReader(begin), body())); err != nil {
		return fmt.Errorf("index of the lexicon: %w", err)
	}
	return nil
}

// add adds an entry.
func (b *builder) add(e lingible.Entry) error {
	slug := e.Slug()
	encoded, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("term %q: %w", slug, err)
	}
	offset, err := b.parts[entriesSection].append(append(binary.AppendUvarint(nil, uint64(len(encoded))), encoded...))
	if err != nil {
		return err
	}
	b.score = e.QuizScore()
	if b.inUse = append(b.inUse, trend{e.Momentum, uint32(offset)}); len(b.inUse) > 2*maxTrends {
		b.rank()
	}
	b.put(slugsSection, slug, offset)
	if e.IsQuizEligible {
		for _, list := range []string{quizList("", ""), quizList(e.QuizDifficulty(), ""), quizList("", e.QuizCategory),
			quizList(e.QuizDifficulty(), e.QuizCategory)} {
			b.put(quizRecords, list, offset)
		}
	}
	for _, text := range slices.Concat([]string{e.Gloss}, e.Examples) {
		b.learn(text)
	}
	names := slices.Concat([]string{e.Term}, e.Variants)
	for _, name := range names {
		b.put(takenSection, lingible.Slug(name), 0)
		b.learn(name)
	}
	if e.Plain == nil {
		return cmp.Or(b.addSenses(e, names, "", lingible.Phrase), b.records.spilled())
	}
	b.put(synonymsSection, lingible.Slug(e.Plain.Text), offset)
	for _, plain := range slices.Concat([]lingible.Plain{*e.Plain}, e.Also) {
		b.learn(plain.Text)
		if err := b.addSenses(e, names, plain.Text, plain.PartOfSpeech); err != nil {
			return err
		}
	}
	return b.records.spilled()
}

// put adds a value under a text of a section.
func (b *builder) put(section int, text string, value uint64) {
	b.records.add(record{section: section, text: text, score: b.score, value: value})
}

// addSenses adds the senses that an entry has by one equivalent, or by none.
func (b *builder) addSenses(e lingible.Entry, names []string, plain string, pos lingible.PartOfSpeech) error {
	var written []byte
	for _, text := range slices.Concat([]string{e.Slug(), plain, strings.Join(e.Regions, " ")}, names) {
		written = append(binary.AppendUvarint(written, uint64(len(text))), text...)
	}
	offset, err := b.parts[lemmasSection].append(written)
	if err != nil {
		return err
	}
	lemma := uint32(offset)
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
				b.addPhrase(standardSection, false, name, r)
				break
			}
			for _, inflected := range inflections(name, pos, f) {
				b.addPhrase(standardSection, false, inflected, r)
				if joined := gaps.Replace(inflected); joined != inflected {
					b.addPhrase(standardSection, false, joined, r)
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
		return nil
	}
	for _, f := range append([]form{base}, forms...) {
		r := reference{lemma, 0, part, byte(f)}
		b.addPhrase(slangSection, false, inflect(plain, pos, f), r)
		for _, synonym := range similar()[plain] {
			b.addPhrase(slangSection, true, inflect(synonym, pos, f), r)
		}
		// Slang has the degree in it: "chuffed" is "very pleased".
		if pos == lingible.Adjective && f == base {
			b.addPhrase(slangSection, true, "very "+plain, r)
			b.addPhrase(slangSection, true, "really "+plain, r)
		}
	}
	return nil
}

// learn takes the words of a text into the vocabulary.
func (b *builder) learn(text string) {
	for _, t := range stemmed(text) {
		b.words[t.stem] = true
	}
}

// wordEnd is between the words of a phrase.
const wordEnd = 0

// phraseOf is the text of a phrase in a map, its words by their keys; "": one with other punctuation inside, which no
// text is searched for.
func phraseOf(phrase string) string {
	var words []string
	for i, t := range tokensOf(phrase) {
		if i > 0 && !t.joined {
			return ""
		}
		words = append(words, t.key)
	}
	return strings.Join(words, string(rune(wordEnd)))
}

// addPhrase adds a sense to a phrase. What says nearly the same comes behind what says the same.
func (b *builder) addPhrase(section int, isNearly bool, phrase string, r reference) {
	if text := phraseOf(phrase); text != "" {
		b.records.add(record{section: section, text: text, isNearly: isNearly, score: b.score, value: r.value()})
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
