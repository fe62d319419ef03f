package todo_test

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// TestTodoIsTheOrigin holds the model against the origin (ADR-003), whose values are
// written out here once more.
func TestTodoIsTheOrigin(t *testing.T) {
	t.Parallel()
	d := todo.Platform().Database
	if len(d.Tables) != 1 {
		t.Fatalf("got %d tables, want the origin's one", len(d.Tables))
	}
	table := d.Tables[0]
	if got := d.Prefix + "-" + table.PhysicalName; got != "todo-app-data" {
		t.Errorf("physical name: got %s", got)
	}
	if want := (schema.Key{Partition: "PK", Sort: "SK"}); table.Key != want ||
		table.TimeToLive != "expiration_timestamp" || table.Stream != schema.StreamNewAndOldImages ||
		!table.Capacity.OnDemand() {
		t.Errorf("got key %v, time to live %q, stream %q, on-demand %v", table.Key, table.TimeToLive, table.Stream,
			table.Capacity.OnDemand())
	}
	for name, typ := range map[string]schema.Type{
		"email": "String", "name": "String", "created_at": "Number", "updated_at": "Number",
		"title": "String", "description": "String", "status": "String", "priority": "String", "category": "String",
		"due_date":     "String",
		"completed_at": "Number", "response_data": "String", "http_status_code": "Number",
		"expiration_timestamp": "Number",
	} {
		if got, ok := table.Attribute(name); !ok || got.Type != typ {
			t.Errorf("%s: got %q, want %s", name, got.Type, typ)
		}
	}
	if len(table.Indexes) != 4 {
		t.Errorf("got %d indexes, want the origin's four", len(table.Indexes))
	}
	for _, name := range []string{"GSI1", "GSI2", "GSI3", "GSI4"} {
		want := schema.Key{Partition: name + "PK", Sort: name + "SK"}
		if got, ok := table.Index(name); !ok || got.Key != want || got.Projection != schema.ProjectAll {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	rows := map[string]bool{}
	for _, p := range d.AccessPatterns {
		for row := range strings.SplitSeq(p.Origin, "; ") {
			rows[row] = true
		}
	}
	for _, row := range []string{
		"Fetch user by user_id", "Fetch task by task_id", "Fetch all tasks for user", "Fetch tasks by status for user",
		"Fetch tasks by specific status for user", "Fetch tasks by due date for user",
		"Fetch tasks by specific due date for user",
		"Fetch tasks by date range for user", "Pagination support", "Fetch tasks by priority for user",
		"Fetch tasks by specific priority for user", "Fetch tasks by category for user",
		"Fetch tasks by specific category for user",
		"Fetch completed tasks by user", "Fetch overdue tasks for user", "Fetch all tasks with due dates for user",
		"Task analytics: Count by status", "Task analytics: Count by priority", "Bulk update task status",
		"Bulk delete completed tasks",
		"Search tasks by title/description", "Create/Update task", "Delete task", "Idempotency check",
		"Idempotency cleanup",
	} {
		if !rows[row] {
			t.Errorf("no access pattern for the origin's row %q", row)
		}
	}
}
