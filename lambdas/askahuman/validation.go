package askahuman

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// problems gathers what is wrong with a request, so that the caller hears of
// everything at once.
type problems []Problem

func (p *problems) add(field, format string, arguments ...any) {
	*p = append(*p, Problem{Field: field, Message: fmt.Sprintf(format, arguments...)})
}

// err is nil when nothing is wrong, else an [*InvalidError].
func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return &InvalidError{Problems: p}
}

// text checks what a person or an agent wrote. It is kept exactly as written;
// white space around it does not count towards the least length, or blanks would
// pass for a question.
func (p *problems) text(field, value string, least, most int) {
	switch length := utf8.RuneCountInString(value); {
	case !utf8.ValidString(value):
		p.add(field, "is not valid UTF-8: send text")
	case strings.ContainsRune(value, 0):
		p.add(field, "contains the character NUL (U+0000), which is not text: leave it out")
	case length > most:
		p.add(field, "has %d characters; at most %d are allowed", length, most)
	case value == "":
		p.add(field, "is empty; it needs %s", charactersBetween(least, most))
	case isBlank(value):
		p.add(field, "holds only white space; it needs %s", charactersBetween(least, most))
	case utf8.RuneCountInString(strings.TrimSpace(value)) < least:
		p.add(field, "has %d characters without the white space around it; it needs %s",
			utf8.RuneCountInString(strings.TrimSpace(value)), charactersBetween(least, most))
	}
}

func charactersBetween(least, most int) string {
	return fmt.Sprintf("%d to %d characters", least, most)
}

// isBlank reports whether nothing in s can be seen: white space, control and
// zero-width characters.
func isBlank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

func (p *problems) between(field string, value, least, most int) {
	if value < least || value > most {
		p.add(field, "is %d; allowed is %d to %d", value, least, most)
	}
}

// limit checks how many items a caller wants in a list; 0 is the default.
func (p *problems) limit(value, byDefault, most int) int {
	if value == 0 {
		return byDefault
	}
	p.between("limit", value, 1, most)
	return value
}

func (p *problems) cursor(value string) Position {
	position, err := parseCursor(value)
	if err != nil {
		p.add("cursor", "is not a cursor of this list: send the next_cursor of the page before unchanged, or none for the first page")
	}
	return position
}

func (p *problems) audience(tags []string) {
	for i, tag := range tags {
		field := fmt.Sprintf("audience[%d]", i)
		switch {
		case !slices.Contains(Audiences(), tag):
			p.add(field, "is %s; allowed are %s", shown(tag), strings.Join(Audiences(), ", "))
		case slices.Contains(tags[:i], tag):
			p.add(field, "is %q again: give each tag once", tag)
		}
	}
}

// shown quotes what was got, cut so that a message stays readable.
func shown(value string) string {
	const most = 40
	if utf8.RuneCountInString(value) > most {
		return strconv.Quote(string([]rune(value)[:most])) + "…"
	}
	return strconv.Quote(value)
}

// because adds to an error what was being done. The errors that callers tell
// apart stay as they are: their text is for people. nil stays nil.
func because(err error, doing string) error {
	if err == nil {
		return nil
	}
	for _, known := range []error{ErrQuestionNotFound, ErrQuestionClosed, ErrAlreadyAnswered, ErrQuotaExceeded, ErrSubscriptionNotFound} {
		if errors.Is(err, known) {
			return known
		}
	}
	return fmt.Errorf("%s: %w", doing, err)
}
