package askahuman

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/test/platform"
)

// The tables that the engine describes are those of the seed, and the further
// indexes that docs/DEVIATIONS.md gives the reasons for.
func TestTables(t *testing.T) {
	t.Parallel()
	suite.CheckTables(t, map[string]platform.Table{
		"Questions": {Key: "question_id", TimeToLive: "expires_at", Indexes: map[string]string{
			"ByStatus":  "status created_at ALL",
			"ByAgentId": "agent_id created_at ALL",
			"ByDue":     "due due_at KEYS_ONLY",
		}},
		"Responses": {Key: "question_id response_id", TimeToLive: "expires_at", Indexes: map[string]string{
			"ByFingerprint": "fingerprint_hash created_at INCLUDE",
		}},
		"Subscriptions": {Key: "subscription_id", Indexes: map[string]string{
			"ByLastNotified":     "active last_notified_at ALL",
			"ByNextNotification": "active next_notification_at INCLUDE",
		}},
		"UserStats": {Key: "fingerprint_hash", Numbers: []string{"total_points", "daily_points", "weekly_points"}, Indexes: map[string]string{
			"ByTotalPoints":  "_leaderboard total_points INCLUDE",
			"ByDailyPoints":  "daily_board daily_points INCLUDE",
			"ByWeeklyPoints": "weekly_board weekly_points INCLUDE",
		}},
		"Guards": {Key: "guard_key", TimeToLive: "expires_at"},
	})
}

// Expired items go, and nothing else.
func TestExpiredItemsAreDeleted(t *testing.T) {
	t.Parallel()
	suite.CheckExpiry(t)
}
