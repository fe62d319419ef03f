package askahuman

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/cache"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// nextShown is how many of the badges that a person may earn next their standing shows.
const nextShown = 3

// Stats reads a person's standing; zone decides when the person's days begin and
// end, nil is UTC. A person who never answered has zeros.
func (s *Service) Stats(ctx context.Context, personHash string, zone *time.Location) (askahuman.Standing, error) {
	zone = cmp.Or(zone, time.UTC)
	now := s.Clock.Now()
	top, stats, err := s.standings(ctx, personHash, askahuman.PeriodAllTime, now)
	if err != nil {
		return askahuman.Standing{}, err
	}
	_, rank := place(top, stats, askahuman.PeriodAllTime, now)
	stats.StreakDays = stats.StreakAsOf(now, zone)
	standing := askahuman.Standing{
		Handle:      askahuman.HandleOf(personHash, stats.Handle),
		TotalPoints: stats.TotalPoints, TotalAnswers: stats.TotalAnswers, StreakDays: stats.StreakDays,
		Badges: stats.EarnedBadges(), Rank: rank, AnswersByCategory: stats.AnswersByCategory,
		NextBadges: askahuman.NextBadges(stats, nextShown),
	}
	if standing.AnswersByCategory == nil {
		standing.AnswersByCategory = map[string]int{}
	}
	return standing, nil
}

// boardAge is how long an instance answers from the boards that it has read, which are the same for all.
const boardAge = 30 * time.Second

// boards are the boards that an instance has read.
type boards struct {
	once sync.Once
	kept cache.Cache[[]askahuman.BoardEntry]
	// handles are the names that the people chose who are shown of a board.
	handles cache.Cache[map[string]string]
}

// standings reads the board of the period, as far as ranks are shown and up to boardAge old, and the person's stats as
// they are now, if there is a person.
func (s *Service) standings(ctx context.Context, personHash string, period askahuman.Period,
	now time.Time) (top []askahuman.BoardEntry, stats askahuman.Stats, err error) {
	s.boards.once.Do(func() {
		// Two of each period, when a day or a week has just ended.
		s.boards.kept.Age, s.boards.kept.Max, s.boards.kept.Clock = boardAge, 6, s.Clock
		s.boards.handles.Age, s.boards.handles.Max, s.boards.handles.Clock = boardAge, 6, s.Clock
	})
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		day := period.Day(now)
		top, err = s.boards.kept.Get(ctx, string(period)+day,
			func(ctx context.Context) ([]askahuman.BoardEntry, error) {
				return s.top(ctx, period, day, askahuman.MaxRank)
			})
		return wrap(err, "read the leaderboard")
	})
	if personHash != "" {
		group.Go(func() (err error) {
			stats, err = s.stats(ctx, personHash)
			return wrap(err, "read the person's stats")
		})
	}
	err = group.Wait()
	return top, stats, err
}

// place returns the board with the person's entry as their stats have it now, and their rank: one more than the number
// of people with more points. The rank is nil for a person who has neither answers nor points in the period, and beyond
// MaxRank.
func place(top []askahuman.BoardEntry, stats askahuman.Stats, period askahuman.Period,
	now time.Time) ([]askahuman.BoardEntry, *int) {
	entry := stats.In(period, now)
	if entry.Answers == 0 && entry.Points == 0 {
		return top, nil
	}
	if !slices.Contains(top, entry) {
		top = slices.DeleteFunc(slices.Clone(top), func(e askahuman.BoardEntry) bool {
			return e.PersonHash == entry.PersonHash
		})
		top = append(top, entry)
		slices.SortStableFunc(top, func(a, b askahuman.BoardEntry) int { return cmp.Compare(b.Points, a.Points) })
	}
	rank := slices.IndexFunc(top, func(e askahuman.BoardEntry) bool { return e.Points == entry.Points }) + 1
	if rank > askahuman.MaxRank {
		return top, nil
	}
	return top, &rank
}

// Leaderboard reads the highest points of a period, at most limit and MaxBoardLimit of them. personHash empty is an
// unknown person. Entries of others may lag their last answers by half a minute.
func (s *Service) Leaderboard(ctx context.Context, personHash string, period askahuman.Period,
	limit int) (askahuman.Leaderboard, error) {
	now := s.Clock.Now()
	board := askahuman.Leaderboard{Period: period}
	top, stats, err := s.standings(ctx, personHash, period, now)
	if err != nil {
		return askahuman.Leaderboard{}, err
	}
	chosen, err := s.handles(ctx, period, now, top)
	if err != nil {
		return askahuman.Leaderboard{}, err
	}
	board.YourPoints = stats.In(period, now).Points
	top, board.YourRank = place(top, stats, period, now)
	top = top[:min(limit, askahuman.MaxBoardLimit, len(top))]
	board.Entries = make([]askahuman.LeaderboardEntry, len(top))
	for i, entry := range top {
		rank := i + 1
		if i > 0 && entry.Points == top[i-1].Points {
			rank = board.Entries[i-1].Rank
		}
		handle := chosen[entry.PersonHash]
		if entry.PersonHash == personHash {
			handle = stats.Handle
		}
		board.Entries[i] = askahuman.LeaderboardEntry{
			Handle: askahuman.HandleOf(entry.PersonHash, handle),
			Rank:   rank, Points: entry.Points, Answers: entry.Answers,
			IsCurrentUser: personHash != "" && entry.PersonHash == personHash,
		}
	}
	return board, nil
}
