package todo

import (
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// probes make every function do its work, but for what the requests of package routes do.
func probes(t testing.TB, on *onesynthtest.Target) ([]onesynthtest.Probe, func()) {
	target := &target{platform.Local(on)}
	one := newUser(t, target)
	made := one.create(t, todo.TaskBody{Title: "a", Status: todo.Completed})
	// Small objects for the compactor to merge, from two batches.
	if err := on.Flush(t); err != nil {
		t.Fatal(err)
	}
	one.create(t, todo.TaskBody{Title: "e"})
	if err := on.Flush(t); err != nil {
		t.Fatal(err)
	}
	half := target.abandon(t)

	flush := func(t testing.TB) (onesynthtest.Reply, error) {
		return onesynthtest.Reply{}, on.FlushUntilRefused(t)
	}
	compact := func(t testing.TB) (onesynthtest.Reply, error) {
		return onesynthtest.Reply{}, on.Run.RunSchedule(t.Context(), on.Schedule(t, ""))
	}
	request := func(function, method, path string, body any) onesynthtest.Probe {
		return onesynthtest.Probe{Function: function, Name: path, Do: func(t testing.TB) (onesynthtest.Reply, error) {
			return one.Send(t.Context(), method, path, nil, body)
		}}
	}
	get := func(path string) onesynthtest.Probe { return request("TodoAPI", http.MethodGet, path, nil) }
	return []onesynthtest.Probe{
			request("TaskPage", http.MethodGet, "/", nil),
			// Each index has its list, and a change of a title changes no count.
			get("/api/v1/tasks?sort=due_date"), get("/api/v1/tasks?sort=priority"), get("/api/v1/tasks?sort=category"),
			request("TodoAPI", http.MethodPatch, "/api/v1/tasks/"+made.ID, map[string]any{"title": "b"}),
			{Function: "Eraser", Name: "Erase", Do: flush},
			{Function: "LakeWriter", Name: "Write", Do: flush},
			{Function: "LakeCompactor", Name: "Compact", Do: compact},
			{Function: "LakeSchedule", Name: "Deliver", Do: compact},
		}, func() {
			// The refused work is done once it is allowed: nothing was lost.
			if err := on.Flush(t); err != nil {
				t.Error(err)
			}
			for _, item := range target.items(t) {
				if of(item) == half {
					t.Errorf("got %v of a user who is being deleted", item)
				}
			}
		}
}

// abandon leaves a user in the state of a deletion that died after it began: without the user's own
// item, with tasks. Only the eraser continues it.
func (p *target) abandon(t testing.TB) (id string) {
	t.Helper()
	id = onesynthtest.Unique("user")
	p.Put(t, "AppData", map[string]any{"PK": "TASK#" + id, "SK": "TASK#x", "title": "left", "status": "pending"})
	p.Put(t, "AppData", map[string]any{"PK": "IDEMPOTENCY#" + id, "SK": "KEY#x"})
	p.Put(t, "AppData", map[string]any{"PK": "COUNTS#" + id, "SK": "METADATA", "pending": 1,
		"deletion": "0195c2a4-7b1e-7c3d-9a54-3f6f0d2b8e11"})
	return id
}
