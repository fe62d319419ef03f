package language_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/language"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lexicons"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

const document = "testdata/examples.md"

// pair is a sentence and its translation.
type pair struct {
	from, want string
	to         lingible.Direction
}

// lines are the lines of a file, without comments.
func lines(t testing.TB, file string) (all []string) {
	t.Helper()
	for line := range strings.SplitSeq(string(must.Get(os.ReadFile(file))(t)), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

func pairs(t testing.TB, file string) (all []pair) {
	t.Helper()
	for _, line := range lines(t, file) {
		from, want, _ := strings.Cut(line, " | ")
		p := pair{from, want, lingible.ToStandard}
		if rest, ok := strings.CutPrefix(from, "< "); ok {
			p.from, p.to = rest, lingible.ToSlang
		}
		if rest, ok := strings.CutPrefix(from, "= "); ok {
			p.from, p.want = rest, rest
		}
		all = append(all, p)
	}
	return all
}

// The terms that Lingible begins with, and the language over them, which takes most of a second to make.
var (
	initialTerms = must.Once(lexicons.Initial)
	initial      = must.Once(func() (*language.Language, error) {
		entries, err := lexicons.Initial()
		if err != nil {
			return nil, err
		}
		return language.New(entries)
	})
)

// entry is a term with a plain text, as it is used by most.
func entry(term, plain string, pos lingible.PartOfSpeech) lingible.Entry {
	return lingible.Entry{Term: term, Plain: &lingible.Plain{Text: plain, PartOfSpeech: pos}, Confidence: 1}
}

func translate(l *language.Language, text string, to lingible.Direction) lingible.Rendering {
	return translateFor(l, text, to, "")
}

// translateFor translates for a region.
func translateFor(l *language.Language, text string, to lingible.Direction, region string) lingible.Rendering {
	translated, _ := l.Translate(context.Background(),
		lingible.TranslationInput{Text: text, Direction: to, Region: region}) // always nil
	return translated
}

func validate(l *language.Language, p lingible.Proposal) lingible.Verdict {
	verdict, _ := l.Validate(context.Background(), p) // always nil
	return verdict
}

// normal is a sentence without differences of case and spaces.
func normal(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

func TestPairs(t *testing.T) {
	t.Parallel()
	l := initial(t)
	right, total := 0, 0
	for _, half := range []string{"tuned", "held-out"} {
		n := 0
		all := pairs(t, "testdata/pairs-"+half+".txt")
		for _, p := range all {
			got := translate(l, p.from, p.to)
			if normal(got.Text) == normal(p.want) {
				n++
			} else {
				t.Logf("%s:\n\t%s\ngot\t%s\nwant\t%s", half, p.from, got.Text, p.want)
			}
		}
		t.Logf("%s: %d of %d right", half, n, len(all))
		right, total = right+n, total+len(all)
	}
	t.Logf("all: %d of %d right", right, total)
	if total != 100 || right < 85 {
		t.Errorf("got %d of %d right, want 85 of 100", right, total)
	}
}

// Terms that are ordinary words, too, are translated where they are slang, and stay where they are not, or leave doubt.
func TestSenses(t *testing.T) {
	t.Parallel()
	l := initial(t)
	for _, half := range []string{"tuned", "held-out"} {
		right, slang, changed, ordinary, sure := 0, 0, 0, 0, 0
		for _, p := range pairs(t, "testdata/senses-"+half+".txt") {
			got := translate(l, p.from, p.to)
			isRight := normal(got.Text) == normal(p.want)
			if p.from != p.want {
				slang++
				if isRight {
					right++
				}
			} else {
				ordinary++
				if !got.Unchanged {
					changed++
				}
				if got.Confidence >= 0.6 {
					sure++
				}
			}
			// The other half shows its totals alone, so that nothing is tuned on it.
			if half == "tuned" && (!isRight || p.from == p.want && got.Confidence >= 0.6) {
				t.Logf("%s\ngot\t%s (%.2f)\nwant\t%s", p.from, got.Text, got.Confidence, p.want)
			}
		}
		t.Logf("%s: %d of %d slang right, %d of %d ordinary changed, %d with a confidence from 0.6", half, right, slang,
			changed, ordinary, sure)
		if slang < 60 || 100*right < 95*slang {
			t.Errorf("%s: got %d of %d slang sentences right, want 95 per cent of 60 or more", half, right, slang)
		}
		if ordinary < 60 || 100*changed > 10*ordinary || sure > 0 {
			t.Errorf("%s: got %d of %d ordinary sentences changed and %d with a confidence from 0.6, want 10 per "+
				"cent and none", half, changed, ordinary, sure)
		}
	}
}

// A text without a known term says so: it is unchanged, with a low confidence. One whose term stays is in doubt.
func TestNothingFound(t *testing.T) {
	t.Parallel()
	l := initial(t)
	for text, want := range map[string][2]float64{
		"The bus comes at nine.":     {0, lingible.LowConfidence - 0.01},
		"The soup is salty.":         {lingible.LowConfidence, 0.59},
		"No cap, the bus is late.":   {0.6, 1},
		"I have a headache, Ottilie": {0, lingible.LowConfidence - 0.01},
		"Honestly, it was fine.":     {0, lingible.LowConfidence - 0.01},
	} {
		if got := translate(l, text, lingible.ToStandard); got.Confidence < want[0] || got.Confidence > want[1] {
			t.Errorf("%q: got %.2f, want %v", text, got.Confidence, want)
		}
	}
}

// documented are the entries of the document's table.
func documented(t testing.TB) *language.Language {
	t.Helper()
	var all []lingible.Entry
	for _, line := range lines(t, document) {
		f := regexp.MustCompile(` *\| *`).Split(strings.Trim(line, "| "), -1)
		if !strings.HasPrefix(line, "| ") || len(f) < 3 || f[0] == "Term" {
			continue
		}
		e := lingible.Entry{Term: f[0], Confidence: 1, Momentum: 1}
		if f[1] != "" {
			e.Variants = []string{f[1]}
		}
		if len(f) == 4 {
			e.Plain = &lingible.Plain{Text: f[3], PartOfSpeech: lingible.PartOfSpeech(f[2])}
		}
		all = append(all, e)
	}
	if len(all) < 20 {
		t.Fatalf("got %d entries in %s", len(all), document)
	}
	return must.Get(language.New(all))(t)
}

// The examples of the document hold.
func TestDocument(t *testing.T) {
	t.Parallel()
	l := documented(t)
	examples := 0
	for _, line := range lines(t, document) {
		rest, ok := strings.CutPrefix(line, "> ")
		if !ok {
			continue
		}
		examples++
		kind, rest, _ := strings.Cut(rest, ": ")
		from, want, _ := strings.Cut(rest, " → ")
		got := ""
		switch {
		case kind == "to standard":
			got = translate(l, from, lingible.ToStandard).Text
		case kind == "to slang":
			got = translate(l, from, lingible.ToSlang).Text
		case strings.HasPrefix(kind, "stays"):
			to := lingible.ToStandard
			if strings.HasSuffix(kind, "to slang") {
				to = lingible.ToSlang
			}
			translated := translate(l, from, to)
			if !translated.Unchanged {
				t.Errorf("%q: got %q and not unchanged", from, translated.Text)
			}
			got, want = translated.Text, from
		case strings.HasPrefix(kind, "confidence "):
			got, want = fmt.Sprintf("confidence %.2f", translate(l, from, lingible.ToStandard).Confidence), kind
		case kind == "trends":
			most, _ := strconv.Atoi(from)
			trends, _ := l.Trends(t.Context(), most)
			var all []string
			for _, trend := range trends {
				all = append(all, fmt.Sprintf("%s (%s, %.0f)", trend.Term, trend.Category, trend.Popularity))
			}
			got = strings.Join(all, ", ")
		case kind == "submit":
			f := strings.Split(from, " | ")
			got = verdict(validate(l, lingible.Proposal{Term: f[0], Meaning: f[1], Example: f[2]}))
		default:
			t.Errorf("%q: got an example of kind %q", line, kind)
		}
		if got != want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", kind, from, got, want)
		}
	}
	if examples < 55 {
		t.Errorf("got %d examples in %s", examples, document)
	}
}

// verdict writes a verdict as the document does.
func verdict(v lingible.Verdict) string {
	switch {
	case !v.Valid:
		return "invalid: " + strings.Join(v.Reasons, " ")
	case v.Recommended:
		return fmt.Sprintf("recommended %.2f %d", v.Confidence, v.Usage)
	}
	return fmt.Sprintf("valid %.2f %d", v.Confidence, v.Usage)
}

func TestTerms(t *testing.T) {
	t.Parallel()
	l := documented(t)
	for text, want := range map[string][]string{
		"Rizz, RIZZ and riz: he slays with rizz.": {"rizz", "slay"},
		"Main character energy, no cap":           {"main-character-energy", "no-cap"},
		"A ghost drank tea.":                      nil,
	} {
		if got := translate(l, text, lingible.ToStandard); !slices.Equal(got.Terms, want) {
			t.Errorf("%q: got %q, want %q", text, got.Terms, want)
		}
	}
	if got := translate(l, "He ignores my charm, my charm.", lingible.ToSlang); !slices.Equal(got.Terms,
		[]string{"ghost", "rizz"}) {
		t.Errorf("got %q", got.Terms)
	}
}

// What is replaced is explained, each term once: with its plain words, whichever way the text is translated.
func TestMeanings(t *testing.T) {
	t.Parallel()
	l := initial(t)
	for text, to := range map[string]lingible.Direction{
		"No cap, the burger is bussin, no cap!": lingible.ToStandard,
		"Honestly, I am so exhausted.":          lingible.ToSlang,
		"The committee adjourned.":              lingible.ToStandard,
	} {
		got := translate(l, text, to)
		var slugs []string
		for _, m := range got.Meanings {
			slugs = append(slugs, lingible.Slug(m.Term))
			slang, plain := text, got.Text
			if to == lingible.ToSlang {
				slang, plain = plain, slang
			}
			if has := strings.Contains; m.Meaning == "" || !has(strings.ToLower(slang), strings.ToLower(m.Term)) ||
				!has(strings.ToLower(plain), m.Plain) {
				t.Errorf("%q became %q: got the meaning %+v", text, got.Text, m)
			}
		}
		if !slices.Equal(slugs, got.Terms) || (slugs == nil) != got.Unchanged {
			t.Errorf("%q became %q: got meanings of %q, want those of %q", text, got.Text, slugs, got.Terms)
		}
	}
}

// Plain words are put where they fit. Elsewhere the term stays, with what it means beside the translation.
func TestSlots(t *testing.T) {
	t.Parallel()
	l := initial(t)
	for text, want := range map[string][2]string{
		"Tell me what he's yapping about.":  {"Tell me what he's yapping about.", "yap"},
		"He was yapping about a bus.":       {"He was talking too much about a bus.", ""},
		"Slay queen!":                       {"Slay queen!", "slayqueen"},
		"She clapped back at the press.":    {"She clapped back at the press.", "clap back"},
		"She clapped back.":                 {"She answered sharply.", ""},
		"That's a big yikes.":               {"That's a big yikes.", "yikes"},
		"Yikes, that hurt.":                 {"Oh dear, that hurt.", ""},
		"Let's binge-watch tonight.":        {"Let's binge-watch tonight.", "binge-watch"},
		"Let's binge-watch the new season.": {"Let's watch many episodes of the new season.", ""},
		"I'm so gutted.":                    {"I'm so devastated.", ""},
		"It was so spot on.":                {"It was so spot on.", "spot on"},
		"He is homie.":                      {"He is homie.", "homie"},
		"Her drip is insane.":               {"Her drip is insane.", "dripinsane"},
		"Let's vibe.":                       {"Let's relax.", ""},
		"That is so slay.":                  {"That is so amazing.", ""},
		"She hit the books.":                {"She studied.", ""},
		"We stan.":                          {"We approve.", ""},
		"I stan her.":                       {"I adore her.", ""},
		"So salty":                          {"So resentful", ""},
		"Gutted about the match.":           {"Devastated about the match.", ""},
	} {
		got := translate(l, text, lingible.ToStandard)
		terms := ""
		for _, g := range got.Glosses {
			terms += g.Term
			if g.Meaning == "" || g.Plain == "" {
				t.Errorf("%q: got the gloss %+v", text, g)
			}
		}
		if got.Text != want[0] || terms != want[1] {
			t.Errorf("%q: got %q and glosses of %q, want %q and %q", text, got.Text, terms, want[0], want[1])
		}
	}
}

// An emoji is a term like others, also repeated and in any style, and the object of a verb may stand inside it.
func TestEmojiAndObjects(t *testing.T) {
	t.Parallel()
	l := must.Get(language.New([]lingible.Entry{entry("🔥", "excellent", lingible.Adjective),
		entry("👍", "all right", lingible.Interjection), entry("leave on read", "ignore", lingible.Verb),
		entry("creep out", "frighten", lingible.Verb), entry("tick off", "make angry", lingible.Verb)}))(t)
	for text, want := range map[string]string{
		"The song is 🔥🔥 now":    "The song is excellent now",
		"That was 🔥\ufe0f, yes": "That was excellent, yes",
		"👍🏽 see you":            "all right see you",
		"We sat at the 🔥":       "We sat at the 🔥",
		"🔥":                     "excellent",
		"She left me on read.":  "She ignored me.",
		"She creeped them out.": "She frightened them.",
		"He ticked us off.":     "He made us angry.",
		"He left us.":           "He left us.",
	} {
		if got := translate(l, text, lingible.ToStandard).Text; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := translate(l, "excellent", lingible.ToSlang); !got.Unchanged {
		t.Errorf("got the emoji %q for a word", got.Text)
	}
}

// A translation to slang uses terms of its region, and those of no region. A term of another region is understood, but
// not written. Of several terms, the one that is used most is written.
func TestRegions(t *testing.T) {
	t.Parallel()
	entry := func(term, plain string, momentum float64, regions ...string) lingible.Entry {
		e := entry(term, plain, lingible.Adjective)
		e.Momentum, e.Regions = momentum, regions
		return e
	}
	l := must.Get(language.New([]lingible.Entry{entry("alpho", "excellent", 0.9, "SG"),
		entry("betho", "excellent", 0.8),
		entry("gammo", "excellent", 0.7, "GB", "IE"), entry("delto", "cold", 0.7, "GB")}))(t)
	for region, want := range map[string]string{"": "betho, cold", "SG": "alpho, cold", "GB": "gammo, delto",
		"IE": "gammo, cold", "NG": "betho, cold"} {
		if got := translateFor(l, "excellent, cold", lingible.ToSlang, region).Text; got != want {
			t.Errorf("%q: got %q, want %q", region, got, want)
		}
	}
	// Of two terms for one thing, the one with the higher score is put in, and of equal ones the first by name.
	for want, all := range map[string][]lingible.Entry{
		"zonko": {entry("alpho", "excellent", 0.5), entry("zonko", "excellent", 0.9)},
		"betho": {entry("zonko", "excellent", 0.7), entry("betho", "excellent", 0.7)},
	} {
		if got := translate(must.Get(language.New(all))(t), "excellent", lingible.ToSlang).Text; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	// Slang that hardly anybody uses is written for nothing.
	rare := must.Get(language.New([]lingible.Entry{entry("alpho", "excellent", 0.29)}))(t)
	if got := translate(rare, "excellent", lingible.ToSlang); !got.Unchanged {
		t.Errorf("got the rare %q", got.Text)
	}
	// "Very good" says nearly the same as "excellent", and stands behind what says the same.
	near := must.Get(language.New([]lingible.Entry{entry("alpho", "excellent", 0.9),
		entry("betho", "really good", 0.4)}))(t)
	if got := translate(near, "really good, very good", lingible.ToSlang).Text; got != "betho, alpho" {
		t.Errorf("got %q", got)
	}
	if got := translate(l, "alpho, delto", lingible.ToStandard).Text; got != "excellent, cold" {
		t.Errorf("got %q", got)
	}
}

// An abbreviation with full stops is one word, and no letters that stand for words.
func TestFullStops(t *testing.T) {
	t.Parallel()
	asap := entry("ASAP", "as soon as possible", lingible.Adverb)
	asap.Variants = []string{"A.S.A.P."}
	l := must.Get(language.New([]lingible.Entry{asap, entry("u", "you", lingible.Phrase)}))(t)
	for text, want := range map[string]string{
		"Call me A.S.A.P. please":   "Call me as soon as possible please",
		"u know the U.S. border":    "you know the U.S. border",
		"The border of the U.S.":    "The border of the U.S.",
		"It is plan A. u know that": "It is plan A. you know that",
	} {
		if got := translate(l, text, lingible.ToStandard).Text; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// The terms in use are proposed with all that the lexicon says of them, also where it says little.
func TestTrends(t *testing.T) {
	t.Parallel()
	plain := func(pos lingible.PartOfSpeech) *lingible.Plain { return &lingible.Plain{Text: "x", PartOfSpeech: pos} }
	l := must.Get(language.New([]lingible.Entry{
		{Term: "slow", Momentum: 0.004},
		{Term: "even", Momentum: 0.5, Plain: plain(lingible.Phrase)},
		{
			Term: "meme", Variants: []string{"meem"}, Gloss: "A joke", Examples: []string{"A meme.", "Memes!"},
			Tags:  []string{"internet", "meme"},
			Plain: plain(lingible.Interjection), AttestationNote: "From a board", Momentum: 0.876, Confidence: 0.1,
		},
		{Term: "draw", Momentum: 0.5, Plain: plain(lingible.Interjection)},
		{Term: "gist", Momentum: 0.301},
		{Term: "noun", Momentum: 0.304, Plain: plain(lingible.Noun)},
	}))(t)
	want := []lingible.ProposedTrend{
		{Term: "meme", Definition: "A joke", Category: lingible.Meme, Popularity: 88, Example: "A meme.",
			Origin: "From a board", Related: []string{"meem"}},
		{Term: "draw", Category: lingible.Expression, Popularity: 50},
		{Term: "even", Category: lingible.PhraseLike, Popularity: 50},
		{Term: "noun", Category: lingible.Slang, Popularity: 30},
		{Term: "gist", Category: lingible.Slang, Popularity: 30},
		{Term: "slow", Category: lingible.Slang},
	}
	for _, most := range []int{-1, 0, 2, 6, 7} {
		got, err := l.Trends(t.Context(), most)
		if diff := cmp.Diff(want[:max(0, min(most, 6))], got); diff != "" || err != nil {
			t.Errorf("%d: got %v (-want +got):\n%s", most, err, diff)
		}
	}
	if got, err := new(language.Language).Trends(t.Context(), 3); len(got) > 0 || err != nil {
		t.Errorf("got %v, %v of no terms", got, err)
	}
}

func holds(t interface{ Errorf(string, ...any) }, l *language.Language, text string) {
	for _, to := range []lingible.Direction{lingible.ToStandard, lingible.ToSlang} {
		got := translate(l, text, to)
		if got.Unchanged != (got.Text == text) || got.Confidence < 0 || got.Confidence > 1 ||
			len(got.Terms) == 0 && !got.Unchanged {
			t.Errorf("%q: got %+v", text, got)
		}
	}
	v := validate(l, lingible.Proposal{Term: text, Meaning: text, Example: text})
	if v.Confidence < 0 || v.Confidence > 1 || v.Usage < 1 || v.Usage > 10 || v.Recommended && !v.Valid ||
		!v.Valid && len(v.Reasons) == 0 {
		t.Errorf("%q: got %+v", text, v)
	}
}

// Any text is read without a panic, and only terms change it.
func TestAnyText(t *testing.T) {
	t.Parallel()
	l := initial(t)
	rapid.Check(t, func(t *rapid.T) {
		holds(t, l, rapid.OneOf(rapid.String(),
			rapid.StringMatching(`([a-zA-Z' .,-]{0,9}(cap|RIZZ|Fire|lit|I'm|is|a|an)[ .'’\n-]?){1,9}`)).Draw(t, "text"))
	})
}

// A text without terms comes back byte for byte, with all that stands between its words, also bytes that are no text.
func TestUnknownText(t *testing.T) {
	t.Parallel()
	l := initial(t)
	part := rapid.SampledFrom([]string{"qua", "zel", "Öx", "I'm", "the", "日本", "é", " ", "  ", "\t", "\r\n", ".", "…",
		"-", "'", "’", "@", "#", "\xff", "\xe2\x80", "\u200b", "👩‍🚀", "7"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 40).Draw(t, "parts"), "")
		for _, to := range []lingible.Direction{lingible.ToStandard, lingible.ToSlang} {
			if got := translate(l, text, to); got.Text != text || !got.Unchanged || got.Terms != nil {
				t.Errorf("%q: got %+v", text, got)
			}
		}
	})
}

// The work, counted in allocations, grows with the text and no faster, also where phrases begin everywhere.
func TestLinear(t *testing.T) {
	l := initial(t)
	for name, unit := range map[string]string{
		"beginnings": "spill the spill the tea ", "one word": "rizz", "one chunk": "rizz.fire@",
		"homonyms": "the soup is lit and fire ", "quotes": "''’’", "drawn out": "sssuuusss ", "bytes": "\xff\xfe",
	} {
		work := func(n int) float64 {
			text := strings.Repeat(unit, n)
			return testing.AllocsPerRun(1, func() { translate(l, text, lingible.ToStandard) })
		}
		if once, twice := work(200), work(400); twice > 2.2*once+50 {
			t.Errorf("%s: got %.0f allocations for the double text of %.0f", name, twice, once)
		}
	}
}

func FuzzLanguage(f *testing.F) {
	for _, half := range []string{"tuned", "held-out"} {
		for _, p := range pairs(f, "testdata/pairs-"+half+".txt") {
			f.Add(p.from)
		}
	}
	l := initial(f)
	f.Fuzz(func(t *testing.T, text string) { holds(t, l, text) })
}

// Every term is found in all of its own examples, in at least 98 per cent of them as slang and not as an ordinary word.
func TestOwnExamples(t *testing.T) {
	t.Parallel()
	entries, l := initialTerms(t), initial(t)
	found, all := 0, 0
	for _, e := range entries {
		for _, example := range e.Examples {
			all++
			if got := translate(l, example, lingible.ToStandard); slices.Contains(got.Terms, e.Slug()) &&
				got.Confidence >= lingible.LowConfidence {
				found++
			} else {
				t.Logf("%s: %s → %s", e.Term, example, got.Text)
			}
		}
	}
	if 100*found < 98*all {
		t.Errorf("found terms in %d of %d examples", found, all)
	}
}

// Terms that are really used pass as submissions to a language that does not know them; a term that it knows never
// does.
func TestValidateRealTerms(t *testing.T) {
	t.Parallel()
	entries := initialTerms(t)
	var known, others []lingible.Entry
	for i, e := range entries {
		if i%2 == 0 {
			known = append(known, e)
		} else {
			others = append(others, e)
		}
	}
	l := must.Get(language.New(known))(t)
	valid, recommended, real := 0, 0, 0
	for _, e := range others {
		if !strings.ContainsFunc(e.Term, unicode.IsLetter) {
			continue // nobody submits an emoji
		}
		real++
		v := validate(l, lingible.Proposal{Term: e.Term, Meaning: e.Gloss, Example: e.Examples[0]})
		if v.Valid {
			valid++
		} else {
			t.Logf("%s: %s; %s: %q", e.Term, e.Gloss, e.Examples[0], v.Reasons)
		}
		if v.Recommended {
			recommended++
		}
	}
	t.Logf("%d of %d valid, %d recommended", valid, real, recommended)
	if 100*valid < 95*real {
		t.Errorf("got %d of %d valid", valid, real)
	}
	for _, e := range known {
		if v := validate(l, lingible.Proposal{Term: strings.ToUpper(e.Term) + "!", Meaning: e.Gloss,
			Example: e.Examples[0]}); v.Valid {
			t.Errorf("%s: got a valid verdict on a term of the lexicon", e.Term)
		}
	}
}

func BenchmarkTranslate(b *testing.B) {
	l := initial(b)
	for name, text := range map[string]string{
		"a sentence": "No cap, she spilled the tea and he was lowkey salty.",
		"100 characters": "Honestly that fit is drippy, the food was bussin, and we slayed until the opps were " +
			"lowkey so salty.",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				translate(l, text, lingible.ToStandard)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "translations/s")
		})
	}
}

// Building an index is what the exporter does, and opening it what a function does at its start.
func BenchmarkIndex(b *testing.B) {
	initial := initialTerms(b)
	for _, times := range []int{1, 20} {
		var entries []lingible.Entry
		for n := range times {
			for _, e := range initial {
				e.Variants = nil
				if n > 0 {
					e.Term = fmt.Sprint(e.Term, " ", n)
				}
				entries = append(entries, e)
			}
		}
		var built []byte
		b.Run(fmt.Sprintf("build %d terms", len(entries)), func(b *testing.B) {
			for b.Loop() {
				built = must.Get(language.Build(entries))(b)
			}
			b.ReportMetric(float64(len(built))/1e6, "MB")
		})
		b.Run(fmt.Sprintf("open %d terms and translate", len(entries)), func(b *testing.B) {
			for b.Loop() {
				must.Get(live(built).Translate(b.Context(),
					lingible.TranslationInput{Text: "No cap, that burger is bussin."}))(b)
			}
		})
	}
}
