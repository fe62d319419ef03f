package askahuman

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// problems gathers what is wrong with a request, so that the caller hears of
// everything at once.
type problems []Problem

func (p *problems) add(field string, constraint Constraint, format string, arguments ...any) {
	*p = append(*p, NewProblem(field, constraint, fmt.Sprintf(format, arguments...)))
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
	length, visible := utf8.RuneCountInString(value), utf8.RuneCountInString(strings.TrimSpace(value))
	switch {
	case !utf8.ValidString(value):
		p.add(field, ConstraintFormat, "is not valid UTF-8; send text")
	case strings.ContainsRune(value, 0):
		p.add(field, ConstraintFormat, "contains the character NUL (U+0000), which is not text; leave it out")
	case length > most || value == "" || length < least:
		*p = append(*p, LengthProblem(field, length, "character", &least, &most))
	case isBlank(value):
		*p = append(*p, bounded(NewProblem(field, ConstraintLength, "holds only white space; "+needed(&least, &most)), &least, &most))
	case visible < least:
		*p = append(*p, bounded(NewProblem(field, ConstraintLength,
			fmt.Sprintf("has %s without the white space around it; %s", counted(visible, "character"), needed(&least, &most))), &least, &most))
	}
}

// isBlank reports whether nothing in s can be seen: white space, control and
// zero-width characters.
func isBlank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

func (p *problems) between(field string, value, least, most int) {
	if value < least || value > most {
		*p = append(*p, RangeProblem(field, strconv.Itoa(value), &least, &most))
	}
}

// duration checks a whole number of units.
func (p *problems) duration(field string, value, unit, least, most time.Duration) {
	if value < least || value > most || value%unit != 0 {
		from, to := int(least/unit), int(most/unit)
		got := strconv.FormatFloat(float64(value)/float64(unit), 'f', -1, 64)
		*p = append(*p, RangeProblem(field, got, &from, &to))
	}
}

// limit is how many items a caller gets of a list: 0 is the default, and more than
// the most is the most.
func (p *problems) limit(value, byDefault, most int) int {
	if value == 0 {
		return byDefault
	}
	if least := 1; value < least {
		*p = append(*p, RangeProblem("limit", strconv.Itoa(value), &least, nil))
	}
	return min(value, most)
}

func (p *problems) cursor(value string) Position {
	position, err := parseCursor(value)
	if err != nil {
		p.add("cursor", ConstraintFormat, "is not a cursor of this list; send the next_cursor of the page before unchanged, or none for the first page")
	}
	return position
}

func (p *problems) audience(tags []string) {
	for i, tag := range tags {
		field := fmt.Sprintf("audience[%d]", i)
		switch {
		case !slices.Contains(Audiences(), tag):
			*p = append(*p, EnumProblem(field, tag, Audiences()))
		case slices.Contains(tags[:i], tag):
			p.add(field, ConstraintUnique, "is %q again; give each tag once", tag)
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
