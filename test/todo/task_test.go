package todo

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// A user signs up, keeps a task until it is done, and leaves.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	on := shared(t)
	one := newCaller(t, on)
	refused(t, one.Try(t, http.MethodGet, "/api/v1/users/me", nil), http.StatusNotFound)
	created := one.Try(t, http.MethodPost, "/api/v1/users/me", profile{one.Email, "Ann"})
	me := read[user](t, created, http.StatusCreated)
	if me.Email != one.Email || me.Name != "Ann" || on.Run != nil && me.UserID != one.ID ||
		created.Header.Get("Location") != "/api/v1/users/me" {
		t.Errorf("got %v; want the user as given", created)
	}
	answered := one.Try(t, http.MethodPost, "/api/v1/tasks", input{"title": "Water the plants",
		"description": "All but the cactus 🌵.", "priority": "high", "category": "home#50%", "due_date": "2026-02-14"})
	made := read[task](t, answered, http.StatusCreated)
	if text(made.Description) != "All but the cactus 🌵." || made.Status != "pending" ||
		text(made.Category) != "home#50%" || answered.Header.Get("Location") != made.path() ||
		answered.Header.Get("ETag") != `"1"` {
		t.Errorf("got %v %v; want the task as given, with location and ETag", answered, answered.Header)
	}
	done := one.change(t, made.TaskID, input{"status": "completed"})
	if got := one.task(t, made.TaskID); !same(got, done) || done.CompletedAt == nil || done.Version != 2 {
		t.Errorf("got %+v; want the task completed, %+v", got, done)
	}
	for _, sort := range []string{"status", "due_date", "priority", "category"} {
		listed := func() (any, bool) {
			got := one.all(t, url.Values{"sort": {sort}})
			return got, len(got) == 1 && same(got[0], done)
		}
		// On AWS the indexes follow the table within a moment, and in a local run at once.
		if on.Run == nil {
			wait.Until(t, "the index of "+sort+" follows", listed)
		} else if got, ok := listed(); !ok {
			t.Errorf("the list by %s has %+v, not the task as it is", sort, got)
		}
	}
	if got := one.stats(t); got.ByStatus["completed"] != 1 || got.ByPriority["high"] != 1 || got.Total != 1 {
		t.Errorf("got %+v; want one task", got)
	}
	read[struct{}](t, one.Try(t, http.MethodDelete, made.path(), nil), http.StatusNoContent)
	read[struct{}](t, one.Try(t, http.MethodDelete, "/api/v1/users/me", nil), http.StatusNoContent)
	refused(t, one.Try(t, http.MethodGet, "/api/v1/users/me", nil), http.StatusNotFound)
}

func same(a, b task) bool {
	return a.TaskID == b.TaskID && a.Title == b.Title && text(a.Description) == text(b.Description) &&
		a.Status == b.Status &&
		text(a.Priority) == text(b.Priority) && text(a.Category) == text(b.Category) &&
		text(a.DueDate) == text(b.DueDate) &&
		a.CreatedAt == b.CreatedAt && a.UpdatedAt == b.UpdatedAt && text(a.CompletedAt) == text(b.CompletedAt) &&
		a.Version == b.Version
}
