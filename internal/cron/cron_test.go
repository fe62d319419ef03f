package cron_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/internal/cron"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

func location(t testing.TB, name string) *time.Location {
	t.Helper()
	return must.Get(time.LoadLocation(name))(t)
}

func TestNext(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, expression, zone, after string
		want                          []string
	}{
		{"EveryMinute", "cron(* * * * ? *)", "UTC", "2026-01-01T00:00:30Z",
			[]string{"2026-01-01T00:01:00Z", "2026-01-01T00:02:00Z"}},
		{"Daily", "cron(0 10 * * ? *)", "UTC", "2026-01-01T10:00:00Z",
			[]string{"2026-01-02T10:00:00Z", "2026-01-03T10:00:00Z"}},
		{"Zone", "cron(0 10 * * ? *)", "America/New_York", "2026-01-01T00:00:00Z", []string{"2026-01-01T15:00:00Z"}},
		{"Weekdays", "cron(15 12 ? * MON-FRI *)", "UTC", "2026-01-02T12:15:00Z",
			[]string{"2026-01-05T12:15:00Z", "2026-01-06T12:15:00Z"}},
		{"WeekdayNumbers", "cron(0 0 ? * 1,7 *)", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-01-03T00:00:00Z", "2026-01-04T00:00:00Z", "2026-01-10T00:00:00Z"}},
		{"Steps", "cron(0/25 8-10/2 ? * 2 *)", "UTC", "2026-01-05T00:00:00Z",
			[]string{"2026-01-05T08:00:00Z", "2026-01-05T08:25:00Z", "2026-01-05T08:50:00Z", "2026-01-05T10:00:00Z"}},
		{"LastDay", "cron(0 0 L * ? *)", "UTC", "2026-01-31T00:00:00Z",
			[]string{"2026-02-28T00:00:00Z", "2026-03-31T00:00:00Z"}},
		{"LastWeekday", "cron(0 0 LW * ? *)", "UTC", "2026-01-31T00:00:00Z",
			[]string{"2026-02-27T00:00:00Z", "2026-03-31T00:00:00Z"}},
		{"NearestWeekdaySaturday", "cron(0 0 3W 1 ? *)", "UTC", "2025-12-31T00:00:00Z",
			[]string{"2026-01-02T00:00:00Z"}},
		{"NearestWeekdayFirstIsSaturday", "cron(0 0 1W 8 ? 2026)", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-08-03T00:00:00Z", ""}},
		{"NearestWeekdayLastIsSunday", "cron(0 0 31W 5 ? 2026)", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-05-29T00:00:00Z", ""}},
		{"NearestWeekdayMissing", "cron(0 0 31W 2,3 ? 2026)", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-03-31T00:00:00Z", ""}},
		{"LastFriday", "cron(0 0 ? * 6L *)", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-01-30T00:00:00Z", "2026-02-27T00:00:00Z"}},
		{"LastOfWeek", "cron(0 0 ? * L *)", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-01-03T00:00:00Z", "2026-01-10T00:00:00Z"}},
		{"SecondTuesday", "cron(0 0 ? * 3#2 *)", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-01-13T00:00:00Z", "2026-02-10T00:00:00Z"}},
		{"FifthMonday", "cron(0 0 ? * mon#5 *)", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-03-30T00:00:00Z", "2026-06-29T00:00:00Z"}},
		{"MonthNames", "cron(0 0 1 feb,DEC ? *)", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-02-01T00:00:00Z", "2026-12-01T00:00:00Z"}},
		{"LeapDay", "cron(0 0 29 2 ? *)", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"}},
		{"Years", "cron(0 0 1 1 ? 2027-2031/2)", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2027-01-01T00:00:00Z", "2029-01-01T00:00:00Z", "2031-01-01T00:00:00Z", ""}},
		{"Never", "cron(0 0 30 2 ? *)", "UTC", "2026-01-01T00:00:00Z", []string{""}},
		{"Past", "cron(0 0 1 1 ? 1999)", "UTC", "2026-01-01T00:00:00Z", []string{""}},
		{"BeforeAll", "cron(0 0 1 1 ? 1970)", "UTC", "1950-01-01T00:00:00Z", []string{"1970-01-01T00:00:00Z", ""}},
		// "Daylight saving time in EventBridge Scheduler": skipped in spring, once in autumn.
		{"Spring", "cron(30 2 * * ? *)", "America/New_York", "2026-03-07T12:00:00Z", []string{"2026-03-09T06:30:00Z"}},
		{"Autumn", "cron(30 1 * * ? *)", "America/New_York", "2026-10-31T12:00:00Z",
			[]string{"2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"}},
		{"Rate", "rate(5 minutes)", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-01-01T00:05:00Z", "2026-01-01T00:10:00Z"}},
		{"RateBetween", "rate(1 hour)", "UTC", "2026-01-01T05:59:59Z", []string{"2026-01-01T06:00:00Z"}},
		{"RateDays", "rate(2 days)", "UTC", "2026-01-01T00:00:00Z", []string{"2026-01-03T00:00:00Z"}},
		{"RateBeforeAnchor", "rate(1 minute)", "UTC", "2025-06-01T00:00:00Z", []string{"2026-01-01T00:01:00Z"}},
		{"At", "at(2026-02-03T04:05:06)", "Europe/Vienna", "2026-01-01T00:00:00Z",
			[]string{"2026-02-03T03:05:06Z", ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			after := must.Get(time.Parse(time.RFC3339, test.after))(t)
			expression := must.Get(cron.Parse(test.expression, location(t, test.zone),
				time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))(t)
			for _, want := range test.want {
				next := expression.Next(after)
				got := ""
				if !next.IsZero() {
					got = next.UTC().Format(time.RFC3339)
				}
				if got != want {
					t.Fatalf("after %v: got %q, want %q", after, got, want)
				}
				after = next
			}
		})
	}
}

// A rule has the unit of a rate in the singular for 1 alone; a schedule of EventBridge Scheduler takes both.
func TestParseRule(t *testing.T) {
	t.Parallel()
	for expression, taken := range map[string]bool{
		"rate(1 minute)": true, "rate(1 hour)": true, "rate(1 day)": true, "rate(5 minutes)": true,
		"rate(2 days)": true, "cron(0 10 * * ? *)": true, "rate( 1 minute )": true,
		"rate(1 minutes)": false, "rate(1 hours)": false, "rate(1 days)": false, "rate(5 hour)": false,
		"rate(2 minute)": false, "at(2030-01-01T00:00:00)": false, "rate(0 minutes)": false,
	} {
		if _, err := cron.ParseRule(expression, time.Time{}); (err == nil) != taken ||
			err != nil && !errors.Is(err, cron.ErrExpression) {
			t.Errorf("%s: got %v", expression, err)
		}
	}
	for _, expression := range []string{"rate(1 minutes)", "rate(5 hour)"} {
		if _, err := cron.Parse(expression, time.UTC, time.Time{}); err != nil {
			t.Errorf("%s of a schedule: got %v", expression, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"":                               "rate(…)",
		"rate(5 minutes":                 "rate(…)",
		"every(5 minutes)":               "rate(…)",
		"rate(5)":                        "value unit",
		"rate(0 minutes)":                "positive",
		"rate(-1 minutes)":               "positive",
		"rate(1.5 hours)":                "positive",
		"rate(5 seconds)":                "minutes, hours or days",
		"rate(99999999999 days)":         "hundred years",
		"at(2026-02-30T00:00:00)":        "yyyy-mm-dd",
		"at(tomorrow)":                   "yyyy-mm-dd",
		"cron(0 10 * * ?)":               "want 6",
		"cron(0 10 * * * *)":             "exactly one",
		"cron(0 10 ? * ? *)":             "exactly one",
		"cron(60 10 * * ? *)":            "0 to 59",
		"cron(0 24 * * ? *)":             "0 to 23",
		"cron(0 0 32 * ? *)":             "1 to 31",
		"cron(0 0 0 * ? *)":              "1 to 31",
		"cron(0 0 * 13 ? *)":             "JAN to DEC",
		"cron(0 0 ? * 8 *)":              "SUN to SAT",
		"cron(0 0 ? * 2#6 *)":            "1 to 5",
		"cron(0 0 ? * XL *)":             "SUN to SAT",
		"cron(0 0 * * ? 1969)":           "1970 to 2199",
		"cron(*/0 0 * * ? *)":            "step",
		"cron(1- 0 * * ? *)":             "0 to 59",
		"cron(30-10 0 * * ? *)":          "two ranges",
		"cron(1,,2 0 * * ? *)":           "0 to 59",
		"cron(+1 0 * * ? *)":             "0 to 59",
		"cron(0 0 W * ? *)":              "1 to 31",
		"cron(99999999999999 0 * * ? *)": "0 to 59",
	} {
		t.Run(expression, func(t *testing.T) {
			t.Parallel()
			_, err := cron.Parse(expression, time.UTC, time.Time{})
			if !errors.Is(err, cron.ErrExpression) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// TestNextProperties: the next time is later, on a full minute that matches, and nothing is skipped between.
func TestNextProperties(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "America/New_York", "Europe/Vienna", "Asia/Kathmandu", "Australia/Lord_Howe"}
	rapid.Check(t, func(t *rapid.T) {
		zone := must.Get(time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone")))(t)
		minute := rapid.IntRange(0, 59).Draw(t, "minute")
		hour := rapid.IntRange(0, 23).Draw(t, "hour")
		after := time.Unix(rapid.Int64Range(0, 6_000_000_000).Draw(t, "after"), 0)
		expression := must.Get(cron.Parse("cron("+itoa(minute)+" "+itoa(hour)+" * * ? *)", zone, time.Time{}))(t)
		next := expression.Next(after)
		local := next.In(zone)
		if !next.After(after) || local.Hour() != hour || local.Minute() != minute || local.Second() != 0 {
			t.Fatalf("after %v: got %v", after, local)
		}
		if gap := next.Sub(after); gap > 49*time.Hour+time.Minute {
			t.Fatalf("after %v: %v later", after, gap)
		}
	})
}

func itoa(n int) string { return string([]byte{byte('0' + n/10), byte('0' + n%10)}) }

// FuzzParse checks that any text is parsed or refused, and that parsed expressions move forward.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"rate(1 minute)", "cron(0/5 8-17 ? * MON-FRI 2026)", "cron(0 0 LW * ? *)",
		"at(2026-01-01T00:00:00)", "cron(0 0 ? * 2#1 *)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		anchor := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		expression, err := cron.Parse(text, time.UTC, anchor)
		if err != nil {
			return
		}
		if next := expression.Next(anchor); !next.IsZero() && !next.After(anchor) {
			t.Errorf("%q: next is %v", text, next)
		}
	})
}

func TestLongest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		expression, zone string
		want             time.Duration
	}{
		{"rate(5 minutes)", "UTC", 5 * time.Minute},
		{"cron(0 3 * * ? *)", "UTC", 24 * time.Hour},
		// The night of autumn has an hour more.
		{"cron(0 3 * * ? *)", "Europe/Vienna", 25 * time.Hour},
		{"cron(0 8-18 ? * MON-FRI *)", "UTC", 62 * time.Hour},
		{"cron(0 0 1 * ? *)", "UTC", 31 * 24 * time.Hour},
		{"cron(0 3 * * ? 2026)", "UTC", 0},
		{"at(2026-01-31T09:00:00)", "UTC", 0},
	} {
		e := must.Get(cron.Parse(test.expression, location(t, test.zone), time.Date(2025, 1, 1, 0, 0, 0, 0,
			time.UTC)))(t)
		if got := cron.Longest(e); got != test.want {
			t.Errorf("%s in %s: got %s, want %s", test.expression, test.zone, got, test.want)
		}
	}
}
