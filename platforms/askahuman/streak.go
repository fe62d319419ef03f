package askahuman

import (
	"strconv"
	"time"
)

// streakBonus is what reaching a streak earns: [PointsStreak3] and so on are so named.
func (r Rules) streakBonus(days int) int {
	return r.Points["streak_"+strconv.Itoa(days)]
}

// localDate is the calendar date of a moment in a person's zone.
func localDate(t time.Time, zone *time.Location) string { return t.In(zone).Format(dateFormat) }

// dayAfter returns the calendar date after a date. It counts dates, not hours: days of 23 and 25
// hours are days.
func dayAfter(date string) string {
	t, err := time.Parse(dateFormat, date)
	if err != nil {
		return ""
	}
	return t.AddDate(0, 0, 1).Format(dateFormat)
}

// streakAfter is the streak with an answer at now, and whether that answer counts a day. s is the
// state before the answer.
//
// The zone is what the person says it is, and may differ from one answer to the
// next. A day counts when it is a later date than the last one that counted, and
// when in this same zone it was an earlier date at the person's last answer: two
// answers in one hour are on one day, for any zones that they name. The
// streak goes on when that earlier date was yesterday, in the zone of either
// answer, so that a traveller who crosses the date line does not lose it.
func (s Stats) streakAfter(now time.Time, zone *time.Location) (days int, counted bool) {
	today := localDate(now, zone)
	if s.StreakLastDate == "" {
		return 1, true
	}
	last := s.lastAnswerDate(zone)
	if today <= s.StreakLastDate || today <= last {
		return s.StreakDays, false
	}
	if today == dayAfter(s.StreakLastDate) || today == dayAfter(last) {
		return s.StreakDays + 1, true
	}
	return 1, true
}

// StreakAsOf returns the streak on the day of now in the zone. It is 0 if more than a whole day has passed without an
// answer.
func (s Stats) StreakAsOf(now time.Time, zone *time.Location) int {
	today := localDate(now, zone)
	if s.StreakLastDate == "" || today > dayAfter(s.StreakLastDate) && today > dayAfter(s.lastAnswerDate(zone)) {
		return 0
	}
	return s.StreakDays
}

// lastAnswerDate returns the date in the zone of the person's last answer, which is the last update
// of the stats.
func (s Stats) lastAnswerDate(zone *time.Location) string {
	if s.UpdatedAt.IsZero() {
		return s.StreakLastDate
	}
	return localDate(s.UpdatedAt, zone)
}
