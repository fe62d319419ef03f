// Package wire has types that all platforms write to JSON in the same way, and the clock of their times.
package wire

import "time"

// Time is a moment on the wire: in UTC with milliseconds, such as 2026-02-02T09:30:00.000Z. The texts have one width,
// so they sort by time, unlike those of [time.Time]. Time reads any RFC 3339. Give a field the tag format:"date-time".
// Stores take it for a [time.Time].
type Time time.Time

// At returns a moment, to the millisecond.
func At(t time.Time) Time { return Time(t.UTC().Truncate(time.Millisecond)) }

// String returns the moment as it is on the wire.
func (t Time) String() string { return time.Time(t).UTC().Format("2006-01-02T15:04:05.000Z") }

// MarshalText implements [encoding.TextMarshaler], which JSON uses, too. It does not fail.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. Its error is of [time.Parse].
func (t *Time) UnmarshalText(text []byte) error {
	parsed, err := time.Parse(time.RFC3339, string(text))
	*t = Time(parsed)
	return err
}

// IsZero reports whether there is no moment.
func (t Time) IsZero() bool { return time.Time(t).IsZero() }

// Equal reports whether two moments are the same.
func (t Time) Equal(other Time) bool { return time.Time(t).Equal(time.Time(other)) }

// Clock tells the time. Nil: [time.Now].
type Clock func() time.Time

// Now returns the moment in UTC and in whole milliseconds, as stores keep it: a value is the same before its write and
// after its read.
func (c Clock) Now() time.Time {
	if c == nil {
		c = time.Now
	}
	return c().UTC().Truncate(time.Millisecond)
}
