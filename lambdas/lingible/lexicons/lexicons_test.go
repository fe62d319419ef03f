package lexicons

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// wordsOf are the words of a text, as slugs have them.
func wordsOf(text string) []string { return strings.Split(lingible.Slug(text), "-") }

// formsOf are the words of each form of a term.
func formsOf(e lingible.Entry) [][]string {
	forms := [][]string{wordsOf(e.Term)}
	for _, variant := range e.Variants {
		forms = append(forms, wordsOf(variant))
	}
	return forms
}

// has reports whether words have those of a phrase, one after the other. Each may be inflected if same says so.
func has(words, wanted []string, same func(word, base string) bool) bool {
	for i := 0; i+len(wanted) <= len(words); i++ {
		if slices.EqualFunc(words[i:i+len(wanted)], wanted, same) {
			return true
		}
	}
	return false
}

func equal(word, base string) bool { return word == base }

// inflects reports whether a word is a regular inflection of a base form.
func inflects(word, base string) bool {
	forms := []string{base, base + "s", base + "es"}
	stems := []string{base, base + base[len(base)-1:]}
	if stem, ok := strings.CutSuffix(base, "e"); ok {
		stems = append(stems, stem)
	}
	if stem, ok := strings.CutSuffix(base, "y"); ok {
		forms = append(forms, stem+"ies", strings.TrimSuffix(stem, "e")+"ies")
		stems = append(stems, stem+"i")
	}
	for _, stem := range stems {
		forms = append(forms, stem+"ed", stem+"ing", stem+"er", stem+"est")
	}
	return slices.Contains(forms, word)
}

// What a deployment begins with.
func TestInitial(t *testing.T) {
	t.Parallel()
	initial, err := Initial()
	if err != nil || len(initial) < 150 {
		t.Fatalf("got %d terms, %v; want 150 or more", len(initial), err)
	}
	type level struct {
		category   lingible.Category
		difficulty lingible.Difficulty
	}
	levels, regions, decades, said := map[level]int{}, map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, e := range initial {
		if !e.IsQuizEligible || e.Plain == nil || len(e.Tags) == 0 || len(e.Examples) > 3 {
			t.Errorf("%s: want a term for the quiz with a plain text, tags and at most 3 examples", e.Term)
			continue
		}
		levels[level{e.QuizCategory, e.QuizDifficulty()}]++
		decades[e.FirstAttested] = true
		for _, r := range e.Regions {
			regions[r] = true
		}
		forms := formsOf(e)
		isForm := func(text string) func(form []string) bool {
			words := wordsOf(text)
			return func(form []string) bool { return has(words, form, inflects) }
		}
		for _, example := range e.Examples {
			if !slices.ContainsFunc(forms, isForm(example)) {
				t.Errorf("%s: %q does not have the term", e.Term, example)
			}
			if !strings.ContainsAny(example[len(example)-1:], ".!?") {
				t.Errorf("%s: %q is no sentence", e.Term, example)
			}
		}
		if slices.ContainsFunc(forms, isForm(e.Gloss)) || slices.ContainsFunc(forms, isForm(e.Plain.Text)) {
			t.Errorf("%s: the gloss %q or the plain text %q has the term", e.Term, e.Gloss, e.Plain.Text)
		}
		for _, text := range append([]string{e.Gloss}, e.Examples...) {
			if other, isAgain := said[lingible.Slug(text)]; isAgain {
				t.Errorf("%s: %q is also of %s", e.Term, text, other)
			}
			said[lingible.Slug(text)] = e.Term
		}
	}
	for _, c := range lingible.Categories() {
		for _, d := range lingible.Difficulties() {
			if n := levels[level{c, d}]; n < 4 {
				t.Errorf("%s: got %d %s terms, want 4 or more", c, n, d)
			}
		}
	}
	if len(lingible.Categories()) != 9 || len(regions) < 8 || len(decades) < 15 {
		t.Errorf("got %d categories, %d regions and %d decades; want 9, 8 and 15 or more", len(lingible.Categories()),
			len(regions), len(decades))
	}
}

