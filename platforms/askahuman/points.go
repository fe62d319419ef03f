package askahuman

import (
	"maps"
	"strings"
	"time"
	"unicode/utf8"
)

// longText is how many characters a text has to exceed to earn
// [PointsLongText].
const longText = 100

// pointsFor returns the points of an answer to a question on its own: without the bonus of a
// streak, and before the limit of a day. question is as it was before the answer; notifiedAt is
// when this person was notified of it, zero: never. The moment comes from the platform's own mark,
// never from the client, so the bonus cannot be forged.
func (r Rules) pointsFor(question Question, response Response, notifiedAt time.Time) int {
	points := r.Points[PointsMultipleChoice]
	if question.Type == TypeText {
		points = r.Points[PointsText]
		if response.ContentLength > longText {
			points += r.Points[PointsLongText]
		}
	}
	if response.Confidence != nil {
		points += r.Points[PointsConfidence]
	}
	if !notifiedAt.IsZero() {
		if since := response.CreatedAt.Sub(notifiedAt); since >= 0 && since <= NotificationBonusWindow {
			points += r.Points[PointsNotified]
		}
	}
	if question.UnderHalf() {
		points += r.Points[PointsEarly]
	}
	return points
}

// Award adds the points, streak and badges of an answer to the stats of the person who gave it. It returns the points
// earned, which DailyPoints limits, the new stats, and the new badges. The given stats do not change. notifiedAt is
// when the person was notified of the question; zero: never. zone is the person's time zone.
func (r Rules) Award(stats Stats, question Question, response Response, notifiedAt time.Time,
	zone *time.Location) (int, Stats, []Badge) {
	now := response.CreatedAt
	after := stats.startPeriods(now)
	after.Late = stats.lateAfter(now)

	worth := r.pointsFor(question, response, notifiedAt)
	if days, counted := after.streakAfter(now, zone); counted {
		after.StreakDays, after.StreakLastDate = days, localDate(now, zone)
		worth += r.streakBonus(days)
	}
	earned := after.earn(worth, r.DailyPoints)

	after.TotalAnswers++
	after.DailyAnswers++
	after.WeeklyAnswers++
	after.AnswersByCategory = maps.Collect(maps.All(stats.AnswersByCategory))
	after.AnswersByCategory[category(question)]++
	if isNight(now, zone) {
		after.NightAnswers++
	}
	if response.givenWithin(fastAnswer) {
		after.FastAnswers++
	}
	if response.Confidence != nil && *response.Confidence == MaxConfidence {
		after.ConfidentAnswers++
	}
	after.UpdatedAt = now
	if after.CreatedAt.IsZero() {
		after.CreatedAt = now
	}
	earnedBadges := newBadges(after, question, now)
	after.Badges = append([]string{}, stats.Badges...)
	after.BadgesEarnedAt = maps.Collect(maps.All(stats.BadgesEarnedAt))
	for _, badge := range earnedBadges {
		after.Badges = append(after.Badges, badge.ID)
		after.BadgesEarnedAt[badge.ID] = now
	}
	return earned, after, earnedBadges
}

// AwardLate adds the points of a late answer to the stats of the person who gave it, and marks it as late. It counts as
// no answer: not for a streak, and not for a badge. AwardLate returns the points earned, which DailyPoints limits, and
// the new stats. The given stats do not change.
func (r Rules) AwardLate(stats Stats, question Question, response Response, notifiedAt time.Time) (int, Stats) {
	now := response.CreatedAt
	after := stats.startPeriods(now)
	earned := after.earn(r.pointsFor(question, response, notifiedAt), r.DailyPoints)
	if after.Late = stats.lateAfter(now); after.Late == nil {
		after.Late = map[string]time.Time{}
	}
	after.Late[question.ID] = now
	// updated_at is when the person answered last, and tells days apart.
	if after.CreatedAt.IsZero() {
		after.CreatedAt, after.UpdatedAt = now, now
	}
	return earned, after
}

// earn adds points, as far as the limit of a day lets it, and returns how many these are.
func (s *Stats) earn(worth, daily int) int {
	earned := min(worth, max(0, daily-s.DailyPoints))
	s.TotalPoints += earned
	s.DailyPoints += earned
	s.WeeklyPoints += earned
	return earned
}

// keepLate is how long a late answer stays marked: longer than [LateWindow], so that a repeat is recognised.
const keepLate = 10 * time.Minute

// lateAfter returns a copy of the late answers that are still marked at now, or nil if there are none.
func (s Stats) lateAfter(now time.Time) map[string]time.Time {
	var late map[string]time.Time
	for id, at := range s.Late {
		if now.Sub(at) < keepLate {
			if late == nil {
				late = map[string]time.Time{}
			}
			late[id] = at
		}
	}
	return late
}

