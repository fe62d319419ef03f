package todo

import "strings"

// prefixOf returns the kind of an item: the beginning of its partition key.
func prefixOf(item map[string]any) string {
	prefix, _, _ := strings.Cut(item["PK"].(string), "#")
	return prefix
}

// of returns the owner of an item: the end of its partition key, or the owner of an address.
func of(item map[string]any) string {
	if prefixOf(item) == "EMAIL" {
		return item["user_id"].(string)
	}
	_, user, _ := strings.Cut(item["PK"].(string), "#")
	return user
}