// No wrong answer can pass for right: it has no gloss, plain text or form of a term of its category
// in it, and is part of no gloss.
func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	initial := must.Get(Initial())(t)
	wrong, err := WrongAnswers()
	if err != nil || len(wrong) != 9 {
		t.Fatalf("got %d pools, %v; want 9", len(wrong), err)
	}
	said, forms := map[lingible.Category][][]string{}, map[lingible.Category][][]string{}
	for _, e := range initial {
		c := e.QuizCategory
		said[c] = append(said[c], wordsOf(e.Gloss), wordsOf(e.Plain.Text))
		forms[c] = append(forms[c], formsOf(e)...)
	}
	seen := map[string]bool{}
	for category, pool := range wrong {
		if len(pool) < MinWrongAnswers {
			t.Errorf("%s: got %d wrong answers, want %d or more", category, len(pool), MinWrongAnswers)
		}
		for _, answer := range pool {
			if slug := lingible.Slug(answer); slug == "" || seen[slug] || len(answer) > lingible.MaxGloss {
				t.Errorf("%s: %q is empty, too long or there twice", category, answer)
			}
			seen[lingible.Slug(answer)] = true
			words := wordsOf(answer)
			for _, right := range slices.Concat(said[category], forms[category]) {
				if has(words, right, equal) {
					t.Errorf("%s: %q has %q", category, answer, right)
				}
			}
			for _, right := range said[category] {
				if has(right, words, equal) {
					t.Errorf("%s: %q is in %q", category, answer, right)
				}
			}
		}
	}
}

func TestReadErr(t *testing.T) {
	t.Parallel()
	folder := func() fstest.MapFS {
		copied := fstest.MapFS{}
		for _, c := range lingible.Categories() {
			name := string(c) + ".json"
			data := must.Get(fs.ReadFile(files, name))(t)
			copied[name] = &fstest.MapFile{Data: data}
		}
		return copied
	}
	const name = "money.json"
	good := string(folder()[name].Data)
	changed := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for title, test := range map[string]struct{ content, says string }{
		"Rule":      {changed(`"part_of_speech": "noun"`, `"part_of_speech": "pronoun"`), `plain.part_of_speech`},
		"Form":      {changed(`"term": "buck"`, `"term": "Quid"`), `"Quid" of "Quid" is one of "quid"`},
		"OtherFile": {changed(`"term": "buck"`, `"term": "slay"`), `"slay" of "slay" is one of "slay"`},
		"Category": {changed(`"term": "buck"`, `"term": "buck", "quiz_category": "food"`),
			`"buck": has quiz_category or sources: leave them out`},
		"Sources": {changed(`"term": "buck"`, `"term": "buck", "sources": []`),
			`"buck": has quiz_category or sources: leave them out`},
		"Pool":         {`{"wrong_answers": ["A song"], "entries": []}`, "wrong_answers: got 1, want 12 or more"},
		"UnknownField": {changed(`"gloss"`, `"meaning"`), `unknown field "meaning"`},
		"Type":         {changed(`"confidence": 0.98`, `"confidence": "0.98"`), "cannot unmarshal string"},
		"More":         {good + "{}", "more after the value"},
		"Cut":          {good[:len(good)/2], "unexpected EOF"},
		"Empty":        {"", "EOF"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			changed := folder()
			changed[name] = &fstest.MapFile{Data: []byte(test.content)}
			_, _, err := read(changed)
			if err == nil || !strings.HasPrefix(err.Error(), "money.json: ") ||
				!strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
	const theme = `{"entries": [{"term": "zonko", "gloss": "Good", "examples": ["So zonko!"], "is_quiz_eligible": true,
		"quiz_category": "praise", "confidence": 0.9, "momentum": 0.9}]}`
	for title, test := range map[string]struct{ old, new, says string }{
		"Good":       {"zonko", "zonko", ""},
		"NoCategory": {`"quiz_category": "praise",`, "", `"zonko": quiz_category`},
		"Sources":    {`"term"`, `"sources": [], "term"`, `"zonko": has quiz_category or sources`},
		"Pool":       {`"entries"`, `"wrong_answers": ["A song"], "entries"`, "wrong_answers: put them into"},
		"Form":       {"zonko", "Quid", `"Quid" of "Quid" is one of "quid"`},
	} {
		t.Run("Theme"+title, func(t *testing.T) {
			t.Parallel()
			with := folder()
			with["zoo.json"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(theme, test.old, test.new))}
			entries, wrong, err := read(with)
			if test.says != "" {
				if err == nil || !strings.HasPrefix(err.Error(), "zoo.json: ") ||
					!strings.Contains(err.Error(), test.says) {
					t.Errorf("got %v, want %q", err, test.says)
				}
			} else if err != nil || entries[len(entries)-1].QuizCategory != lingible.Praise || len(wrong) != 9 {
				t.Errorf("got %d pools and %v, want 9 and zonko as praise", len(wrong), err)
			}
		})
	}
	missing := folder()
	delete(missing, name)
	if _, _, err := read(missing); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("got %v, want %s missed", err, name)
	}
}
