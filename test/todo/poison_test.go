package todo

import (
	"maps"
	"testing"
	"time"
)

// poisoner owns items that are written directly into the table; some cannot be rows.
const poisoner = "poisoner"

// refusedEvents must be in the failure queue: task and event, and what the cause says.
var refusedEvents = map[string]string{
	"repaired INSERT": "due_date", "removed INSERT": "title", "spoilt MODIFY": "created_at",
	"turned MODIFY": "version", "kept INSERT": "completed_at",
}

// poison writes the items, one after the other, and deletes those without attributes.
func poison(t *testing.T, to *lake) {
	t.Helper()
	for _, write := range []struct {
		id         string
		attributes map[string]any
	}{
		{"repaired", map[string]any{"due_date": "soon"}},
		{"removed", map[string]any{"title": 5}},
		{"turned", map[string]any{}},
		{"kept", map[string]any{"completed_at": "yesterday"}},
		{"turned", map[string]any{"version": 1.5}},
		{"repaired", map[string]any{"due_date": "2026-01-02", "version": 2}},
		{"removed", nil},
		{"spoilt", map[string]any{}},
		{"spoilt", map[string]any{"created_at": "yesterday"}},
		{"spoilt", nil},
		{"turned", map[string]any{"version": 3}},
	} {
		if write.attributes == nil {
			to.Delete(t, "AppData", "PK", "TASK#"+poisoner, "SK", "TASK#"+write.id)
		} else {
			item := map[string]any{"PK": "TASK#" + poisoner, "SK": "TASK#" + write.id, "title": "by hand",
				"status": "pending", "created_at": 1767225600, "updated_at": 1767225600, "version": 1}
			maps.Copy(item, write.attributes)
			to.Put(t, "AppData", item)
		}
		<-time.After(200 * time.Millisecond)
	}
}
