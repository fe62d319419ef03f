package trigger

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrRefusedText says that Amazon SQS takes no message with such a character.
var ErrRefusedText = errors.New("not a text that Amazon SQS takes")

// isRefused reports whether a message with the character is InvalidMessageContents ("SendMessage", Amazon SQS API
// Reference).
func isRefused(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff'
}

// EscapeRefused returns a text with the escapes of JSON for the characters that SQS refuses.
func EscapeRefused(text string) string {
	if !strings.ContainsFunc(text, isRefused) {
		return text
	}
	var escaped strings.Builder
	for _, r := range text {
		if isRefused(r) {
			fmt.Fprintf(&escaped, `\u%04x`, r)
			continue
		}
		escaped.WriteRune(r)
	}
	return escaped.String()
}

// Sendable returns a body that SQS takes, and that has the same value if it is JSON. The error is [ErrRefusedText].
func Sendable(body string) (string, error) {
	at := strings.IndexFunc(body, isRefused)
	switch {
	case body == "":
		return "", fmt.Errorf("%w: got an empty message: send at least one character", ErrRefusedText)
	case !utf8.ValidString(body):
		return "", fmt.Errorf("%w: got bytes that are not UTF-8: send UTF-8, or Base64", ErrRefusedText)
	case at < 0:
		return body, nil
	case json.Valid([]byte(body)):
		return EscapeRefused(body), nil
	}
	r, _ := utf8.DecodeRuneInString(body[at:])
	return "", fmt.Errorf("%w: got %U at byte %d, allowed are tab, line feed, carriage return, and U+0020 and above "+
		"but U+FFFE and U+FFFF: send JSON, which can escape it, or leave it out", ErrRefusedText, r, at+1)
}
