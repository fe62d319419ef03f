package askahuman_test

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

// TestAskAHumanIsTheOrigin compares the model with the origin (ADR-02), whose values are repeated here.
func TestAskAHumanIsTheOrigin(t *testing.T) {
	t.Parallel()
	d := askahuman.Platform().Database
	for _, want := range []struct {
		table, physical string
		key             schema.Key
		timeToLive      string
		attributes      map[string]schema.Type
		indexes         map[string]schema.Key
	}{
		{
			"Questions", "aah-questions", schema.Key{Partition: "question_id"}, "expires_at",
			map[string]schema.Type{
				"question_id": "String", "status": "String", "prompt": "String", "type": "String", "options": "List",
				"audience":           "List",
				"required_responses": "Number", "current_responses": "Number", "agent_id": "String",
				"idempotency_key": "String",
				"created_at":      "String", "expires_at": "Number", "closed_at": "String",
			},
			map[string]schema.Key{"ByStatus": {Partition: "status", Sort: "created_at"},
				"ByAgentId": {Partition: "agent_id", Sort: "created_at"}},
		},
		{
			"Responses", "aah-responses", schema.Key{Partition: "question_id", Sort: "response_id"}, "expires_at",
			map[string]schema.Type{
				"question_id": "String", "response_id": "String", "answer": "String", "selected_option": "Number",
				"confidence":       "Number",
				"fingerprint_hash": "String", "created_at": "String", "response_time_ms": "Number",
			},
			map[string]schema.Key{"ByFingerprint": {Partition: "fingerprint_hash", Sort: "created_at"}},
		},
		{
			"Subscriptions", "aah-subscriptions", schema.Key{Partition: "subscription_id"}, "",
			map[string]schema.Type{
				"subscription_id": "String", "fcm_token": "String", "min_interval_minutes": "Number",
				"last_notified_at": "String",
				"created_at":       "String", "updated_at": "String", "active": "String",
			},
			map[string]schema.Key{"ByLastNotified": {Partition: "active", Sort: "last_notified_at"}},
		},
		{
			"UserStats", "aah-user-stats", schema.Key{Partition: "fingerprint_hash"}, "",
			map[string]schema.Type{
				"fingerprint_hash": "String", "total_points": "Number", "total_answers": "Number",
				"streak_days":      "Number",
				"streak_last_date": "String", "badges": "List", "answers_by_category": "Map", "created_at": "String",
				"updated_at": "String",
			},
			map[string]schema.Key{"ByTotalPoints": {Partition: "_leaderboard", Sort: "total_points"}},
		},
	} {
		table, ok := d.Table(want.table)
		if !ok {
			t.Errorf("table %s is missing", want.table)
			continue
		}
		if got := d.Prefix + "-" + table.PhysicalName; got != want.physical {
			t.Errorf("%s: physical name: got %s, want %s", want.table, got, want.physical)
		}
		if table.Key != want.key || table.TimeToLive != want.timeToLive || !table.Capacity.OnDemand() {
			t.Errorf("%s: got key %v, time to live %q, on-demand %v", want.table, table.Key, table.TimeToLive,
				table.Capacity.OnDemand())
		}
		for name, typ := range want.attributes {
			if got, ok := table.Attribute(name); !ok || got.Type != typ {
				t.Errorf("%s.%s: got %q, want %s", want.table, name, got.Type, typ)
			}
		}
		for name, key := range want.indexes {
			if got, ok := table.Index(name); !ok || got.Key != key {
				t.Errorf("%s/%s: got %v, want %v", want.table, name, got.Key, key)
			}
		}
	}
	rows := map[string]bool{}
	for _, p := range d.AccessPatterns {
		rows[p.Origin] = true
	}
	for _, row := range []string{
		"Get question by ID", "List open questions", "Agent's questions", "Get responses for question",
		"User's recent answers",
		"Check duplicate answer", "Get eligible for notification", "Get user stats", "Leaderboard",
	} {
		if !rows[row] {
			t.Errorf("no access pattern for the origin's row %q", row)
		}
	}
}
