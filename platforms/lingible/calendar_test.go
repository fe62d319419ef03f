package lingible_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// The day changes at midnight of the zone, also over both switches, in zones that skip midnight or
// repeat it, and in one that skipped a day.
func TestNextMidnight(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ zone, at, want string }{
		"Ordinary":          {"America/Chicago", "2026-02-02T15:30:00Z", "2026-02-03T06:00:00Z"},
		"AtMidnight":        {"America/Chicago", "2026-02-02T06:00:00Z", "2026-02-03T06:00:00Z"},
		"JustBefore":        {"America/Chicago", "2026-02-02T05:59:59.999999999Z", "2026-02-02T06:00:00Z"},
		"BeforeSpring":      {"America/Chicago", "2026-03-08T05:59:59Z", "2026-03-08T06:00:00Z"},
		"InSpring":          {"America/Chicago", "2026-03-08T06:00:00Z", "2026-03-09T05:00:00Z"},
		"BeforeAutumn":      {"America/Chicago", "2026-11-01T04:59:59Z", "2026-11-01T05:00:00Z"},
		"InAutumn":          {"America/Chicago", "2026-11-01T05:00:00Z", "2026-11-02T06:00:00Z"},
		"SkippedMidnight":   {"America/Havana", "2026-03-08T04:59:00Z", "2026-03-08T05:00:00Z"}, // 00:00 becomes 01:00
		"RepeatedMidnight":  {"America/Havana", "2026-11-01T03:59:00Z", "2026-11-01T04:00:00Z"}, // 01:00 becomes 00:00
		"InSecondMidnight":  {"America/Havana", "2026-11-01T05:00:00Z", "2026-11-02T05:00:00Z"},
		"SkippedInBeirut":   {"Asia/Beirut", "2026-03-28T21:00:00Z", "2026-03-28T22:00:00Z"},
		"RepeatedLastHour":  {"Asia/Beirut", "2026-10-24T20:30:00Z", "2026-10-24T22:00:00Z"}, // 00:00 becomes 23:00
		"SkippedDay":        {"Pacific/Apia", "2011-12-29T12:00:00Z", "2011-12-30T10:00:00Z"},
		"EndOfMonth":        {"UTC", "2026-02-28T23:00:00Z", "2026-03-01T00:00:00Z"},
		"SecondsInTheEpoch": {"Europe/Amsterdam", "1930-01-01T12:00:00Z", "1930-01-01T23:40:28Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := must.Get(time.Parse(time.RFC3339, test.at))(t)
			c := lingible.Calendar{Zone: must.Get(time.LoadLocation(test.zone))(t)}
			if got := c.NextMidnight(at).Format(time.RFC3339Nano); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	var utc lingible.Calendar
	if got := utc.Day(utc.NextMidnight(time.Date(2026, 12, 31, 5, 0, 0, 0, time.UTC))); got != "2027-01-01" {
		t.Errorf("without a zone: got %s", got)
	}
}

// In any zone at any moment, the next midnight is later, on another day, and the instant before it
// is on the same day.
func TestNextMidnightOfAnyZone(t *testing.T) {
	t.Parallel()
	names := []string{
		"America/Chicago", "America/Havana", "Asia/Beirut", "Pacific/Apia", "America/St_Johns", "Australia/Lord_Howe",
		"Asia/Kathmandu",
		"Africa/Cairo", "America/Sao_Paulo", "America/Asuncion", "Asia/Tehran", "Pacific/Kiritimati",
		"America/Scoresbysund", "Africa/Casablanca", "UTC",
	}
	from, to := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(r *rapid.T) {
		c := lingible.Calendar{Zone: must.Get(time.LoadLocation(rapid.SampledFrom(names).Draw(r, "zone")))(r)}
		at := time.Unix(rapid.Int64Range(from.Unix(), to.Unix()).Draw(r, "seconds"),
			rapid.Int64Range(0, 999_999_999).Draw(r, "nanoseconds"))
		if rapid.Bool().Draw(r, "at a switch") {
			if start, _ := at.In(c.Zone).ZoneBounds(); !start.IsZero() {
				at = start.Add(time.Duration(rapid.Int64Range(-int64(26*time.Hour), int64(26*time.Hour)).Draw(r,
					"from the switch")))
			}
		}
		next := c.NextMidnight(at)
		if !next.After(at) || c.Day(next) == c.Day(at) || c.Day(next.Add(-1)) != c.Day(at) {
			r.Fatalf("after %s comes %s", at.In(c.Zone), next.In(c.Zone))
		}
	})
}
