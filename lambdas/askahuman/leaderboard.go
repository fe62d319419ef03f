package askahuman

import (
	"context"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"golang.org/x/sync/errgroup"
)

// Standing is a person's points, streak and badges.
type Standing struct {
	TotalPoints       int            `json:"total_points" example:"112"`
	TotalAnswers      int            `json:"total_answers" example:"9"`
	StreakDays        int            `json:"streak_days" doc:"Days in a row with an answer, up to today or yesterday. An answer counts a new day if its date is later than that of the last day that counted, and in its own time zone the person's last answer was on an earlier date. So a day may not count when the zone changes: two answers within an hour are on one day, in any zones. The row goes on if the day before was the last that counted, or that of the last answer, in the zone of the new one." example:"3"`
	Badges            []Badge        `json:"badges" nullable:"false"`
	Rank              *int           `json:"rank" doc:"Rank of all time; null for a person without points, and beyond rank 1000." example:"17"`
	AnswersByCategory map[string]int `json:"answers_by_category" doc:"A question's category is the first tag of its audience." example:"{\"technical\":7,\"general\":2}"`
}

// Stats reads a person's standing; zone decides when the person's days begin and
// end, nil is UTC. A person who never answered has zeros.
func (p *People) Stats(ctx context.Context, personHash string, zone *time.Location) (Standing, error) {
	if zone == nil {
		zone = time.UTC
	}
	if personHash == "" {
		return Standing{}, validate.Errorf("X-Fingerprint", validate.RuleRequired, "is missing; send the device's fingerprint in this header to read your own stats")
	}
	stats, err := p.Store.Stats(ctx, personHash)
	if err != nil {
		return Standing{}, wrap(err, "read the person's stats")
	}
	now := clock(p.Now)
	rank, err := p.rank(ctx, PeriodAllTime, stats, now)
	if err != nil {
		return Standing{}, err
	}
	standing := Standing{
		TotalPoints: stats.TotalPoints, TotalAnswers: stats.TotalAnswers, StreakDays: stats.streakAsOf(now, zone),
		Badges: withNames(stats.Badges), Rank: rank, AnswersByCategory: stats.AnswersByCategory,
	}
	if standing.AnswersByCategory == nil {
		standing.AnswersByCategory = map[string]int{}
	}
	return standing, nil
}

// rank is one more than the number of people with more points; nil: the person has
// not answered in the period, or the rank is beyond MaxRank.
func (p *People) rank(ctx context.Context, period Period, stats Stats, now time.Time) (*int, error) {
	own := stats.in(period, now)
	if own.Answers == 0 {
		return nil, nil
	}
	above, err := p.Store.CountAbove(ctx, period, period.Day(now), own.Points)
	if err != nil {
		return nil, wrap(err, "count the people with more points")
	}
	if above >= MaxRank {
		return nil, nil
	}
	return new(above + 1), nil
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
	Rank          int  `json:"rank" doc:"Equal points share a rank, and the next rank counts them all: 1, 2, 2, 4." example:"1"`
	Points        int  `json:"points" example:"990"`
	Answers       int  `json:"answers" example:"80"`
	IsCurrentUser bool `json:"is_current_user"`
}

// Leaderboard reads the highest points of a period; empty is PeriodAllTime. limit
// is 1 or more; a board has at most MaxBoardLimit; 0 is DefaultBoardLimit. personHash
// empty is an unknown person. It returns an [*validate.Error]. Entries may lag the last answers by
// moments.
func (p *People) Leaderboard(ctx context.Context, personHash string, period Period, limit int) (Leaderboard, error) {
	if period == "" {
		period = PeriodAllTime
	}
	var invalid problems
	if !slices.Contains([]Period{PeriodDaily, PeriodWeekly, PeriodAllTime}, period) {
		validate.OneOf(&invalid.Problems, "period", period, []Period{PeriodDaily, PeriodWeekly, PeriodAllTime})
	}
	limit = invalid.limit(limit, DefaultBoardLimit, MaxBoardLimit)
	if err := invalid.Err(); err != nil {
		return Leaderboard{}, err
	}
	now := clock(p.Now)
	board := Leaderboard{Period: period}
	var top []BoardEntry
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		top, err = p.Store.Top(ctx, period, period.Day(now), limit)
		return wrap(err, "read the leaderboard")
	})
	if personHash != "" {
		group.Go(func() error {
			stats, err := p.Store.Stats(ctx, personHash)
			if err != nil {
				return wrap(err, "read the person's stats")
			}
			board.YourPoints = stats.in(period, now).Points
			board.YourRank, err = p.rank(ctx, period, stats, now)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Leaderboard{}, err
	}
	board.Entries = make([]LeaderboardEntry, len(top))
	for i, entry := range top {
		rank := i + 1
		if i > 0 && entry.Points == top[i-1].Points {
			rank = board.Entries[i-1].Rank
		}
		board.Entries[i] = LeaderboardEntry{
			Rank: rank, Points: entry.Points, Answers: entry.Answers, IsCurrentUser: personHash != "" && entry.PersonHash == personHash,
		}
	}
	return board, nil
}
