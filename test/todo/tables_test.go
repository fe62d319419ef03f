package todo

import (
	"strings"
	"testing"
)

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
