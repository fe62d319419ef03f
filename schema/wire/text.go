package wire

import (
	"strconv"
	"unicode/utf16"
)

// LoneSurrogate returns the position of the first escape in valid JSON that is half of a surrogate pair, or -1. Such an
// escape is no character ("The JavaScript Object Notation (JSON) Data Interchange Format", RFC 8259, section 8.2):
// encoding/json reads it as U+FFFD, so that another text would be stored than was sent.
func LoneSurrogate(json []byte) int {
	for i := 0; i < len(json); i++ {
		if json[i] != '\\' {
			continue
		}
		first := escaped(json[i:])
		switch {
		case first < 0:
			i++ // \\, \" and the like
		case !utf16.IsSurrogate(first):
			i += 5
		case utf16.DecodeRune(first, escaped(json[min(i+6, len(json)):])) == '\uFFFD':
			return i
		default:
			i += 11
		}
	}
	return -1
}

// escaped returns the code unit of the escape \uXXXX that a text begins with, or -1.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(unit)
}
