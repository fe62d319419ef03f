package dynamo

import "golang.org/x/text/unicode/norm"

// KeyText returns a text as keys have it: composed (Unicode's NFC), so that texts that look the same are one key. Other
// attributes have it as it was sent.
func KeyText(text string) string { return norm.NFC.String(text) }

// KeyTexts returns the forms in which the keys of items may have a text: that of [KeyText], and the text as it was
// sent, if that is another one. Earlier versions wrote keys as texts were sent. An item moves to the first form when it
// is written again.
func KeyTexts(text string) []string {
	if composed := KeyText(text); composed != text {
		return []string{composed, text}
	}
	return []string{text}
}
