// Package shell writes commands that people paste into a POSIX shell.
package shell

import (
	"regexp"
	"strings"
)

// plain matches words that mean themselves in every POSIX shell.
var plain = regexp.MustCompile(`^[\w./=,:@%+-]+$`)

// Word quotes a word where a shell needs it.
func Word(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Path quotes a path. No command takes the result for a flag.
func Path(path string) string {
	if strings.HasPrefix(path, "-") {
		path = "./" + path
	}
	return Word(path)
}
