package language_test

import "testing"

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
	if slang < 60 || ordinary < 400 {
		t.Errorf("got %d slang sentences and %d ordinary ones, want 60 and 400 or more", slang, ordinary)
	}
}
