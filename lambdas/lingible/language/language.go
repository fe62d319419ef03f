// Package language is the embedded language of Lingible: it translates slang into standard English and back over a
// lexicon, and judges submitted terms, by the rules of docs/platforms/lingible.md, without a network or a model. The
// same input always gets the same output.
package language

import (
	"context"
	"slices"
	"strings"

	"github.com/blevesearch/vellum"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// ModelID names the rules. It changes with them.
const ModelID = "onesynth.language-4"

// Language is a language over a lexicon, whose methods succeed unless its index is spoiled. It is safe for concurrent
// use. The zero value knows no terms.
type Language struct {
	header   header
	sections [sections][]byte
	// maps are those of the sections from slugsSection on.
	maps [sections]*vellum.FST
}

// ModelID is [ModelID].
func (*Language) ModelID() string { return ModelID }

// gaps are what may be missing between the words of a term.
var gaps = strings.NewReplacer(" ", "", "-", "")

// sense is one way to read a phrase: an entry, in a form. With is what stands in its place, in its base form.
type sense struct {
	slug  string
	own   string // the phrase as the lexicon writes it
	with  string
	pos   lingible.PartOfSpeech
	form  form
	slang bool // the phrase is slang, and with is plain
	// regions are the countries that use the term, with a space between; "": all do.
	regions string
	// homonym is set if the slang phrase is an ordinary one, too: where slang is written, it has to be understood.
	homonym *homonym
}

// New returns a language over the entries. Where two entries could translate a text, the one with the higher quiz score
// does, and of equal ones the first by slug. Entries without a plain equivalent are known and stay as they are.
func New(entries []lingible.Entry) (*Language, error) {
	built, err := Build(entries)
	if err != nil {
		return nil, err
	}
	return open(built)
}

// Trends returns up to most terms of the lexicon, 100 at most, by momentum, the highest first, and of equal ones the
// first by slug.
func (l *Language) Trends(_ context.Context, most int) ([]lingible.ProposedTrend, error) {
	trends := []lingible.ProposedTrend{}
	for _, at := range l.header.Trends[:max(0, min(most, len(l.header.Trends)))] {
		entry, err := l.entryAt(at)
		if err != nil {
			return nil, err
		}
		trends = append(trends, entry.Trend())
	}
	return trends, nil
}

// Translate translates a text in time linear in its length. All that it does not translate stays as it is, byte for
// byte.
func (l *Language) Translate(_ context.Context, in lingible.TranslationInput) (lingible.Rendering, error) {
	text := in.Text
	r := l.newReading(text, in.Direction != lingible.ToSlang)
	r.region = in.Region
	known, counted, isFound, least := 0, 0, false, certain
	var terms, stay, replaced []string
	var glosses, meanings []lingible.Gloss
	var out strings.Builder
	copied := 0
	for i := 0; i < len(r.tokens); {
		m := r.longest(i)
		s, n := m.sense, m.n
		if m.sure > 0 && (!r.tokens[i].isEmoji || n > 0 && !m.stays) {
			isFound, least = true, min(least, m.sure)
		}
		if n == 0 {
			t := r.tokens[i]
			switch {
			case t.skip || t.isEmoji:
			case l.knows(t):
				known, counted = known+1, counted+1
			case !r.isName(i):
				counted++
			}
			i++
			continue
		}
		known, counted = known+n, counted+n
		from, end := r.tokens[i].from, r.tokens[i+n-1].to
		if !slices.Contains(terms, s.slug) {
			terms = append(terms, s.slug)
		}
		explained, all := &replaced, &meanings
		if m.stays {
			explained, all = &stay, &glosses
		}
		if !slices.Contains(*explained, s.slug) {
			gloss, err := l.gloss(s)
			if err != nil {
				return lingible.Rendering{}, err
			}
			*explained, *all = append(*explained, s.slug), append(*all, gloss)
		}
		if !m.stays {
			with := r.write(m, i)
			article, at := r.article(i, with)
			if article != "" {
				out.WriteString(text[copied:at])
				out.WriteString(article)
				copied = r.tokens[i-1].to
			}
			out.WriteString(text[copied:from])
			out.WriteString(with)
			copied = end
		}
		i += n
	}
	out.WriteString(text[copied:])
	translated := lingible.Rendering{Text: out.String(), Terms: terms, Glosses: glosses, Meanings: meanings}
	translated.Unchanged = translated.Text == text
	if !isFound {
		least = nothing
	}
	if counted > 0 {
		translated.Confidence = float64(least) * float64(known) / float64(counted)
	}
	return translated, nil
}

// gloss explains the term of a sense.
func (l *Language) gloss(s sense) (lingible.Gloss, error) {
	plain := s.own
	if s.slang {
		plain = s.with
	}
	at, _ := l.find(slugsSection, s.slug)
	entry, err := l.entryAt(uint32(at))
	return lingible.Gloss{Term: entry.Term, Plain: plain, Meaning: entry.Gloss}, err
}

// knows says that a word is ordinary English, a number, or one that the lexicon uses.
func (l *Language) knows(t token) bool {
	return t.key[0] >= '0' && t.key[0] <= '9' || functionWord(t.key) ||
		l.has(vocabularySection, t.stem) || commonStems[t.stem]
}
