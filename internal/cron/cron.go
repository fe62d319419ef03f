// Package cron reads the expressions of Amazon EventBridge Scheduler: rates, cron with its six fields, and single
// times, in a time zone. Constructs check schedules with it, and a local run computes when they run. [Zone] is the one
// check of a time zone's name, also for functions.
package cron

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a developer's machine may have no time zones of its own
)

// Expression says when a schedule fires.
type Expression interface {
	// Next returns the first time strictly after the given one, or the zero time if there is none.
	Next(after time.Time) time.Time
}

// ErrExpression matches every error that Parse returns.
var ErrExpression = errors.New("not a schedule expression")

// Parse reads a schedule expression of EventBridge Scheduler ("Schedule types", EventBridge Scheduler user
// guide): rate(5 minutes), cron(0 10 ? * MON-FRI *) or at(2026-01-31T09:00:00). Rates count from anchor;
// cron and at are read in the location. Every error is an ErrExpression and says what is allowed.
func Parse(text string, location *time.Location, anchor time.Time) (Expression, error) {
	kind, rest, ok := strings.Cut(text, "(")
	body, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed {
		return nil, fmt.Errorf("%w: %q: write rate(…), cron(…) or at(…)", ErrExpression, text)
	}
	var expression Expression
	var err error
	switch kind {
	case "rate":
		expression, err = parseRate(body, anchor)
	case "cron":
		expression, err = parseCron(body, location)
	case "at":
		var t time.Time
		t, err = time.ParseInLocation("2006-01-02T15:04:05", body, location)
		if err != nil {
			err = fmt.Errorf("%q: write at(yyyy-mm-ddThh:mm:ss)", body)
		}
		expression = at(t)
	default:
		err = errors.New("write rate(…), cron(…) or at(…)")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrExpression, text, err)
	}
	return expression, nil
}

// ParseRule reads the schedule expression of a rule of Amazon EventBridge: a rate or a cron, in UTC. Unlike a schedule
// of EventBridge Scheduler, a rate has its unit in the singular for 1 alone ("Rate expressions reference", Amazon
// EventBridge user guide). Every error is an ErrExpression and says what is allowed.
func ParseRule(text string, anchor time.Time) (Expression, error) {
	expression, err := Parse(text, time.UTC, anchor)
	if err != nil {
		return nil, err
	}
	if _, single := expression.(at); single {
		return nil, fmt.Errorf("%w: %q: a rule has no single times: write rate(…) or cron(…)", ErrExpression, text)
	}
	if _, ok := expression.(rate); ok {
		fields := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(text, "rate("), ")"))
		value, err := strconv.Atoi(fields[0])
		if plural := strings.HasSuffix(fields[1], "s"); err != nil || plural != (value > 1) {
			return nil, fmt.Errorf("%w: %q: a rule has its unit in the singular for 1 alone: write rate(1 minute) or "+
				"rate(5 minutes)", ErrExpression, text)
		}
	}
	return expression, nil
}

type at time.Time

func (a at) Next(after time.Time) time.Time {
	if t := time.Time(a); t.After(after) {
		return t
	}
	return time.Time{}
}

type rate struct {
	period time.Duration
	anchor time.Time
}

func parseRate(body string, anchor time.Time) (Expression, error) {
	fields := strings.Fields(body)
	if len(fields) != 2 {
		return nil, errors.New("write rate(value unit), such as rate(5 minutes)")
	}
	value, err := strconv.Atoi(fields[0])
	if err != nil || value <= 0 {
		return nil, fmt.Errorf("value %q: want a positive whole number", fields[0])
	}
	unit, ok := map[string]time.Duration{
		"minute": time.Minute, "minutes": time.Minute, "hour": time.Hour, "hours": time.Hour, "day": 24 * time.Hour,
		"days": 24 * time.Hour,
	}[fields[1]]
	if !ok {
		return nil, fmt.Errorf("unit %q: want minutes, hours or days", fields[1])
	}
	if value > int(100*365*24*time.Hour/unit) {
		return nil, fmt.Errorf("value %d %s is over a hundred years", value, fields[1])
	}
	return rate{time.Duration(value) * unit, anchor}, nil
}

