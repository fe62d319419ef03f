package todo

import (
	"context"
	"net/http"
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
		Walkthrough: "docs/platforms/todo.md",
		Statuses: []int{http.StatusOK, http.StatusCreated, http.StatusBadRequest, http.StatusUnauthorized,
			http.StatusNotFound, http.StatusUnprocessableEntity},
		Uses: uses,
		Repeat: func(t testing.TB, on *platform.Target) platform.Repeat {
			one := newUser(t, on)
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

// Each route takes and answers what the OpenAPI document says.
func TestDocument(t *testing.T) {
	t.Parallel()
	suite.CheckAnswers(t, "Authorization: "+newUser(t, suite.Shared(t)).Header.Get("Authorization"))
}
