package validate

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/onesynth-cdk/onesynth/internal/cron"
)

// TimezoneHeader is the request header with the time zone in which a caller's days begin and end.
const TimezoneHeader = "X-Timezone"

// Zone returns the time zone with that name in the IANA time zone database, or UTC for "". Any other text is an error,
// Local and the further files of a machine's copy of the database, too, which [time.LoadLocation] takes.
func Zone(name string) (*time.Location, error) { return cron.Zone(name) }

// Timezone returns what [Problems.Timezone] returns, or an [*Error].
func Timezone(name string) (*time.Location, error) {
	var p Problems
	zone := p.Timezone(name)
	return zone, p.Err()
}

// Timezone returns the time zone with that IANA name, or UTC for "". For an unknown name it adds a problem of
// [TimezoneHeader] and returns nil: days in another zone than the caller's would surprise later.
func (p *Problems) Timezone(name string) *time.Location {
	zone, err := cron.Zone(name)
	if err != nil {
		p.Add(TimezoneHeader, RuleFormat, "%s is not the IANA name of a time zone: send one such as Europe/Berlin, "+
			"or leave the header out for UTC", Excerpt(name))
		return nil
	}
	return zone
}

// Excerpt is [Quoted], followed for a text that it cuts by the number of the text's characters.
func Excerpt(text string) string {
	if n := utf8.RuneCountInString(text); n > maxQuoted {
		return fmt.Sprintf("%s of %d characters", Quoted(text), n)
	}
	return Quoted(text)
}
