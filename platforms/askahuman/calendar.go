package askahuman

import "time"

// dateFormat is the stored form of dates, in which they sort as text.
const dateFormat = time.DateOnly

// Day returns the UTC day of a moment, YYYY-MM-DD: the key of a daily leaderboard.
func Day(t time.Time) string { return t.UTC().Format(dateFormat) }

// Week returns the Monday of a moment's UTC week, YYYY-MM-DD: the key of a weekly leaderboard.
func Week(t time.Time) string {
	t = t.UTC()
	sinceMonday := (int(t.Weekday()) + 6) % 7
	return t.AddDate(0, 0, -sinceMonday).Format(dateFormat)
}

// Day returns the key of the period's leaderboard at a moment. It is "" for [PeriodAllTime].
func (p Period) Day(t time.Time) string {
	switch p {
	case PeriodDaily:
		return Day(t)
	case PeriodWeekly:
		return Week(t)
	}
	return ""
}