// startPeriods sets the day's and the week's points to zero when a new one has begun. If the clock
// is behind the last answer's, the points count in the last answer's day. Otherwise two clocks
// would let a person earn the limit of a day twice.
func (s Stats) startPeriods(now time.Time) Stats {
	if day := Day(now); day > s.Day {
		s.Day, s.DailyPoints, s.DailyAnswers = day, 0, 0
	}
	if week := Week(now); week > s.Week {
		s.Week, s.WeeklyPoints, s.WeeklyAnswers = week, 0, 0
	}
	return s
}

// In returns the person's points and answers in the period that includes now.
func (s Stats) In(period Period, now time.Time) BoardEntry {
	if period == PeriodDaily && s.Day != Day(now) || period == PeriodWeekly && s.Week != Week(now) {
		return BoardEntry{PersonHash: s.PersonHash}
	}
	return s.On(period)
}

// On returns a person's entry on the last leaderboard of a period that lists them.
func (s Stats) On(period Period) BoardEntry {
	switch period {
	case PeriodDaily:
		return BoardEntry{s.PersonHash, s.DailyPoints, s.DailyAnswers}
	case PeriodWeekly:
		return BoardEntry{s.PersonHash, s.WeeklyPoints, s.WeeklyAnswers}
	default:
		return BoardEntry{s.PersonHash, s.TotalPoints, s.TotalAnswers}
	}
}

// lengthOf is a text's length in characters without the white space around it:
// blanks earn nothing.
func lengthOf(text string) int { return utf8.RuneCountInString(strings.TrimSpace(text)) }

// Standing is a person's points, streak and badges.
type Standing struct {
	Handle            string         `json:"handle" doc:"The person's name on leaderboards." example:"Quiet Otter 482"`
	TotalPoints       int            `json:"total_points" example:"112"`
	TotalAnswers      int            `json:"total_answers" example:"9"`
	StreakDays        int            `json:"streak_days" doc:"Days in a row with an answer, up to today or yesterday. An answer counts a new day if its date is later than that of the last day that counted, and in its own time zone the person's last answer was on an earlier date. So a day may not count when the zone changes: two answers within an hour are on one day, in any zones. The row goes on if the day before was the last that counted, or that of the last answer, in the zone of the new one." example:"3"`
	Badges            []Badge        `json:"badges" nullable:"false"`
	Rank              *int           `json:"rank" doc:"Rank of all time; null for a person without points, and beyond rank 1000." example:"17"`
	AnswersByCategory map[string]int `json:"answers_by_category" doc:"A question's category is the first tag of its audience." example:"{\"technical\":7,\"general\":2}"`
	NextBadges        []NextBadge    `json:"next_badges" nullable:"false" doc:"The three badges that are nearest, the nearest first: those of which the person has a part, then by how much is left. Of badges for numbers of the same, such as days in a row, the lowest alone. Empty for a person who has all."`
}

// Leaderboard is a leaderboard as one person sees it.
type Leaderboard struct {
	Period     Period             `json:"period" enum:"daily,weekly,all_time"`
	Entries    []LeaderboardEntry `json:"entries" nullable:"false"`
	YourRank   *int               `json:"your_rank" doc:"Null for a person without points, and beyond rank 1000." example:"17"`
	YourPoints int                `json:"your_points" example:"112"`
}

// LeaderboardEntry is one person on a leaderboard.
type LeaderboardEntry struct {
	Handle        string `json:"handle" doc:"The person's name: the one that they chose, or one that is made for them. Two people can have the same." example:"Quiet Otter 482"`
	Rank          int    `json:"rank" doc:"Equal points share a rank, and the next rank counts them all: 1, 2, 2, 4." example:"1"`
	Points        int    `json:"points" example:"990"`
	Answers       int    `json:"answers" example:"80"`
	IsCurrentUser bool   `json:"is_current_user"`
}

// OperatorEntry is one person on a leaderboard, as operators see them.
type OperatorEntry struct {
	Person string `json:"person" doc:"A keyed hash, to block the person or to reset the name by."`
	Handle string `json:"handle" doc:"The person's name." example:"Quiet Otter 482"`
	Points int    `json:"points" example:"990"`
	// What operators decided about the person.
	Reset   bool `json:"name_reset,omitempty" doc:"true: an operator has taken the name, and the person cannot choose another."`
	Blocked bool `json:"blocked,omitempty" doc:"true: the person is blocked."`
	Version int  `json:"version" doc:"How many decisions about the person there were. Send it with the next one." example:"1"`
}
