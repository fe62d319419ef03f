package lingible_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/onesynth-cdk/onesynth/platforms/lingible"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

func newEntry(term string, variants ...string) lingible.Entry {
	return lingible.Entry{
		Term: term, Variants: variants, Gloss: "To show off",
		Plain:    &lingible.Plain{Text: "boast", PartOfSpeech: lingible.Verb},
		Examples: []string{"They came to " + term + "."}, Sources: []string{"onesynth"}, Confidence: 0.9, Momentum: 0.8,
	}
}

// Each limit with the last value that it allows and the first that it does not.
func TestEntryCheck(t *testing.T) {
	t.Parallel()
	type entry = lingible.Entry
	type change = func(*entry)
	text := func(set func(*entry, string), n int) change {
		return func(e *entry) { set(e, strings.Repeat("é", n)) }
	}
	// list sets a list of n texts that differ.
	list := func(set func(*entry, []string), n int, alphabet string) change {
		return func(e *entry) {
			var texts []string
			for i := range n {
				texts = append(texts, string([]byte{alphabet[i/len(alphabet)], alphabet[i%len(alphabet)]}))
			}
			set(e, texts)
		}
	}
	const capitals = "ABCDEFGH"
	term := func(s string) change { return func(e *entry) { e.Term = s } }
	variants := func(v ...string) change { return func(e *entry) { e.Variants = v } }
	setTerm := func(e *entry, s string) { e.Term = s }
	setVariant := func(e *entry, s string) { e.Variants = []string{s} }
	setVariants := func(e *entry, v []string) { e.Variants = v }
	setGloss := func(e *entry, s string) { e.Gloss = s }
	setPlain := func(e *entry, s string) { e.Plain = &lingible.Plain{Text: s, PartOfSpeech: lingible.Noun} }
	setExample := func(e *entry, s string) { e.Examples = []string{s} }
	setExamples := func(e *entry, v []string) { e.Examples = v }
	setTag := func(e *entry, s string) { e.Tags = []string{s} }
	setTags := func(e *entry, v []string) { e.Tags = v }
	setRegions := func(e *entry, v []string) { e.Regions = v }
	setSources := func(e *entry, v []string) { e.Sources = v }
	setSource := func(e *entry, s string) { e.Sources = []string{s} }
	setNote := func(e *entry, s string) { e.AttestationNote = s }
	region := func(s string) change { return func(e *entry) { e.Regions = []string{s} } }
	attested := func(s string) change { return func(e *entry) { e.FirstAttested = s } }
	also := func(texts ...string) change {
		return func(e *entry) {
			e.Plain = &lingible.Plain{Text: "show off", PartOfSpeech: lingible.Verb}
			for _, text := range texts {
				e.Also = append(e.Also, lingible.Plain{Text: text, PartOfSpeech: lingible.Verb})
			}
		}
	}
	speech := func(s lingible.PartOfSpeech) change { return func(e *entry) { e.Plain.PartOfSpeech = s } }
	quiz := func(eligible bool, c lingible.Category) change {
		return func(e *entry) { e.IsQuizEligible, e.QuizCategory = eligible, c }
	}
	confidence := func(f float64) change { return func(e *entry) { e.Confidence = f } }
	momentum := func(f float64) change { return func(e *entry) { e.Momentum = f } }
	for name, test := range map[string]struct {
		ok, wrong []change
		field     string
	}{
		"Term": {[]change{text(setTerm, 1), text(setTerm, 100), term("💀")},
			[]change{text(setTerm, 0), text(setTerm, 101), term("?!"), term(" "), term("a\xff")}, "term"},
		"TermSlug": {[]change{term(strings.Repeat("ﷺ", 30))}, []change{term(strings.Repeat("ﷺ", 31))}, "term"},
		"Variants": {[]change{variants(), list(setVariants, 20, capitals)},
			[]change{list(setVariants, 21, capitals)}, "variants"},
		"Variant": {[]change{text(setVariant, 1), text(setVariant, 100)},
			[]change{variants(""), text(setVariant, 101), variants("Flex!"), variants("...")}, "variants[0]"},
		"VariantTwice": {[]change{variants("to flex", "flexing")}, []change{variants("so flex", "So-Flex")},
			"variants[1]"},
		"Gloss": {[]change{text(setGloss, 1), text(setGloss, 500)},
			[]change{text(setGloss, 0), text(setGloss, 501)}, "gloss"},
		"Plain": {[]change{text(setPlain, 1), text(setPlain, 100), func(e *entry) { e.Plain = nil }},
			[]change{text(setPlain, 0), text(setPlain, 101)}, "plain.text"},
		"PartOfSpeech": {[]change{speech("verb"), speech("noun"), speech("adjective"), speech("adverb"),
			speech("interjection"), speech("phrase")}, []change{speech(""), speech("pronoun")}, "plain.part_of_speech"},
		"Also": {[]change{also(), also("a", "b", "c", "d", "e")}, []change{also("a", "b", "c", "d", "e", "f")}, "also"},
		"AlsoText": {[]change{also(strings.Repeat("é", 100))},
			[]change{also(""), also(strings.Repeat("é", 101))}, "also[0].text"},
		"AlsoTwice": {nil, []change{also("a", "a")}, "also[1]"},
		"AlsoAlone": {nil, []change{also("show off"), func(e *entry) { also("a")(e); e.Plain = nil }}, "also[0]"},
		"Examples": {[]change{list(setExamples, 1, capitals), list(setExamples, 10, capitals)},
			[]change{list(setExamples, 0, capitals), list(setExamples, 11, capitals)}, "examples"},
		"Example": {[]change{text(setExample, 1), text(setExample, 500)},
			[]change{text(setExample, 0), text(setExample, 501)}, "examples[0]"},
		"ExampleTwice": {nil, []change{func(e *entry) { e.Examples = []string{"a", "b", "a"} }}, "examples[2]"},
		"Tags": {[]change{list(setTags, 0, capitals), list(setTags, 10, capitals)},
			[]change{list(setTags, 11, capitals)}, "tags"},
		"Tag": {[]change{text(setTag, 1), text(setTag, 50)}, []change{text(setTag, 0), text(setTag, 51)},
			"tags[0]"},
		"Regions": {[]change{list(setRegions, 0, capitals), list(setRegions, 10, capitals)},
			[]change{list(setRegions, 11, capitals)}, "regions"},
		"Region": {[]change{region("GB")}, []change{region("gb"), region("G"), region("GBR"), region("")},
			"regions[0]"},
		"Sources": {[]change{list(setSources, 1, capitals), list(setSources, 10, capitals)},
			[]change{list(setSources, 0, capitals), list(setSources, 11, capitals)}, "sources"},
		"Source": {[]change{text(setSource, 1), text(setSource, 50)},
			[]change{text(setSource, 0), text(setSource, 51)}, "sources[0]"},
		"Attested": {[]change{attested(""), attested("1987"), attested("1980s"), attested("2000s")},
			[]change{attested("1987s"), attested("987"), attested("3000"), attested("19876"), attested("c. 1900")},
			"first_attested"},
		"Note": {[]change{text(setNote, 0), text(setNote, 500)}, []change{text(setNote, 501)},
			"attestation_note"},
		"QuizCategory": {[]change{quiz(false, ""), quiz(true, "food"), quiz(false, "food")},
			[]change{quiz(true, ""), quiz(true, "Food"), quiz(false, "x")}, "quiz_category"},
		"Confidence": {[]change{confidence(0), confidence(1)},
			[]change{confidence(-0.001), confidence(1.001), confidence(math.NaN()), confidence(math.Inf(1))},
			"confidence"},
		"Momentum": {[]change{momentum(0), momentum(1)},
			[]change{momentum(-0.001), momentum(1.001), momentum(math.NaN())}, "momentum"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, change := range test.ok {
				e := newEntry("flex")
				change(&e)
				if err := e.Check(); err != nil {
					t.Errorf("right %d: got %v", i, err)
				}
			}
			for i, change := range test.wrong {
				e := newEntry("flex")
				change(&e)
				wrong, ok := errors.AsType[*validate.Error](e.Check())
				if !ok || !slices.ContainsFunc(wrong.Problems, func(p validate.Problem) bool {
					return p.Field == test.field
				}) {
					t.Errorf("wrong %d: got %v; want %s refused", i, e.Check(), test.field)
				}
			}
		})
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for term, want := range map[string]string{
		"flex": "flex", "No Cap": "no-cap", "  no \t cap\n": "no-cap", "low-key": "low-key", "low–key": "low-key",
		"low_key": "low-key",
		"y'all":   "yall", "Y’ALL": "yall", "chillin'": "chillin", "rock 'n' roll": "rock-n-roll", "bet!": "bet",
		"24/7": "24-7",
		"ＦＩＲＥ": "fire", "ﬂex": "flex", "ΣΊΣΥΦΟς": "σίσυφοσ", "ꮃ": "ꮃ", "Ꮃ": "ꮃ", "İI": "ii", "ŉ｀": "n", "café": "café",
		"cafe\u0301": "café", "cafe": "cafe",
		"💀": "💀", "❤️": "❤", "❤": "❤", "A+": "a+", "$$$": "$$$", "so\u200blid": "solid", "TERM#x": "term-x",
		"ngl\x00fr": "ngl-fr", "": "", "?!": "", "\u200d": "", "सच": "सच", "ไม่เป็นไร": "ไม่เป็นไร", "\xff": "\ufffd",
	} {
		if got := lingible.Slug(term); got != want {
			t.Errorf("%q: got %q, want %q", term, got, want)
		}
	}
}

