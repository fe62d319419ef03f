package todo

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// To-Do passes the checks that every platform passes.
func TestShared(t *testing.T) {
	t.Parallel()
	suite.Check(t, platform.Scenario{
		Open: "/health", Walkthrough: "docs/platforms/todo.md",
		Odd: odd,
		Statuses: []int{http.StatusOK, http.StatusCreated, http.StatusBadRequest, http.StatusUnauthorized,
			http.StatusNotFound, http.StatusUnprocessableEntity},
		LargeBodies: map[string][]byte{
			"Title":   fmt.Appendf(nil, `{"title":"%s"}`, strings.Repeat("x", 1<<20-32)),
			"Number":  fmt.Appendf(nil, `{"title":%s}`, strings.Repeat("9", 200_000)),
			"Address": fmt.Appendf(nil, `{"name":"Ann","email":"%s@example.com"}`, strings.Repeat("a.", 1<<18)),
			"Tasks": fmt.Appendf(nil, `{"action":"set_status","status":"pending","task_ids":["a"%s]}`,
				strings.Repeat(`,"a"`, 50_000)),
		},
		Uses: uses,
		Repeat: func(t testing.TB, on *platform.Target) platform.Repeat {
			one := newUser(t, &target{on})
			one.Retry = []int{http.StatusServiceUnavailable}
			key := onesynthtest.Key(onesynthtest.Unique("key"))
			return platform.Repeat{
				Function: "TodoAPI",
				Send: func(ctx context.Context) (onesynthtest.Reply, error) {
					return one.Send(ctx, http.MethodPost, "/api/v1/tasks", key, todo.TaskBody{Title: "once"})
				},
				Made: func(t testing.TB) int {
					all := platform.Call(t, one, todo.ListTasks, todo.TaskFilter{}).Tasks
					if counted := platform.Call(t, one, todo.ReadStats, schema.None{}); counted.Total != len(all) {
						t.Errorf("got %d tasks, and %d counted", len(all), counted.Total)
					}
					return len(all)
				},
				Other: func(t testing.TB) {
					suite.Invalid(t, one.MustSend(t, http.MethodPost, "/api/v1/tasks", key,
						todo.TaskBody{Title: "other"}), http.StatusUnprocessableEntity, "Idempotency-Key")
				},
			}
		},
	})
}
