package askahuman

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// leaderboard is the constant key of the all-time board (origin: ByTotalPoints).
const leaderboard = "_leaderboard"

// storedStats are the stats that replace the version at which st was read, as the table has them: the keys of the
// boards have the number of a shard.
func (s *Service) storedStats(st askahuman.Stats) askahuman.Stats {
	if st.Version == 0 {
		// Not from 1 on: an answer that is under way since before a person's data were deleted must not hold on the
		// version of what came after.
		st.Version = max(0, st.UpdatedAt.UnixMilli())
	}
	st.Version++
	st.Leaderboard = s.Shards.key(leaderboard, st.PersonHash)
	st.Day, st.Week = s.Shards.key(st.Day, st.PersonHash), s.Shards.key(st.Week, st.PersonHash)
	return st
}

// putStats replaces a person's stats, if they are still the version that was read.
func (s *Service) putStats(st askahuman.Stats) dynamo.Write {
	unchanged := dynamo.Absent("fingerprint_hash")
	if st.Version > 0 {
		unchanged = dynamo.Equal("version", st.Version)
	}
	return dynamo.Put("UserStats", s.storedStats(st), unchanged)
}

// unstoredStats are a person's stats by their item; without one they are zero, but for the hash.
func unstoredStats(item askahuman.Stats, personHash string) askahuman.Stats {
	item.PersonHash, item.Leaderboard = personHash, ""
	item.Day, item.Week = unsharded(item.Day), unsharded(item.Week)
	return item
}

// stats reads a person's stats. They are zero, except for the hash, if the person never answered.
func (s *Service) stats(ctx context.Context, personHash string) (askahuman.Stats, error) {
	var item askahuman.Stats
	_, err := s.DB.Get(ctx, "GetUserStats", &item, personHash)
	return unstoredStats(item, personHash), err
}

// top reads the highest entries of a board, highest first. day is the UTC day or Monday as in Day and Week of
// [askahuman.Stats]; empty for all time.
func (s *Service) top(ctx context.Context, period askahuman.Period, day string, limit int) ([]askahuman.BoardEntry,
	error) {
	pattern, key, points := "ListTopTotal", leaderboard, "total_points"
	switch period {
	case askahuman.PeriodDaily:
		pattern, key, points = "ListTopDaily", day, "daily_points"
	case askahuman.PeriodWeekly:
		pattern, key, points = "ListTopWeekly", day, "weekly_points"
	}
	var lists []list
	for _, key := range s.Shards.keys(key) {
		lists = append(lists, s.DB.Items(ctx, pattern,
			dynamo.Query{Values: []any{key}, PageSize: s.Shards.pageSize(limit)}))
	}
	var entries []askahuman.BoardEntry
	seen := map[string]bool{}
	for item, err := range merge(points, true, lists...) {
		if err != nil {
			return nil, err
		}
		var stats askahuman.Stats
		if err := attributevalue.UnmarshalMap(item, &stats); err != nil {
			return nil, fmt.Errorf("read leaderboard: %w", err)
		}
		// A person who earns points meanwhile can be in the lists twice. The higher points, which
		// are newer, come first.
		if seen[stats.PersonHash] {
			continue
		}
		seen[stats.PersonHash] = true
		if entries = append(entries, stats.On(period)); len(entries) == limit {
			break
		}
	}
	return entries, nil
}
