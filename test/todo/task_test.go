package todo

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// A user signs up, keeps a task until it is done, reads it in every way, and leaves.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one := newCaller(t, on)
	refused(t, one.Try(t, http.MethodPost, "/api/v1/tasks", input{"title": "Too early"}), http.StatusNotFound)
	refused(t, one.Try(t, http.MethodGet, "/api/v1/users/me", nil), http.StatusNotFound)
	if got := one.list(t, nil); len(got.Tasks) != 0 || got.Tasks == nil || got.NextCursor != nil {
		t.Errorf("got %+v; want an empty list", got)
	}
	if got := one.stats(t); got.Total != 0 {
		t.Errorf("got %+v; want no tasks", got)
	}

	created := one.Try(t, http.MethodPost, "/api/v1/users/me", profile{one.Email, "Ann"})
	me := read[user](t, created, http.StatusCreated)
	if me.Email != one.Email || me.Name != "Ann" || on.Run != nil && me.UserID != one.ID ||
		created.Header.Get("Location") != "/api/v1/users/me" {
		t.Errorf("got %v; want the user as given", created)
	}
	refused(t, one.Try(t, http.MethodPost, "/api/v1/users/me", profile{one.Email, "Ann"}), http.StatusConflict)

	given := input{"title": "Water the plants", "description": "All but the cactus 🌵.", "priority": "high",
		"category": "home#50%", "due_date": "2026-02-14"}
	answered := one.Try(t, http.MethodPost, "/api/v1/tasks", given)
	made := read[task](t, answered, http.StatusCreated)
	if made.Title != "Water the plants" || text(made.Description) != "All but the cactus 🌵." ||
		made.Status != "pending" || text(made.Priority) != "high" ||
		text(made.Category) != "home#50%" || text(made.DueDate) != "2026-02-14" || made.CompletedAt != nil ||
		made.Version != 1 || made.CreatedAt != made.UpdatedAt {
		t.Errorf("got %v; want the task as given", answered)
	}
	if answered.Header.Get("Location") != made.path() || answered.Header.Get("ETag") != `"1"` {
		t.Errorf("got headers %v; want location and ETag", answered.Header)
	}
	if got := one.task(t, made.TaskID); !same(got, made) {
		t.Errorf("got %+v; want %+v", got, made)
	}

	done := one.change(t, made.TaskID, input{"status": "completed"})
	if done.Status != "completed" || done.CompletedAt == nil || done.Version != 2 || done.Title != made.Title ||
		text(done.DueDate) != "2026-02-14" {
		t.Errorf("got %+v; want the task completed and otherwise as it was", done)
	}
	for _, status := range []string{"pending", "in_progress", "cancelled"} {
		refused(t, one.Try(t, http.MethodPatch, made.path(), input{"status": status}), http.StatusBadRequest)
	}
	again := one.change(t, made.TaskID, input{"status": "completed"})
	if text(again.CompletedAt) != text(done.CompletedAt) {
		t.Errorf("got %+v; want completed_at as it was", again)
	}

	// Each field can be cleared, by null, by "" and by replacing.
	for _, nothing := range []any{nil, ""} {
		other := one.create(t, given)
		cleared := one.change(t, other.TaskID, input{"description": nothing, "priority": nothing, "category": nothing,
			"due_date": nothing})
		if cleared.Description != nil || cleared.Priority != nil || cleared.Category != nil || cleared.DueDate != nil ||
			cleared.Title != other.Title {
			t.Errorf("got %+v; want four fields cleared", cleared)
		}
		for _, sort := range []string{"due_date", "priority", "category"} {
			on.indexed(t, "the task has left the index", func() bool {
				return !has(one.all(t, url.Values{"sort": {sort}}), other.TaskID)
			})
		}
	}
	other := one.create(t, given)
	one.change(t, other.TaskID, input{"status": "in_progress"})
	replaced := read[task](t, one.Try(t, http.MethodPut, other.path(), input{"title": "Another"}), http.StatusOK)
	if replaced.Title != "Another" || replaced.Description != nil || replaced.DueDate != nil ||
		replaced.Status != "in_progress" || replaced.Version != 3 || replaced.CreatedAt != other.CreatedAt {
		t.Errorf("got %+v; want everything but the status replaced", replaced)
	}

	got := one.stats(t)
	if want := map[string]int{"pending": 2, "in_progress": 1, "completed": 1, "cancelled": 0}; !maps.Equal(got.ByStatus,
		want) || got.Total != 4 {
		t.Errorf("got %+v; want %v", got, want)
	}
	if want := map[string]int{"low": 0, "medium": 0, "high": 1, "urgent": 0, "none": 3}; !maps.Equal(got.ByPriority,
		want) {
		t.Errorf("got %+v; want %v", got, want)
	}

	read[struct{}](t, one.Try(t, http.MethodDelete, other.path(), nil), http.StatusNoContent)
	refused(t, one.Try(t, http.MethodGet, other.path(), nil), http.StatusNotFound)
	refused(t, one.Try(t, http.MethodDelete, other.path(), nil), http.StatusNotFound)
	read[struct{}](t, one.Try(t, http.MethodDelete, "/api/v1/users/me", nil), http.StatusNoContent)
	refused(t, one.Try(t, http.MethodGet, "/api/v1/users/me", nil), http.StatusNotFound)
	refused(t, one.Try(t, http.MethodGet, made.path(), nil), http.StatusNotFound)
	refused(t, one.Try(t, http.MethodPost, "/api/v1/tasks", given), http.StatusNotFound)
}

