package askahuman_test

import (
	"strings"
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
		attributes      map[schema.Type]string
		indexes         map[string]schema.Key
	}{
		{
			"Questions", "aah-questions", schema.Key{Partition: "question_id"}, "expires_at",
			map[schema.Type]string{
				"String": "question_id status prompt type agent_id idempotency_key created_at closed_at",
				"List":   "options audience", "Number": "required_responses current_responses expires_at",
			},
			map[string]schema.Key{"ByStatus": {Partition: "status", Sort: "created_at"},
				"ByAgentId": {Partition: "agent_id", Sort: "created_at"}},
		},
		{
			"Responses", "aah-responses", schema.Key{Partition: "question_id", Sort: "response_id"}, "expires_at",
			map[schema.Type]string{
				"String": "question_id response_id answer fingerprint_hash created_at",
				"Number": "selected_option confidence response_time_ms",
			},
			map[string]schema.Key{"ByFingerprint": {Partition: "fingerprint_hash", Sort: "created_at"}},
		},
		{
			"Subscriptions", "aah-subscriptions", schema.Key{Partition: "subscription_id"}, "",
			map[schema.Type]string{
				"String": "subscription_id fcm_token last_notified_at created_at updated_at active",
				"Number": "min_interval_minutes",
			},
			map[string]schema.Key{"ByLastNotified": {Partition: "active", Sort: "last_notified_at"}},
		},
		{
			"UserStats", "aah-user-stats", schema.Key{Partition: "fingerprint_hash"}, "",
			map[schema.Type]string{
				"String": "fingerprint_hash streak_last_date created_at updated_at",
				"Number": "total_points total_answers streak_days", "List": "badges", "Map": "answers_by_category",
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
		for typ, names := range want.attributes {
			for name := range strings.FieldsSeq(names) {
				if got, ok := table.Attribute(name); !ok || got.Type != typ {
					t.Errorf("%s.%s: got %q, want %s", want.table, name, got.Type, typ)
				}
			}
		}
		for name, key := range want.indexes {
			if got, ok := table.Index(name); !ok || got.Key != key {
				t.Errorf("%s/%s: got %v, want %v", want.table, name, got.Key, key)
			}
		}
	}
}

// The contract is valid with the parts that props add, and without those that they leave out.
func TestPlatform(t *testing.T) {
	t.Parallel()
	for name, parts := range map[string]askahuman.Parts{
		"Default": {}, "Whole": {AgentKeys: true, ShareOptions: true, OperatorPage: true},
		"Least": {WithoutMCP: true, WithoutModeration: true, WithoutWaiting: true, WithoutWebhooks: true,
			WithoutPage: true},
	} {
		if err := askahuman.With(parts).Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
