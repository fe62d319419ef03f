package todo

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// left returns the items of a user except idempotency keys.
func (p *target) left(t testing.TB, id string) []map[string]any {
	t.Helper()
	return slices.DeleteFunc(p.items(t), func(item map[string]any) bool {
		return of(item) != id || prefixOf(item) == "IDEMPOTENCY"
	})
}

// isReplay checks that a reply is the answer that another one was, said to be so.
func isReplay(t testing.TB, again, first onesynthtest.Reply) {
	t.Helper()
	if again.Status != first.Status || !bytes.Equal(again.Body, first.Body) ||
		again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("got %v, replayed %q; want %v", again, again.Header.Get("Idempotency-Replayed"), first)
	}
	for _, name := range []string{"ETag", "Location", "Content-Type"} {
		if again.Header.Get(name) != first.Header.Get(name) {
			t.Errorf("%s: got %s %q; want %q", again.Request, name, again.Header.Get(name), first.Header.Get(name))
		}
	}
}

// An eraser finishes a deletion that another one was killed with half way. Then only the request's own answer is
// left, and a user who comes back is new.
func TestKilledDeletionIsFinished(t *testing.T) {
	t.Parallel()
	on := &target{platform.Local(suite.Local(t, "dev").EditedRun(t, run.Options{NoSchedules: true},
		func(template []byte) []byte {
			return batchingWindow.ReplaceAll(template, []byte(`"MaximumBatchingWindowInSeconds": 1`))
		}))}
	one, neighbour := newUser(t, on), newUser(t, on)
	one.Retry = []int{http.StatusServiceUnavailable}
	kept := neighbour.create(t, todo.TaskBody{Title: "Another user's"})
	function := on.Function(t, "Eraser")
	const tasks = 1000
	half := false
	var key http.Header
	var answered onesynthtest.Reply
	for attempt := 0; !half; attempt++ {
		if attempt == 10 {
			t.Fatal("no deletion of 10 could be killed half way")
		}
		if attempt > 0 {
			wait.Until(t, "the user can come back", func() (any, bool) {
				left := on.left(t, one.ID)
				return left, one.Try(t, http.MethodPost, "/api/v1/users/me",
					one.ann()).Status == http.StatusCreated ||
					one.Try(t, http.MethodGet, "/api/v1/users/me", nil).Status == http.StatusOK
			}, wait.On(on))
		}
		ids := on.seedTasks(t, one.ID, tasks)
		key = onesynthtest.Key(onesynthtest.Unique("key"))
		answered = one.MustSend(t, http.MethodDelete, "/api/v1/users/me", key, nil)
		if answered.Status != http.StatusAccepted {
			t.Fatalf("got %v; want 202", answered)
		}
		wait.Until(t, "the erasure has begun", func() (any, bool) {
			first := on.Item(t, "AppData", "PK", "TASK#"+one.ID, "SK", "TASK#"+ids[0])
			return first, first == nil
		}, wait.On(on))
		if _, err := on.Run.Kill(function); err != nil && !errors.Is(err, run.ErrNotRunning) {
			t.Fatal(err)
		}
		left := len(on.left(t, one.ID))
		half = left > 1 && left < tasks
		t.Logf("attempt %d: killed with %d items left", attempt+1, left)
		if !half {
			continue
		}
		// The user cannot come back before the deletion is complete, which it may already be: the
		// next eraser may be faster than the test.
		back := one.Try(t, http.MethodPost, "/api/v1/users/me", one.ann())
		if counts := on.Item(t, "AppData", "PK", "COUNTS#"+one.ID, "SK", "METADATA"); counts != nil &&
			counts["deletion"] != nil {
			suite.Refused(t, back, http.StatusConflict)
		} else {
			t.Log("the next eraser was faster")
			half = false
		}
	}
	one.gone(t)
	if _, err := client.Call(t.Context(), one, todo.CreateTask, schema.None{},
		todo.TaskBody{Title: "Too late"}); !errors.Is(err, todo.ErrUserNotFound) {
		t.Errorf("got %v; want %v", err, todo.ErrUserNotFound)
	}
	if got := one.stats(t); got.Total != 0 {
		t.Errorf("got %+v of a user who is gone", got)
	}

	if err := on.Flush(t); err != nil {
		t.Fatal(err)
	}
	if left := on.left(t, one.ID); len(left) != 0 {
		t.Errorf("got %d items left, such as %v", len(left), left[0])
	}
	for queue, messages := range runtest.Of(on.Run).AllMessages() {
		if len(messages) != 0 {
			t.Errorf("got %d messages in %s", len(messages), queue)
		}
	}
	isReplay(t, one.MustSend(t, http.MethodDelete, "/api/v1/users/me", key, nil), answered)

	// A user who comes back is new.
	one.join(t)
	if got := one.all(t, todo.TaskFilter{}); len(got) != 0 {
		t.Errorf("got %d tasks of the user before", len(got))
	}
	if got := neighbour.task(t, kept.ID); got != kept {
		t.Errorf("got %+v; want %+v", got, kept)
	}
}

// A deletion that the eraser cannot finish before its record expires is kept in its queue, for
// operators.
func TestFailedErasureIsKept(t *testing.T) {
	t.Parallel()
	on := &target{suite.FastSchedules(t, run.Options{NoSchedules: true, Revoke: func(caller, action, _ string) bool {
		return strings.Contains(caller, "Eraser") && action == "dynamodb:Query"
	}})}
	id := on.abandon(t)
	messages := func() []runtest.Message { return messagesOf(t, on.Run, on.Outputs["DeadLetterQueueUrl"]) }
	wait.For(t, "the records in the queue", 1, func() int { return len(messages()) }, wait.On(on))
	// The form of what Lambda sends there ("Retain discarded records", Lambda developer
	// guide).
	if message := messages()[0].Body; !strings.Contains(message, "DDBStreamBatchInfo") {
		t.Errorf("got %s; want where in the stream the record is", message)
	}
	if left := on.left(t, id); len(left) != 2 {
		t.Errorf("got %v; want task and counts", left)
	}
}
