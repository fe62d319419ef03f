package lingible

import (
	"sort"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Calendar computes the days of users, by which every daily limit counts.
type Calendar struct {
	// Zone is the time zone of all users. Nil: UTC.
	Zone  *time.Location
	Clock wire.Clock
}

// Day returns the day of a moment, as YYYY-MM-DD.
func (c Calendar) Day(at time.Time) string { return at.In(c.zone()).Format(time.DateOnly) }

// longestDay is longer than any day that the time zone database has, in seconds.
const longestDay = 50 * 60 * 60

// NextMidnight returns when the day after a moment begins, in UTC. In a zone that skips midnight at a daylight-saving
// switch, the day begins with its first moment; in one that repeats midnight, with the first of the two.
func (c Calendar) NextMidnight(at time.Time) time.Time {
	day, from := c.Day(at), at.Unix()+1
	seconds := sort.Search(longestDay, func(i int) bool { return c.Day(time.Unix(from+int64(i), 0)) != day })
	return time.Unix(from+int64(seconds), 0).UTC()
}

func (c Calendar) zone() *time.Location {
	if c.Zone == nil {
		return time.UTC
	}
	return c.Zone
}
