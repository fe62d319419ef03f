package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// useForPictures keeps tasks in To-Do, and returns the views of its items, of a request, and of its map.
func useForPictures(t *testing.T, runner *run.Runner) (items, trace, drawn string) {
	t.Helper()
	alice := clientOf(t, runner, "todo", "alice")
	alice.Try(t, "POST", "/api/v1/users/me", map[string]string{"email": "alice@example.com", "name": "Alice"})
	first := ""
	for n, task := range []string{"work: Write the report", "work: Review the schema",
		"work: Answer the security questionnaire", "work: Plan the release", "work: Fix the flaky test",
		"home: Water the plants", "home: Call the landlord", "home: Book the dentist", "family: Buy a present for Ann",
		"family: School trip form", "errand: Return the parcel"} {
		category, title, _ := strings.Cut(task, ": ")
		made := alice.Try(t, "POST", "/api/v1/tasks", map[string]string{
			"title": title, "category": category, "priority": []string{"medium", "low", "high"}[n%3],
			"due_date": fmt.Sprintf("2026-12-%02d", n+1),
		})
		first = cmp.Or(first, onesynthtest.Field(made.Body, "task_id"))
	}
	for _, change := range []map[string]string{{"status": "in_progress"}, {"title": "Write reports"}} {
		alice.MustSend(t, "PATCH", "/api/v1/tasks/"+first, http.Header{"If-Match": {`"1"`}}, change)
	}
	must.OK(t, runner.FlushStreams(t.Context()))
	alice.Try(t, "POST", "/api/v1/tasks", map[string]string{"title": "Send the invoices", "category": "work",
		"priority": "high"})
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
