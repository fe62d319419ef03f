package todo

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/test/platform"
)

// The one table is the seed's.
func TestTables(t *testing.T) {
	t.Parallel()
	suite.CheckTables(t, map[string]platform.Table{
		"AppData": {Key: "PK SK", TimeToLive: "expiration_timestamp", Stream: "NEW_AND_OLD_IMAGES", Indexes: map[string]string{
			"GSI1": "GSI1PK GSI1SK ALL",
			"GSI2": "GSI2PK GSI2SK ALL",
			"GSI3": "GSI3PK GSI3SK ALL",
			"GSI4": "GSI4PK GSI4SK ALL",
		}},
	})
}

// Expired items go, and nothing else.
func TestExpiredItemsAreDeleted(t *testing.T) {
	t.Parallel()
	suite.CheckExpiry(t)
}

// items reads the whole table.
func (p *target) items(t testing.TB) []map[string]any {
	t.Helper()
	return p.Items(t, "AppData")
}

// prefixOf says what an item is: the beginning of its partition key.
func prefixOf(item map[string]any) string {
	prefix, _, _ := strings.Cut(item["PK"].(string), "#")
	return prefix
}

// of is whose an item is: the end of its partition key; of an address its owner.
func of(item map[string]any) string {
	if prefixOf(item) == "EMAIL" {
		return item["user_id"].(string)
	}
	_, user, _ := strings.Cut(item["PK"].(string), "#")
	return user
}
