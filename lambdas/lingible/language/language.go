// Package language is the embedded language of Lingible: it translates slang into standard English and back over a lexicon,
// and judges submitted terms, by the rules of docs/LANGUAGE.md, without a network or a model. The same input always gets the
// same output.
package language

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
)

// ModelID names the rules. It changes with them.
const ModelID = "onesynth.language-2"

// Language is a [lingible.Language] over a lexicon, whose methods always succeed. It is safe for concurrent use. The zero
// value knows no terms.
type Language struct {
	// toStandard has the forms of terms, and toSlang the forms of their plain equivalents.
	toStandard, toSlang *node
	// taken has the slugs of all terms and variants, also of those without a plain equivalent.
	taken map[string]bool
	// vocabulary has the stems of the words of glosses, examples and plain equivalents.
	vocabulary map[string]bool
	// trends are the terms, those first that are most in use.
	trends []lingible.ProposedTrend
}

var _ lingible.Language = (*Language)(nil)

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
	// homonym is set of a slang phrase that is an ordinary one, too.
	homonym *homonym
}

// node is a word in a tree of phrases.
type node struct {
	next   map[string]*node
	senses []sense
}

func (n *node) add(phrase string, s sense) {
	tokens := tokensOf(phrase)
	for i, t := range tokens {
		// A phrase with other punctuation inside is not one that a text is searched for.
		if i > 0 && !t.joined {
			return
		}
		child := n.next[t.key]
		if child == nil {
			if n.next == nil {
				n.next = map[string]*node{}
			}
			child = &node{}
			n.next[t.key] = child
		}
		n = child
	}
	if len(tokens) > 0 && !slices.ContainsFunc(n.senses, func(o sense) bool { return o.slug == s.slug && o.pos == s.pos && o.form == s.form }) {
		n.senses = append(n.senses, s)
	}
}

// New returns a language over the entries. Where two entries could translate a text, the one with the higher quiz score
// does, and of equal ones the first by slug. Entries without a plain equivalent are known and stay as they are.
func New(entries []lingible.Entry) *Language {
	l := &Language{toStandard: &node{}, toSlang: &node{}, taken: map[string]bool{}, vocabulary: map[string]bool{}}
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b lingible.Entry) int {
		return cmp.Or(cmp.Compare(b.QuizScore(), a.QuizScore()), strings.Compare(a.Slug(), b.Slug()))
	})
	for _, e := range entries {
		l.add(e)
	}
	slices.SortStableFunc(entries, func(a, b lingible.Entry) int {
		return cmp.Or(cmp.Compare(b.Momentum, a.Momentum), strings.Compare(a.Slug(), b.Slug()))
	})
	for _, e := range entries {
		l.trends = append(l.trends, e.Trend())
	}
	return l
}

// Trends returns up to most terms of the lexicon, by momentum, the highest first, and of equal ones the first by slug.
func (l *Language) Trends(_ context.Context, most int) ([]lingible.ProposedTrend, error) {
	return slices.Clone(l.trends[:max(0, min(most, len(l.trends)))]), nil
}

func (l *Language) add(e lingible.Entry) {
	slug := e.Slug()
	for _, text := range slices.Concat([]string{e.Gloss}, e.Examples) {
		l.learn(text)
	}
	names := slices.Concat([]string{e.Term}, e.Variants)
	for _, name := range names {
		l.taken[lingible.Slug(name)] = true
		l.learn(name)
	}
	plain, pos := "", lingible.Phrase
	if e.Plain != nil {
		plain, pos = e.Plain.Text, e.Plain.PartOfSpeech
		l.learn(plain)
	}
	forms := formsOf[pos]
	if first, _, many := strings.Cut(strings.ToLower(e.Term), " "); pos == lingible.Phrase && many && verbHeads[first] {
		if head, _, _ := strings.Cut(plain, " "); verbHeads[head] {
			pos, forms = lingible.Verb, formsOf[lingible.Verb]
		}
	}
	for i, name := range names {
		row := homonymOf(name, pos)
		for _, f := range append([]form{base}, forms...) {
			s := sense{slug: slug, own: name, with: plain, pos: pos, form: f, slang: true, homonym: row}
			if given := formOf(name, e.Term, pos); i > 0 && given != base {
				s.form = given
				l.toStandard.add(name, s)
				break
			}
			for _, inflected := range inflections(name, pos, f) {
				l.toStandard.add(inflected, s)
				if joined := gaps.Replace(inflected); joined != inflected {
					l.toStandard.add(joined, s)
				}
			}
		}
	}
	for _, f := range append([]form{base}, forms...) {
		l.toSlang.add(inflect(plain, pos, f), sense{slug: slug, own: plain, with: e.Term, pos: pos, form: f})
	}
}

// learn takes the words of a text into the vocabulary.
func (l *Language) learn(text string) {
	for _, t := range stemmed(text) {
		l.vocabulary[t.stem] = true
	}
}

// Translate translates a text in time linear in its length. All that it does not translate stays as it is, byte for byte.
func (l *Language) Translate(_ context.Context, text string, to lingible.Direction) (lingible.Rendering, error) {
	root := l.toStandard
	if to == lingible.ToSlang {
		root = l.toSlang
	}
	r := newReading(text, root)
	known, counted, isFound, least := 0, 0, false, certain
	var terms []string
	var out strings.Builder
	copied := 0
	for i := 0; i < len(r.tokens); {
		s, n, sure := r.longest(i)
		if sure > 0 {
			isFound, least = true, min(least, sure)
		}
		if n == 0 {
			t := r.tokens[i]
			switch {
			case t.skip:
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
		if s.with != "" {
			with := r.write(s, i, n)
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
	translated := lingible.Rendering{Text: out.String(), Terms: terms}
	translated.Unchanged = translated.Text == text
	if !isFound {
		least = nothing
	}
	if counted > 0 {
		translated.Confidence = float64(least) * float64(known) / float64(counted)
	}
	return translated, nil
}

// knows says that a word is ordinary English, a number, or one that the lexicon uses.
func (l *Language) knows(t token) bool {
	return t.key[0] >= '0' && t.key[0] <= '9' || functionWord(t.key) || l.vocabulary[t.stem] || commonStems[t.stem]
}
