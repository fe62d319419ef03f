package todo

import (
	"bytes"
	"net/http"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// leftOf returns the items of a user except idempotency keys.
func leftOf(t testing.TB, p *platform.Target, id string) []map[string]any {
	t.Helper()
	return slices.DeleteFunc(p.Items(t, "AppData"), func(item map[string]any) bool {
		return of(item) != id || prefixOf(item) == "IDEMPOTENCY"
	})
}

// A request begins a deletion of more than a transaction, which the eraser finishes. Then only the request's own answer
// is left, and a user who comes back is new.
func TestDeletion(t *testing.T) {
	t.Parallel()
	on := suite.OwnRun(t, run.Options{})
	one, neighbour := newUser(t, on), newUser(t, on)
	kept := platform.Post(t, neighbour, todo.CreateTask, todo.TaskBody{Title: "Another user's"})
	for range 110 {
		platform.Post(t, one, todo.CreateTask, todo.TaskBody{Title: "Of one who leaves"})
	}
	key := onesynthtest.Key(onesynthtest.Unique("key"))
	answered := one.MustSend(t, http.MethodDelete, "/api/v1/users/me", key, nil)
	if answered.Status != http.StatusAccepted {
		t.Fatalf("got %v; want 202", answered)
	}
	gone(t, one)
	on.Flush(t)
	if left := leftOf(t, on, one.ID); len(left) != 0 {
		t.Errorf("got %d items left, such as %v", len(left), left[0])
	}
	for queue, messages := range runtest.Of(on.Run).AllMessages() {
		if len(messages) != 0 {
			t.Errorf("got %d messages in %s", len(messages), queue)
		}
	}
	if again := one.MustSend(t, http.MethodDelete, "/api/v1/users/me", key, nil); again.Status != answered.Status ||
		!bytes.Equal(again.Body, answered.Body) || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("got %v, replayed %q; want %v", again, again.Header.Get("Idempotency-Replayed"), answered)
	}

	join(t, one)
	if got := platform.Call(t, one, todo.ListTasks, todo.TaskFilter{}).Tasks; len(got) != 0 {
		t.Errorf("got %d tasks of the user before", len(got))
	}
	if got := platform.Call(t, neighbour, todo.ReadTask, todo.TaskParams{ID: kept.ID}); got != kept {
		t.Errorf("got %+v; want %+v", got, kept)
	}
}
