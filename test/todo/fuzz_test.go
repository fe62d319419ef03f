package todo

import (
	"math/rand/v2"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// The OpenAPI document says of each route what it takes and what it answers.
func TestDocument(t *testing.T) {
	t.Parallel()
	suite.CheckAnswers(t, "Authorization: "+newUser(t, shared(t)).Header.Get("Authorization"))
}

// FuzzRequest sends what the fuzzer makes up: go test -fuzz FuzzRequest.
func FuzzRequest(f *testing.F) { suite.Fuzz(f, language) }

// language is what users usually ask. Some of them delete themselves; so there are
// several.
func language(t testing.TB, on *platform.Target) platform.Language {
	users := make([]caller, 8)
	var tasks []string
	for i := range users {
		users[i] = newUser(t, &target{on})
		for range 4 {
			tasks = append(tasks, users[i].create(t, todo.TaskBody{Title: "a", Category: "home"}).ID)
		}
	}
	next := make(chan caller, len(users))
	for _, one := range users {
		next <- one
	}
	return platform.Language{
		Headers: func() map[string]string {
			one := <-next
			next <- one
			return map[string]string{
				"Authorization": one.Header.Get("Authorization"), "Content-Type": "application/json",
				"X-Timezone":      "Europe/Berlin",
				"Idempotency-Key": onesynthtest.Unique("key"), "If-Match": "*",
			}
		},
		Queries: []string{"status", "priority", "category", "due_from", "due_to", "overdue", "q", "sort", "limit",
			"cursor"},
		QueryValues: []string{"pending", "low", "home", "2026-02-14", "true", "due_date"},
		Parameters:  map[string][]string{"task_id": tasks},
		Body: func(random *rand.Rand, route schema.Route) map[string]any {
			switch route.Path {
			case "/api/v1/users/me":
				return map[string]any{"email": onesynthtest.Unique("user") + "@example.com"}
			case "/api/v1/tasks", "/api/v1/tasks/{task_id}":
				return map[string]any{"description": "All", "status": "pending", "priority": "high", "category": "a#b",
					"due_date": "2026-02-14"}
			case "/api/v1/tasks/bulk":
				return map[string]any{"status": "in_progress", "task_ids": []any{tasks[random.IntN(len(tasks))]}}
			}
			return nil
		},
		Bodies: []string{
			`{"title":"\ud800 alone"}`, `{"title":1e400}`, `{"title":"a","title":"b"}`, `{"title":"\u0000"}`,
			`{"TITLE":"a"}`, `{"title":"a","due_date":"0000-00-00"}`,
			`{"action":"delete_completed"}`, `{"action":"set_status","status":"pending","task_ids":["a","a"]}`,
			`{"email":"a@b\r\nc","name":"x"}`,
		},
		Texts: []string{"TASK#x", "COUNTS#x", "2026-02-30", "9999-12-31", `"1"`, "completed"},
	}
}
