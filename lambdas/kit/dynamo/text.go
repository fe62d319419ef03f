package dynamo

import "golang.org/x/text/unicode/norm"

// KeyText returns a text as keys have it: composed (Unicode's NFC), so that texts that look the same are one key. Other
// attributes have it as it was sent.
func KeyText(text string) string { return norm.NFC.String(text) }

// KeyTexts returns the forms in which the keys of items may have a text: that of [KeyText], and another one if there is
// one: the text as it was sent, or decomposed (NFD) if it was sent composed. Earlier versions wrote keys as texts were
// sent. An item moves to the first form when it is written again.
func KeyTexts(text string) []string {
	composed, other := KeyText(text), text
	if other == composed {
		other = norm.NFD.String(text)
	}
	if other == composed {
		return []string{composed}
	}
	return []string{composed, other}
}
