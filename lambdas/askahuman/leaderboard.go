package askahuman

import (
	"context"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"golang.org/x/sync/errgroup"
)

// Standing is a person's points, streak, rank and badges.
type Standing struct {
	Stats
	// StreakDays is the streak as of today: 0 when it is broken.
	StreakDays int
	// Rank is the all-time rank; 0: none, or beyond [MaxRank].
	Rank int
	// Badges are the earned badges with their names.
	Badges []Badge
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
		return Standing{}, because(err, "read the person's stats")
	}
	now := clock(p.Now)
	rank, err := p.rank(ctx, PeriodAllTime, stats, now)
	if err != nil {
		return Standing{}, err
	}
	return Standing{
		Stats:      stats,
		StreakDays: stats.streakAsOf(now, zone),
		Rank:       rank,
		Badges:     withNames(stats.Badges),
	}, nil
}

// rank is one more than the number of people with more points; 0: the person has
// not answered in the period, or the rank is beyond MaxRank.
func (p *People) rank(ctx context.Context, period Period, stats Stats, now time.Time) (int, error) {
	own := stats.in(period, now)
	if own.Answers == 0 {
		return 0, nil
	}
	above, err := p.Store.CountAbove(ctx, period, period.Day(now), own.Points)
	if err != nil {
		return 0, because(err, "count the people with more points")
	}
	if above >= MaxRank {
		return 0, nil
	}
	return above + 1, nil
}

// RankedEntry is one line of a leaderboard.
type RankedEntry struct {
	// Rank is 1 for the most points. People with equal points share a rank, and the next
	// rank counts them all: 1, 2, 2, 4.
	Rank int
	BoardEntry
	// IsCurrentUser says that this is the caller.
	IsCurrentUser bool
}

// Board is a leaderboard as one person sees it.
type Board struct {
	Period  Period
	Entries []RankedEntry
	// YourRank and YourPoints are the person's own in the period; the rank is 0
	// when there is none or it is beyond [MaxRank].
	YourRank, YourPoints int
}

// Leaderboard reads the highest points of a period; empty is PeriodAllTime. limit
// is 1 or more; a board has at most MaxBoardLimit; 0 is DefaultBoardLimit. personHash
// empty is an unknown person. It returns an [*validate.Error]. Entries may lag the last answers by
// moments.
func (p *People) Leaderboard(ctx context.Context, personHash string, period Period, limit int) (Board, error) {
	if period == "" {
		period = PeriodAllTime
	}
	var invalid problems
	if !slices.Contains([]Period{PeriodDaily, PeriodWeekly, PeriodAllTime}, period) {
		validate.OneOf(&invalid.Problems, "period", period, []Period{PeriodDaily, PeriodWeekly, PeriodAllTime})
	}
	limit = invalid.limit(limit, DefaultBoardLimit, MaxBoardLimit)
	if err := invalid.Err(); err != nil {
		return Board{}, err
	}
	now := clock(p.Now)
	board := Board{Period: period}
	var top []BoardEntry
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		top, err = p.Store.Top(ctx, period, period.Day(now), limit)
		return because(err, "read the leaderboard")
	})
	if personHash != "" {
		group.Go(func() error {
			stats, err := p.Store.Stats(ctx, personHash)
			if err != nil {
				return because(err, "read the person's stats")
			}
			board.YourPoints = stats.in(period, now).Points
			board.YourRank, err = p.rank(ctx, period, stats, now)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Board{}, err
	}
	board.Entries = make([]RankedEntry, len(top))
	for i, entry := range top {
		rank := i + 1
		if i > 0 && entry.Points == top[i-1].Points {
			rank = board.Entries[i-1].Rank
		}
		board.Entries[i] = RankedEntry{
			Rank:          rank,
			BoardEntry:    entry,
			IsCurrentUser: personHash != "" && entry.PersonHash == personHash,
		}
	}
	return board, nil
}
