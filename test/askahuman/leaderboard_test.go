package askahuman

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/onesynth-cdk/onesynth/onesynthtest"
)

// Each period's leaderboard ranks people by their points.
func TestLeaderboard(t *testing.T) {
	t.Parallel()
	avoidEndOfHour(t) // which may be the end of the day
	c := newClient(t, shared(t))
	asker := c.newAgent()
	one, other, newcomer := c.newPerson(), c.newPerson(), c.newPerson()
	for i := range 3 {
		asked := asker.ask(t, textQuestion(5))
		one.answer(t, textAnswer(asked.QuestionID))
		if i == 0 {
			other.answer(t, textAnswer(asked.QuestionID))
		}
	}
	for _, period := range []string{"daily", "weekly", "all_time", ""} {
		query := url.Values{"limit": {"100"}}
		want := "all_time"
		if period != "" {
			query.Set("period", period)
			want = period
		}
		var board leaderboard
		// An index may lag the answers by moments.
		onesynthtest.Settled(t, "both are on the "+want+" leaderboard", func() bool {
			board = one.leaderboard(t, query)
			theirs := other.leaderboard(t, query)
			return board.YourRank != nil && theirs.YourRank != nil && *board.YourRank < *theirs.YourRank
		})
		if board.Period != want || board.YourPoints != 45 {
			t.Errorf("period %q: got %+v; want period %s and 45 points", period, board, want)
		}
		own := 0
		for i, entry := range board.Entries {
			if i > 0 && (entry.Points > board.Entries[i-1].Points || entry.Rank < board.Entries[i-1].Rank) {
				t.Errorf("period %q: entry %d %+v stands below %+v", period, i, entry, board.Entries[i-1])
			}
			if entry.IsCurrentUser {
				own++
				if entry.Points != 45 || entry.Answers != 3 || entry.Rank != *board.YourRank {
					t.Errorf("period %q: got own entry %+v; want 45 points for 3 answers at rank %d", period, entry, *board.YourRank)
				}
			}
		}
		if own > 1 || own == 0 && len(board.Entries) < 100 {
			t.Errorf("period %q: got %d own entries among %d", period, own, len(board.Entries))
		}
		if board := newcomer.leaderboard(t, query); board.YourRank != nil || board.YourPoints != 0 {
			t.Errorf("period %q: got rank %v and %d points for a person without answers", period, board.YourRank, board.YourPoints)
		}
	}
	if board := one.leaderboard(t, url.Values{"limit": {"1"}}); len(board.Entries) != 1 {
		t.Errorf("got %d entries; want 1", len(board.Entries))
	}
	for query, field := range map[string]string{"period=yearly": "period", "limit=-1": "limit", "limit=0": "limit"} {
		invalid(t, one.try(t, http.MethodGet, "/human/leaderboard?"+query, nil), field)
	}
}
