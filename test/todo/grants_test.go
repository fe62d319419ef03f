package todo

import (
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// uses makes every function do its work, but for what the requests of package routes do.
func uses(t testing.TB, on *platform.Target) {
	one := newUser(t, on)
	made := platform.Post(t, one, todo.CreateTask, todo.TaskBody{Title: "a", Status: todo.Completed})
	on.Flush(t)
	// Another small object for the compactor to merge, and a change that changes no count.
	onesynthtest.Call(t, one, todo.ChangeTask, todo.TaskParams{ID: made.ID}, todo.TaskChangeBody{Title: new("b")})
	abandon(t, on)
	on.Flush(t)
	on.RunSchedule(t, "")
	// Each index has its list.
	for _, by := range []todo.Sort{"due_date", "priority", "category"} {
		onesynthtest.Call(t, one, todo.ListTasks, todo.TaskFilter{Sort: by}, schema.None{})
	}
	platform.Succeeded(t, one.Try(t, http.MethodGet, "/", nil))
}

// abandon leaves a user in the state of a deletion that died after it began: without the user's own
// item, with tasks. Only the eraser continues it.
func abandon(t testing.TB, p *platform.Target) (id string) {
	t.Helper()
	id = onesynthtest.Unique("user")
	p.Put(t, "AppData", map[string]any{"PK": "TASK#" + id, "SK": "TASK#x", "title": "left", "status": "pending"})
	p.Put(t, "AppData", map[string]any{"PK": "IDEMPOTENCY#" + id, "SK": "KEY#x"})
	p.Put(t, "AppData", map[string]any{"PK": "COUNTS#" + id, "SK": "METADATA", "pending": 1,
		"deletion": "0195c2a4-7b1e-7c3d-9a54-3f6f0d2b8e11"})
	return id
}
