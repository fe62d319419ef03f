package todo

import (
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// probes make every function do its work.
func probes(t testing.TB, on *onesynthtest.Target) ([]onesynthtest.Probe, func()) {
	target := &target{platform.Local(on)}
	one, leaving := newUser(t, target), newUser(t, target)
	made := one.create(t, input{"title": "a", "status": "completed"})
	changed, deleted := one.create(t, input{"title": "b"}), one.create(t, input{"title": "c"})
	leaving.create(t, input{"title": "d"})
	// Small objects for the compactor to merge, from two batches.
	if err := on.Flush(t); err != nil {
		t.Fatal(err)
	}
	one.create(t, input{"title": "e"})
	if err := on.Flush(t); err != nil {
		t.Fatal(err)
	}
	half := target.abandon(t)

	request := func(name, method, path string, body any) onesynthtest.Probe {
		return onesynthtest.Probe{Function: "TodoAPI", Name: name, Do: func(t testing.TB) (onesynthtest.Reply, error) {
			return one.Send(t.Context(), method, path, nil, body)
		}}
	}
	list := func(query string) onesynthtest.Probe {
		return request("List"+query, http.MethodGet, "/api/v1/tasks?"+query, nil)
	}
	flush := func(t testing.TB) (onesynthtest.Reply, error) {
		return onesynthtest.Reply{}, on.FlushUntilRefused(t)
	}
	compact := func(t testing.TB) (onesynthtest.Reply, error) {
		return onesynthtest.Reply{}, on.Run.RunSchedule(t.Context(), on.Schedule(t, ""))
	}
	page := func(t testing.TB) (onesynthtest.Reply, error) {
		return one.Send(t.Context(), http.MethodGet, "/", nil, nil)
	}
	return []onesynthtest.Probe{
			{Function: "TaskPage", Name: "Page", Do: page},
			request("Create", http.MethodPost, "/api/v1/tasks", input{"title": "f", "priority": "low"}),
			request("Read", http.MethodGet, made.path(), nil),
			request("Replace", http.MethodPut, changed.path(), input{"title": "g"}),
			request("Change", http.MethodPatch, changed.path(), input{"title": "h"}),
			request("Delete", http.MethodDelete, deleted.path(), nil),
			request("Stats", http.MethodGet, "/api/v1/tasks/stats", nil),
			request("SetStatus", http.MethodPost, "/api/v1/tasks/bulk",
				input{"action": "set_status", "task_ids": []string{changed.TaskID}, "status": "in_progress"}),
			request("DeleteCompleted", http.MethodPost, "/api/v1/tasks/bulk", input{"action": "delete_completed"}),
			list(""), list("q=a"), list("status=pending"), list("sort=due_date"), list("due_from=2026-01-01"),
			list("overdue=true"),
			list("sort=priority"), list("priority=low"), list("sort=category"), list("category=home"),
			request("ReadUser", http.MethodGet, "/api/v1/users/me", nil),
			request("ChangeUser", http.MethodPut, "/api/v1/users/me",
				profile{onesynthtest.Unique("new") + "@example.com", "Bea"}),
			{Function: "TodoAPI", Name: "DeleteUser", Do: func(t testing.TB) (onesynthtest.Reply, error) {
				return leaving.Send(t.Context(), http.MethodDelete, "/api/v1/users/me", nil, nil)
			}},
			request("Document", http.MethodGet, "/api/v1/openapi.json", nil),
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
