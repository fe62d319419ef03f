package askahuman

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// leaderboard is the constant key of the all-time board (seed: ByTotalPoints).
const leaderboard = "_leaderboard"

// stats is an item of the UserStats table. The keys of its boards have the number of a shard.
type stats struct {
	askahuman.Stats
	Badges         []string             `dynamodbav:"badges"`
	BadgesEarnedAt map[string]time.Time `dynamodbav:"badges_earned_at"`
	Leaderboard    string               `dynamodbav:"_leaderboard"`
	DailyBoard     string               `dynamodbav:"daily_board,omitempty"`
	WeeklyBoard    string               `dynamodbav:"weekly_board,omitempty"`
}

// newStats returns the item that replaces the version at which st was read.
func (s *Service) newStats(st askahuman.Stats) stats {
	item := stats{Stats: st, Badges: []string{}, BadgesEarnedAt: map[string]time.Time{},
		Leaderboard: s.Shards.key(leaderboard, st.PersonHash)}
	item.Version++
	if item.AnswersByCategory == nil {
		item.AnswersByCategory = map[string]int{}
	}
	if st.Day != "" {
		item.DailyBoard = s.Shards.key(st.Day, st.PersonHash)
	}
	if st.Week != "" {
		item.WeeklyBoard = s.Shards.key(st.Week, st.PersonHash)
	}
	for _, badge := range st.Badges {
		item.Badges = append(item.Badges, badge.ID)
		item.BadgesEarnedAt[badge.ID] = badge.EarnedAt
	}
	return item
}

// stats reads a person's stats. They are zero, except for the hash, if the person never answered.
func (s *Service) stats(ctx context.Context, personHash string) (askahuman.Stats, error) {
	var item stats
	if _, err := s.DB.Get(ctx, "GetUserStats", &item, personHash); err != nil {
		return askahuman.Stats{PersonHash: personHash}, err
	}
	return item.domain(personHash), nil
}

// domain returns a person's stats; the zero value is that of someone who never answered.
func (item stats) domain(personHash string) askahuman.Stats {
	st := item.Stats
	st.PersonHash = personHash
	st.Day, st.Week = unsharded(item.DailyBoard), unsharded(item.WeeklyBoard)
	for _, id := range item.Badges {
		st.Badges = append(st.Badges, askahuman.EarnedBadge{ID: id, EarnedAt: item.BadgesEarnedAt[id]})
	}
	return st
}

// board is how a period's leaderboard is read.
type board struct {
	top, key        string
	points, answers string
}

func boardOf(period askahuman.Period, day string) (board, error) {
	switch period {
	case askahuman.PeriodAllTime:
		return board{"ListTopTotal", leaderboard, "total_points", "total_answers"}, nil
	case askahuman.PeriodDaily:
		return board{"ListTopDaily", day, "daily_points", "daily_answers"}, nil
	case askahuman.PeriodWeekly:
		return board{"ListTopWeekly", day, "weekly_points", "weekly_answers"}, nil
	}
	return board{}, fmt.Errorf("unknown period %q", period)
}

// top reads the highest entries of a board, highest first. day is the UTC day or Monday as in Day and Week of
// [askahuman.Stats]; empty for all time.
func (s *Service) top(ctx context.Context, period askahuman.Period, day string, limit int) ([]askahuman.BoardEntry,
	error) {
	b, err := boardOf(period, day)
	if err != nil {
		return nil, err
	}
	var lists []list
	for _, key := range s.Shards.keys(b.key) {
		lists = append(lists, s.DB.Items(ctx, b.top,
			dynamo.Query{Values: []any{key}, PageSize: s.Shards.pageSize(limit)}))
	}
	var entries []askahuman.BoardEntry
	seen := map[string]bool{}
	for item, err := range merge(b.points, true, lists...) {
		if err != nil {
			return nil, err
		}
		var entry askahuman.BoardEntry
		for attribute, to := range map[string]any{"fingerprint_hash": &entry.PersonHash, b.points: &entry.Points,
			b.answers: &entry.Answers} {
			if err := attributevalue.Unmarshal(item[attribute], to); err != nil {
				return nil, fmt.Errorf("read leaderboard: %s: %w", attribute, err)
			}
		}
		// A person who earns points meanwhile can be in the lists twice. The higher points, which
		// are newer, come first.
		if seen[entry.PersonHash] {
			continue
		}
		seen[entry.PersonHash] = true
		if entries = append(entries, entry); len(entries) == limit {
			break
		}
	}
	return entries, nil
}
