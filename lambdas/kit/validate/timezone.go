package validate

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// TimezoneHeader says in which time zone a caller's days begin and end.
const TimezoneHeader = "X-Timezone"

// Timezone is the time zone that [Problems.Timezone] returns, or an [*Error].
func Timezone(name string) (*time.Location, error) {
	var p Problems
	zone := p.Timezone(name)
	return zone, p.Err()
}

// Timezone is the time zone of that IANA name; UTC when it is empty. An unknown name is a problem
// of [TimezoneHeader], and the result is nil: days in another zone than the caller's would surprise
// later.
func (p *Problems) Timezone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		p.Add(TimezoneHeader, RuleFormat, "%s is not the IANA name of a time zone: send one such as Europe/Berlin, "+
			"or leave the header out for UTC", Excerpt(name))
		return nil
	}
	return zone
}

// Excerpt is [Quoted], and adds the number of characters to text that is cut.
func Excerpt(text string) string {
	if n := utf8.RuneCountInString(text); n > mostQuoted {
		return fmt.Sprintf("%s of %d characters", Quoted(text), n)
	}
	return Quoted(text)
}
