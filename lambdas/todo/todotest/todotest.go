// Package todotest has what must be true of the items in To-Do's table, for tests.
package todotest

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// sortKeys say, by index, which attribute of a task its sort key is made of, and how the key begins.
var sortKeys = []struct{ index, attribute, prefix string }{
	{"GSI1", "status", "STATUS#"}, {"GSI2", "due_date", "DUEDATE#"}, {"GSI3", "priority", "PRIORITY#"},
	{"GSI4", "category", "CATEGORY#"},
}

// counted are the attributes of a user's counts.
var counted = []string{
	"pending", "in_progress", "completed", "cancelled", "low", "medium", "high", "urgent", "no_priority",
}

// Disagreements compares all items of the table with each other: the index keys of tasks with what they are of, the
// counts with a recount, addresses with users, and each item with its owner. It returns what does not agree, sorted.
// Users who are being deleted may have items that are left to erase.
func Disagreements(items []map[string]any) []string {
	o := oracle{users: map[string]map[string]any{}, counts: map[string]map[string]any{}, owners: map[string]string{},
		recounted: map[string]map[string]float64{}}
	for _, item := range items {
		o.item(item)
	}
	for user, item := range o.users {
		if o.counts[user] == nil || o.isGoing(user) {
			o.add("user %s has no counts, or is being deleted", user)
		}
		if address := strings.ToLower(text(item, "email")); o.owners[address] != user {
			o.add("%s of user %s belongs to %q", address, user, o.owners[address])
		}
	}
	if len(o.owners) != len(o.users) {
		o.add("%d addresses have an owner; there are %d users: %v", len(o.owners), len(o.users), o.owners)
	}
	for user, counts := range o.counts {
		switch {
		case o.isGoing(user):
			continue
		case o.users[user] == nil:
			o.add("counts are left of user %s", user)
		}
		for _, attribute := range counted {
			if got, want := counts[attribute], o.recounted[user][attribute]; got != want {
				o.add("user %s has %v tasks counted as %s; a recount finds %v", user, got, attribute, want)
			}
		}
	}
	for user := range o.recounted {
		if o.users[user] == nil && !o.isGoing(user) {
			o.add("tasks are left of user %s", user)
		}
	}
	slices.Sort(o.found)
	return o.found
}

// oracle is what the items seen so far say.
type oracle struct {
	// users and counts are items by user, and owners are users by address.
	users, counts map[string]map[string]any
	owners        map[string]string
	// recounted are the numbers of tasks by user and attribute of the counts.
	recounted map[string]map[string]float64
	found     []string
}

func (o *oracle) add(format string, arguments ...any) {
	o.found = append(o.found, fmt.Sprintf(format, arguments...))
}

// isGoing reports whether a user is being deleted.
func (o *oracle) isGoing(user string) bool { return text(o.counts[user], "deletion") != "" }

func (o *oracle) item(item map[string]any) {
	kind, owner, _ := strings.Cut(text(item, "PK"), "#")
	switch kind {
	case "USER":
		o.users[owner] = item
	case "EMAIL":
		o.owners[owner] = text(item, "user_id")
	case "COUNTS":
		o.counts[owner] = item
	case "IDEMPOTENCY":
		// The time to live is a day from the claim.
		created, _ := item["created_at"].(float64)
		if expiry, _ := item["expiration_timestamp"].(float64); created == 0 || expiry != created+86400 {
			o.add("a key of %s was created at %v and expires at %v, want 86,400 seconds between", owner,
				item["created_at"], item["expiration_timestamp"])
		}
	case "TASK":
		o.task(owner, item)
	default:
		o.add("an item has the key %q", text(item, "PK"))
	}
}

func (o *oracle) task(owner string, item map[string]any) {
	if o.recounted[owner] == nil {
		o.recounted[owner] = map[string]float64{}
	}
	priority := text(item, "priority")
	if priority == "" {
		priority = "no_priority"
	}
	o.recounted[owner][text(item, "status")]++
	o.recounted[owner][priority]++
	id := strings.TrimPrefix(text(item, "SK"), "TASK#")
	for _, key := range sortKeys {
		partition, sort := any(nil), any(nil)
		if value := text(item, key.attribute); value != "" {
			escaped := strings.ReplaceAll(strings.ReplaceAll(norm.NFC.String(value), "%", "%25"), "#", "%23")
			partition, sort = "OWNER#"+owner, key.prefix+escaped+"#"+id
		}
		if item[key.index+"PK"] != partition || item[key.index+"SK"] != sort {
			o.add("task %s has in %s the key %v %v, want %v %v", id, key.index, item[key.index+"PK"],
				item[key.index+"SK"], partition, sort)
		}
	}
	if _, completed := item["completed_at"]; completed != (item["status"] == "completed") {
		o.add("task %s is %s, and completed_at is there: %t", id, item["status"], completed)
	}
	for attribute, value := range item {
		if value == "" || value == nil {
			o.add("task %s has an empty %s", id, attribute)
		}
	}
}

func text(item map[string]any, attribute string) string {
	value, _ := item[attribute].(string)
	return value
}
