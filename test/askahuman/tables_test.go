package askahuman

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The tables that the engine describes are those of the seed, and the further
// indexes that docs/DEVIATIONS.md gives the reasons for.
func TestTables(t *testing.T) {
	t.Parallel()
	target := shared(t)
	type table struct {
		key        string
		timeToLive string
		indexes    map[string]string
	}
	for name, want := range map[string]table{
		"Questions": {"question_id", "expires_at", map[string]string{
			"ByStatus":  "status created_at ALL",
			"ByAgentId": "agent_id created_at ALL",
			"ByDue":     "due due_at KEYS_ONLY",
		}},
		"Responses": {"question_id response_id", "expires_at", map[string]string{
			"ByFingerprint": "fingerprint_hash created_at INCLUDE",
		}},
		"Subscriptions": {"subscription_id", "", map[string]string{
			"ByLastNotified":     "active last_notified_at ALL",
			"ByNextNotification": "active next_notification_at INCLUDE",
		}},
		"UserStats": {"fingerprint_hash", "", map[string]string{
			"ByTotalPoints":  "_leaderboard total_points INCLUDE",
			"ByDailyPoints":  "daily_board daily_points INCLUDE",
			"ByWeeklyPoints": "weekly_board weekly_points INCLUDE",
		}},
		"Guards": {"guard_key", "expires_at", nil},
	} {
		t.Run(name, func(t *testing.T) {
			described, err := target.Database.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(target.Tables[name])})
			if err != nil {
				t.Fatal(err)
			}
			got := described.Table
			if key := keyOf(got.KeySchema); key != want.key {
				t.Errorf("got key %q; want %q", key, want.key)
			}
			if got.BillingModeSummary == nil || got.BillingModeSummary.BillingMode != types.BillingModePayPerRequest {
				t.Errorf("got billing %+v; want on demand", got.BillingModeSummary)
			}
			if len(got.GlobalSecondaryIndexes) != len(want.indexes) {
				t.Errorf("got %d indexes; want %d", len(got.GlobalSecondaryIndexes), len(want.indexes))
			}
			for _, index := range got.GlobalSecondaryIndexes {
				description := fmt.Sprint(keyOf(index.KeySchema), " ", index.Projection.ProjectionType)
				if description != want.indexes[*index.IndexName] {
					t.Errorf("index %s: got %q; want %q", *index.IndexName, description, want.indexes[*index.IndexName])
				}
				if index.IndexStatus != types.IndexStatusActive {
					t.Errorf("index %s: got %s; want ACTIVE", *index.IndexName, index.IndexStatus)
				}
			}
			for _, attribute := range got.AttributeDefinitions {
				wantType := types.ScalarAttributeTypeS
				if slices.Contains([]string{"total_points", "daily_points", "weekly_points"}, *attribute.AttributeName) {
					wantType = types.ScalarAttributeTypeN
				}
				if attribute.AttributeType != wantType {
					t.Errorf("attribute %s: got type %s; want %s", *attribute.AttributeName, attribute.AttributeType, wantType)
				}
			}
			if got := target.TimeToLive(t, name); got != want.timeToLive {
				t.Errorf("got TTL attribute %q; want %q", got, want.timeToLive)
			}
		})
	}
}

func keyOf(schema []types.KeySchemaElement) string {
	key := *schema[0].AttributeName
	if len(schema) > 1 {
		key += " " + *schema[1].AttributeName
	}
	return key
}

// Expired items go, and nothing else.
func TestExpiredItemsAreDeleted(t *testing.T) {
	t.Parallel()
	target := shared(t)
	target.LocalOnly(t, "DynamoDB deletes expired items within days")
	c := newClient(t, target)
	asker := c.newAgent()
	keep, drop := asker.ask(t, textQuestion(2)), asker.ask(t, textQuestion(2))
	c.newPerson().answer(t, textAnswer(keep.QuestionID))
	target.Set(t, "Questions", "question_id", drop.QuestionID, map[string]any{"expires_at": time.Now().Add(-time.Minute).Unix()})
	if _, err := target.Run.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if item := target.Item(t, "Questions", "question_id", drop.QuestionID); item != nil {
		t.Errorf("got %v; want the expired item gone", item)
	}
	if got := asker.question(t, keep.QuestionID); got.Status != "PARTIAL" || len(got.Responses) != 1 {
		t.Errorf("got %+v; want what has not expired unchanged", got)
	}
}
