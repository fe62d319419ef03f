package wire_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Times sort as their texts do, and come back to the millisecond, whatever zone they were in.
func TestTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.Custom(func(t *rapid.T) time.Time {
			zone := time.FixedZone("", 60*rapid.IntRange(-14*60, 14*60).Draw(t, "zone"))
			// Whole seconds and tenths are where the texts of a time.Time are shorter.
			return time.UnixMilli(1769990400000 + 100*rapid.Int64Range(0, 50).Draw(t, "tenths") +
				rapid.Int64Range(0, 9).Draw(t, "milliseconds")).In(zone)
		})
		a, b := moment.Draw(t, "a"), moment.Draw(t, "b")
		if x, y := wire.Time(a).String(), wire.Time(b).String(); len(x) != len("2026-02-02T09:30:00.000Z") ||
			(x < y) != a.Before(b) {
			t.Fatalf("%s is %s, and %s is %s", a, x, b, y)
		}
		text := must.Get(json.Marshal(wire.Time(a)))(t)
		var back wire.Time
		if err := json.Unmarshal(text, &back); err != nil || !back.Equal(wire.Time(a)) {
			t.Fatalf("%s is %s, and comes back as %s, %v", a, text, back, err)
		}
	})
}

// A clock that is not set is the machine's, and every clock is in UTC and in whole milliseconds.
func TestClock(t *testing.T) {
	t.Parallel()
	before := time.Now().Truncate(time.Millisecond)
	if now := wire.Clock(nil).Now(); now.Before(before) || now.After(time.Now()) {
		t.Errorf("got %s; it was %s", now, before)
	}
	set := time.Date(2026, 2, 2, 9, 30, 0, 123_456_789, time.FixedZone("", 3600))
	clock := wire.Clock(func() time.Time { return set })
	if got := clock.Now().String(); got != "2026-02-02 08:30:00.123 +0000 UTC" {
		t.Errorf("got %s", got)
	}
}