// Next is a whole number of periods, at least one, after the anchor.
func (r rate) Next(after time.Time) time.Time {
	if after.Before(r.anchor) {
		return r.anchor.Add(r.period)
	}
	return r.anchor.Add((after.Sub(r.anchor)/r.period + 1) * r.period)
}

// cron is AWS's six-field form ("Cron-based schedules"): minutes hours day-of-month month day-of-week year.
// Exactly one of the two day fields is "?". A time that the spring change skips is skipped; one that the
// autumn change repeats fires once.
type cron struct {
	minutes, hours, months uint64
	days                   func(year int, month time.Month, day int) bool
	years                  map[int]bool // nil is every year
	location               *time.Location
}

const (
	firstYear = 1970
	lastYear  = 2199
)

var (
	monthNames   = []string{"", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	weekdayNames = []string{"", "SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
)

func parseCron(body string, location *time.Location) (Expression, error) {
	fields := strings.Fields(body)
	if len(fields) != 6 {
		return nil, fmt.Errorf("got %d fields, want 6: minutes hours day-of-month month day-of-week year", len(fields))
	}
	c := &cron{location: location}
	var problems [6]error
	c.minutes, problems[0] = parseBits("minutes", fields[0], 0, 59, nil)
	c.hours, problems[1] = parseBits("hours", fields[1], 0, 23, nil)
	c.months, problems[3] = parseBits("month", fields[3], 1, 12, monthNames)
	if fields[5] != "*" {
		c.years = map[int]bool{}
		problems[5] = parseList("year", fields[5], firstYear, lastYear, nil, func(year int) { c.years[year] = true })
	}
	switch monthDay, weekDay := fields[2], fields[4]; {
	case (monthDay == "?") == (weekDay == "?"):
		problems[2] = errors.New(`exactly one of day-of-month and day-of-week must be "?"`)
	case weekDay == "?":
		c.days, problems[2] = parseMonthDays(monthDay)
	default:
		c.days, problems[4] = parseWeekDays(weekDay)
	}
	if err := errors.Join(problems[:]...); err != nil {
		return nil, err
	}
	return c, nil
}

func parseBits(field, text string, low, high int, names []string) (uint64, error) {
	var set uint64
	err := parseList(field, text, low, high, names, func(value int) { set |= 1 << value })
	return set, err
}

// parseList reads a comma-separated list of values, ranges and steps, calling add for each value.
func parseList(field, text string, low, high int, names []string, add func(int)) error {
	for item := range strings.SplitSeq(text, ",") {
		span, stepText, stepped := strings.Cut(item, "/")
		step := 1
		if stepped {
			var err error
			if step, err = strconv.Atoi(stepText); err != nil || step < 1 || step > high {
				return fmt.Errorf("%s %q: a step is 1 to %d", field, item, high)
			}
		}
		from, to := low, high
		if span != "*" {
			first, last, ranged := strings.Cut(span, "-")
			var err error
			if from, err = parseValue(field, first, low, high, names); err != nil {
				return err
			}
			switch {
			case ranged:
				if to, err = parseValue(field, last, low, high, names); err != nil {
					return err
				}
				if to < from {
					return fmt.Errorf("%s %q: the range ends before it begins: write two ranges", field, item)
				}
			case !stepped:
				to = from
			}
		}
		for value := from; value <= to; value += step {
			add(value)
		}
	}
	return nil
}

func parseValue(field, text string, low, high int, names []string) (int, error) {
	for value, name := range names {
		if name != "" && strings.EqualFold(name, text) {
			return value, nil
		}
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < low || value > high || text[0] == '+' {
		allowed := fmt.Sprintf("%d to %d", low, high)
		if names != nil {
			allowed += " or " + names[1] + " to " + names[len(names)-1]
		}
		return 0, fmt.Errorf("%s %q: want %s", field, text, allowed)
	}
	return value, nil
}

func parseMonthDays(text string) (func(int, time.Month, int) bool, error) {
	if text == "L" {
		return func(year int, month time.Month, day int) bool { return day == lastDay(year, month) }, nil
	}
	if text == "LW" {
		return func(year int, month time.Month, day int) bool {
			return day == nearestWeekday(year, month, lastDay(year, month))
		}, nil
	}
	if number, ok := strings.CutSuffix(text, "W"); ok {
		target, err := parseValue("day-of-month", number, 1, 31, nil)
		if err != nil {
			return nil, err
		}
		return func(year int, month time.Month, day int) bool {
			return target <= lastDay(year, month) && day == nearestWeekday(year, month, target)
		}, nil
	}
	set, err := parseBits("day-of-month", text, 1, 31, nil)
	if err != nil {
		return nil, err
	}
	return func(_ int, _ time.Month, day int) bool { return set&(1<<day) != 0 }, nil
}

func parseWeekDays(text string) (func(int, time.Month, int) bool, error) {
	if text == "L" {
		text = "7"
	}
	if name, ok := strings.CutSuffix(text, "L"); ok {
		target, err := parseValue("day-of-week", name, 1, 7, weekdayNames)
		if err != nil {
			return nil, err
		}
		return func(year int, month time.Month, day int) bool {
			return weekday(year, month, day) == target && day+7 > lastDay(year, month)
		}, nil
	}
	if name, nth, ok := strings.Cut(text, "#"); ok {
		target, err := parseValue("day-of-week", name, 1, 7, weekdayNames)
		if err != nil {
			return nil, err
		}
		n, err := parseValue("day-of-week after #", nth, 1, 5, nil)
		if err != nil {
			return nil, err
		}
		return func(year int, month time.Month, day int) bool {
			return weekday(year, month, day) == target && (day-1)/7+1 == n
		}, nil
	}
	set, err := parseBits("day-of-week", text, 1, 7, weekdayNames)
	if err != nil {
		return nil, err
	}
	return func(year int, month time.Month, day int) bool { return set&(1<<weekday(year, month, day)) != 0 }, nil
}

// weekday numbers the days as AWS does: 1 is Sunday.
func weekday(year int, month time.Month, day int) int {
	return int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Weekday()) + 1
}

func lastDay(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// nearestWeekday is the Monday-to-Friday day closest to the target within its month.
func nearestWeekday(year int, month time.Month, target int) int {
	switch weekday(year, month, target) {
	case 7:
		if target == 1 {
			return 3
		}
		return target - 1
	case 1:
		if target == lastDay(year, month) {
			return target - 2
		}
		return target + 1
	}
	return target
}

// Next looks day by day, over months and years that match.
func (c *cron) Next(after time.Time) time.Time {
	local := after.In(c.location)
	year, month, day := local.Date()
	if year < firstYear {
		year, month, day = firstYear, time.January, 1
	}
	for year <= lastYear {
		if c.years != nil && !c.years[year] {
			year, month, day = year+1, time.January, 1
			continue
		}
		if c.months&(1<<month) == 0 || day > lastDay(year, month) {
			month, day = month+1, 1
			if month > time.December {
				year, month = year+1, time.January
			}
			continue
		}
		if c.days(year, month, day) {
			if t := c.within(year, month, day, after); !t.IsZero() {
				return t
			}
		}
		day++
	}
	return time.Time{}
}

// within is the first matching time of one day that is after the given time.
func (c *cron) within(year int, month time.Month, day int, after time.Time) time.Time {
	for hours := c.hours; hours != 0; hours &= hours - 1 {
		hour := bits.TrailingZeros64(hours)
		for minutes := c.minutes; minutes != 0; minutes &= minutes - 1 {
			minute := bits.TrailingZeros64(minutes)
			t := time.Date(year, month, day, hour, minute, 0, 0, c.location)
			if t.Hour() == hour && t.Minute() == minute && t.After(after) {
				return t
			}
		}
	}
	return time.Time{}
}

// looked is how many runs Longest examines: twice the minutes of a month.
const looked = 100_000

// Longest returns the longest time between two successive runs, of the first 100,000 in the years 2025 to 2028, which
// have a leap day and changes to and from summer time. It returns 0 if the expression runs fewer than twice in these
// years, or ends within them.
func Longest(e Expression) time.Duration {
	end := time.Date(2029, 1, 1, 0, 0, 0, 0, time.UTC)
	var longest time.Duration
	last := e.Next(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
	for runs := 0; last.Before(end) && runs < looked; runs++ {
		next := e.Next(last)
		if last.IsZero() || next.IsZero() {
			return 0
		}
		longest = max(longest, next.Sub(last))
		last = next
	}
	return longest
}
