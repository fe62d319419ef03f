package console

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// useForPictures keeps tasks in To-Do, and returns the views of its items, of a request, and of its map.
func useForPictures(t *testing.T, runner *run.Runner) (items, trace, drawn string) {
	t.Helper()
	alice := clientOf(t, runner, "todo", "alice")
	alice.send("POST", "/api/v1/users/me", map[string]string{"email": "alice@example.com", "name": "Alice"},
		"Idempotency-Key", "sign-up")
	titles := map[string][]string{
		"work": {"Write the report", "Review the schema", "Answer the security questionnaire", "Plan the release",
			"Fix the flaky test"},
		"home":   {"Water the plants", "Call the landlord", "Book the dentist"},
		"family": {"Buy a present for Ann", "School trip form"},
		"errand": {"Return the parcel"},
	}
	n := 0
	first := ""
	for _, category := range []string{"work", "home", "family", "errand"} {
		for _, title := range titles[category] {
			n++
			made := alice.send("POST", "/api/v1/tasks", map[string]string{
				"title": title, "category": category, "priority": []string{"high", "medium", "low"}[n%3],
				"due_date": fmt.Sprintf("2026-12-%02d", n),
			}, "Idempotency-Key", fmt.Sprint("task-", n))
			if first == "" {
				first, _ = made["task_id"].(string)
			}
		}
	}
	alice.send("PATCH", "/api/v1/tasks/"+first, map[string]string{"status": "in_progress"}, "Idempotency-Key", "begin",
		"If-Match", `"1"`)
	alice.send("PATCH", "/api/v1/tasks/"+first, map[string]string{"title": "Write reports"}, "Idempotency-Key",
		"rename", "If-Match", `"1"`)
	must.OK(t, runner.FlushStreams(t.Context()))
	alice.send("POST", "/api/v1/tasks", map[string]string{"title": "Send the invoices", "category": "work",
		"priority": "high"}, "Idempotency-Key", "invoices")
	trace = "#/requests/" + newest(runner, "/api/v1/tasks").ID
	tables := must.Get(runtest.Of(runner).Tables(t.Context()))(t)
	for _, table := range tables {
		if strings.Contains(table.Stack, "todo") {
			items = "#/tables/" + url.PathEscape(table.Name) + "?stack=" + url.QueryEscape(table.Stack) +
				"&partition=" + url.QueryEscape("TASK#alice")
			drawn = "#/map?stack=" + url.QueryEscape(table.Stack)
		}
	}
	return items, trace, drawn
}