func same(a, b task) bool {
	return a.TaskID == b.TaskID && a.Title == b.Title && text(a.Description) == text(b.Description) &&
		a.Status == b.Status &&
		text(a.Priority) == text(b.Priority) && text(a.Category) == text(b.Category) &&
		text(a.DueDate) == text(b.DueDate) &&
		a.CreatedAt == b.CreatedAt && a.UpdatedAt == b.UpdatedAt && text(a.CompletedAt) == text(b.CompletedAt) &&
		a.Version == b.Version
}

func has(tasks []task, id string) bool {
	return slices.ContainsFunc(tasks, func(one task) bool { return one.TaskID == id })
}

// indexed waits until a condition is true of the indexes, which on AWS follow the table within a
// moment, and in a local run at once.
func (p *target) indexed(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if p.Run == nil {
		onesynthtest.Settled(t, what, holds)
		return
	}
	if !holds() {
		t.Errorf("not so: %s", what)
	}
}

// On every route, another user's task does not exist.
func TestOtherUsersTask(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one, other := newUser(t, on), newUser(t, on)
	mine := one.create(t, input{"title": "Mine", "category": "home"})
	bodies := map[string]any{http.MethodPut: input{"title": "Theirs"}, http.MethodPatch: input{"title": "Theirs"}}
	tried := 0
	for _, route := range todo.Platform().Routes {
		if !strings.Contains(route.Path, "{task_id}") {
			continue
		}
		tried++
		path := platform.PathOf(route, mine.TaskID)
		for _, with := range []http.Header{nil, ifMatch(1)} {
			refused(t, other.MustSend(t, route.Method, path, with, bodies[route.Method]), http.StatusNotFound)
		}
		for _, id := range []string{"x", strings.ToUpper(mine.TaskID), mine.TaskID + "x", "%23",
			"TASK%23" + mine.TaskID} {
			refused(t, other.Try(t, route.Method, platform.PathOf(route, id), bodies[route.Method]),
				http.StatusNotFound)
		}
	}
	if tried != 4 {
		t.Errorf("tried %d routes; want 4", tried)
	}
	set := read[statusesSet](t, other.Try(t, http.MethodPost, "/api/v1/tasks/bulk",
		input{"action": "set_status", "task_ids": []string{mine.TaskID}, "status": "completed"}), http.StatusOK)
	if len(set.Changed) != 0 || len(set.Failed) != 1 || set.Failed[0].Status != http.StatusNotFound {
		t.Errorf("got %+v; want the task not found", set)
	}
	read[completedDeleted](t, other.Try(t, http.MethodPost, "/api/v1/tasks/bulk", input{"action": "delete_completed"}),
		http.StatusOK)
	for _, query := range []url.Values{nil, {"q": {"mine"}}, {"status": {"pending"}}, {"category": {"home"}}} {
		if got := other.list(t, query); len(got.Tasks) != 0 {
			t.Errorf("%v: got %+v; want nothing of another user", query, got)
		}
	}
	if got := one.task(t, mine.TaskID); !same(got, mine) {
		t.Errorf("got %+v; want %+v", got, mine)
	}
}