func upperASCII(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return r - 'a' + 'A'
	}
	return r
}

func FuzzSlug(f *testing.F) {
	for _, term := range []string{"No Cap!", "y’all", "ﷺ", "İ", "ΐ", "´\u0301", "-\u0301a", "\u0345ᾳ", "👨\u200d👩",
		"\xff#", "ﬁ'\u0301", "\u1160가", "\u3164"} {
		f.Add(term)
	}
	f.Fuzz(func(t *testing.T, term string) {
		slug := lingible.Slug(term)
		if again := lingible.Slug(slug); again != slug {
			t.Errorf("%q: the slug of %q is %q", term, slug, again)
		}
		if typed := lingible.Slug(" " + strings.ReplaceAll(slug, "-", " \t") + "!"); typed != slug {
			t.Errorf("%q: with other punctuation got %q, want %q", term, typed, slug)
		}
		if upper := lingible.Slug(strings.Map(upperASCII, term)); upper != slug {
			t.Errorf("%q: in upper case got %q, want %q", term, upper, slug)
		}
		for _, r := range slug {
			if unicode.IsSpace(r) || unicode.IsControl(r) || r != '-' && unicode.IsPunct(r) {
				t.Errorf("%q: the slug %q has %q", term, slug, r)
			}
		}
		if strings.HasPrefix(slug, "-") || strings.HasSuffix(slug, "-") || strings.Contains(slug, "--") {
			t.Errorf("%q: the slug %q has an empty word", term, slug)
		}
	})
}

func TestQuizDifficulty(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		confidence, momentum, score float64
		want                        lingible.Difficulty
	}{
		{1, 1, 1, lingible.Beginner},
		{0.85, 1, 0.85, lingible.Beginner},
		{1, 0.8499, 0.8499, lingible.Intermediate},
		{0.8125, 0.8, 0.65, lingible.Intermediate},
		{0.65, 1, 0.65, lingible.Intermediate},
		{1, 0.6499, 0.6499, lingible.Advanced},
		{0.7, 0.1, 0.07, lingible.Advanced},
		{0, 1, 0, lingible.Advanced},
	} {
		e := lingible.Entry{Confidence: test.confidence, Momentum: test.momentum}
		if score, got := e.QuizScore(), e.QuizDifficulty(); score != test.score || got != test.want {
			t.Errorf("%v × %v: got %v, %s; want %v, %s", test.confidence, test.momentum, score, got, test.score,
				test.want)
		}
	}
}
