package validate

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// TimezoneHeader says in which time zone a caller's days begin and end.
const TimezoneHeader = "X-Timezone"

// Timezone returns what [Problems.Timezone] returns, or an [*Error].
func Timezone(name string) (*time.Location, error) {
	var p Problems
	zone := p.Timezone(name)
	return zone, p.Err()
}

// Timezone returns the time zone with that IANA name, or UTC for "". For an unknown name it adds a problem of
// [TimezoneHeader] and returns nil: days in another zone than the caller's would surprise later.
func (p *Problems) Timezone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		p.Add(TimezoneHeader, RuleFormat, "%s is not the IANA name of a time zone: send one such as Europe/Berlin, "+
			"or leave the header out for UTC", Excerpt(name))
		return nil
	}
	return zone
}

// Excerpt is [Quoted] with the number of characters after a text that it cuts.
func Excerpt(text string) string {
	if n := utf8.RuneCountInString(text); n > mostQuoted {
		return fmt.Sprintf("%s of %d characters", Quoted(text), n)
	}
	return Quoted(text)
}
