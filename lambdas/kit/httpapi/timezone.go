package httpapi

import (
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// TimezoneHeader says in which time zone a caller's days begin and end.
const TimezoneHeader = "X-Timezone"

// Timezone is the time zone of that IANA name; UTC when it is empty. A name that is
// no time zone is a [*validate.Error] of [TimezoneHeader]: days counted in another zone
// than the caller's would be a surprise later.
func Timezone(name string) (*time.Location, error) {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, validate.Errorf(TimezoneHeader, validate.RuleFormat, "%s is not the IANA name of a time zone: send one such as Europe/Berlin, or leave the header out for UTC", Quoted(name))
	}
	return zone, nil
}
