package rubric

import (
	"strings"
	"testing"
)

// Work of more than linear time is done within a sentence alone, and no text makes a long one. The sentences
// together have no more words than the text.
func TestSentencesAreBounded(t *testing.T) {
	t.Parallel()
	for name, unit := range map[string]string{
		"sentences": "The bus ran late, so we walked. ", "short": "No. ", "no end": "word ", "one word": "w",
		"figures": "7 of 9, ", "commas": ",,,", "ends": "?!", "lines": "a\n", "marks": "e\u0301\u0301", "emoji": "🚌 ",
	} {
		text := strings.Repeat(unit, 1000)
		words := 0
		for _, s := range newReader().sentences(text) {
			words += s.total
			if len(s.words) > 2*longestSentence || len(s.content) > len(s.words) {
				t.Errorf("%s: got a sentence of %d words and marks, want %d at most", name, len(s.words),
					2*longestSentence)
			}
		}
		if most := len(strings.Fields(strings.ReplaceAll(text, ",", " "))); words > most {
			t.Errorf("%s: got %d words in all, want %d at most", name, words, most)
		}
	}
}
