package todo_test

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// Each row of the origin (ADR-003) has an access pattern.
func TestOrigin(t *testing.T) {
	t.Parallel()
	rows := map[string]bool{}
	for _, p := range todo.Platform().Database.AccessPatterns {
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
