package todo

import (
	"maps"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
)

// poisoner writes items directly into the table; some cannot be rows.
type poisoner struct {
	user string
	// refused are the events that must be in the failure queue: task and event, and what
	// the cause says.
	refused map[string]string
}

func newPoisoner() *poisoner {
	return &poisoner{onesynthtest.Unique("poisoner"), map[string]string{
		"repaired INSERT": "due_date", "removed INSERT": "title", "spoilt MODIFY": "created_at",
		"turned MODIFY": "version", "kept INSERT": "completed_at",
	}}
}

// work writes the items, one after the other, and deletes those without attributes.
func (p *poisoner) work(t *testing.T, to *lake) {
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
			to.Delete(t, "AppData", "PK", "TASK#"+p.user, "SK", "TASK#"+write.id)
		} else {
			item := map[string]any{"PK": "TASK#" + p.user, "SK": "TASK#" + write.id, "title": "by hand",
				"status": "pending", "created_at": 1767225600, "updated_at": 1767225600, "version": 1}
			maps.Copy(item, write.attributes)
			to.Put(t, "AppData", item)
		}
		<-time.After(200 * time.Millisecond)
	}
}
