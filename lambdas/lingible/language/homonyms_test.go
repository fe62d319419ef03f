package language_test

import (
	"os"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// Slang of the net and of the United States is read as slang, and the same words in their ordinary sense stay, without
// an exception.
func TestHomonyms(t *testing.T) {
	t.Parallel()
	l := initial(t)
	slang, ordinary := 0, 0
	for _, p := range pairs(t, "testdata/homonyms.txt") {
		got := translate(l, p.from, p.to)
		if normal(got.Text) != normal(p.want) {
			t.Errorf("%s\ngot\t%s (%.2f)\nwant\t%s", p.from, got.Text, got.Confidence, p.want)
		}
		if p.from != p.want {
			slang++
		} else if ordinary++; got.Confidence >= 0.6 {
			t.Errorf("%s: got a confidence of %.2f, want less than 0.6", p.from, got.Confidence)
		}
	}
	if slang < 60 || ordinary < 1700 {
		t.Errorf("got %d slang sentences and %d ordinary ones, want 60 and 1,700 or more", slang, ordinary)
	}
}

// Homonyms are protected by three sentences in which they are ordinary words, or more.
func TestHomonymsWithSentences(t *testing.T) {
	t.Parallel()
	table := must.Get(os.ReadFile("words.txt"))(t)
	var ordinary []string
	for _, file := range []string{"homonyms", "senses-tuned", "senses-held-out"} {
		for _, p := range pairs(t, "testdata/"+file+".txt") {
			if p.from == p.want {
				ordinary = append(ordinary, stemsOf(p.from))
			}
		}
	}
	all, protected := 0, 0
	for line := range strings.Lines(string(table)) {
		term, _, found := strings.Cut(line, ":")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		all++
		word, _, _ := strings.Cut(term, " (")
		n, stems := 0, stemsOf(word)
		for _, sentence := range ordinary {
			if strings.Contains(sentence, stems) {
				n++
			}
		}
		if n >= 3 {
			protected++
		}
	}
	t.Logf("%d of %d homonyms have three ordinary sentences or more", protected, all)
	if protected < 550 {
		t.Errorf("got %d homonyms with three ordinary sentences or more, want 550", protected)
	}
}
