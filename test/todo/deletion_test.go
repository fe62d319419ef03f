package todo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/aws"
	"github.com/onesynth-cdk/onesynth/internal/rooms"
	"github.com/onesynth-cdk/onesynth/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// left returns the items of a user except idempotency keys.
func (p *target) left(t testing.TB, id string) []map[string]any {
	t.Helper()
	return slices.DeleteFunc(p.items(t), func(item map[string]any) bool {
		return of(item) != id || prefixOf(item) == "IDEMPOTENCY"
	})
}

// An eraser finishes a deletion that another one was killed with half way. Then only the request's own answer is
// left, and a user who comes back is new and stays.
func TestKilledDeletionIsFinished(t *testing.T) {
	t.Parallel()
	on := &target{platform.Local(suite.Local(t, "dev").EditedRun(t, local.Options{NoSchedules: true},
		func(template []byte) []byte {
			return batchingWindow.ReplaceAll(template, []byte(`"MaximumBatchingWindowInSeconds": 1`))
		}))}
	one, neighbour := newUser(t, on), newUser(t, on)
	one.Retry = []int{http.StatusServiceUnavailable}
	kept := neighbour.create(t, input{"title": "Another user's"})
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
			onesynthtest.Settled(t, "the user can come back", func() bool {
				return one.Try(t, http.MethodPost, "/api/v1/users/me",
					profile{one.Email, "Ann"}).Status == http.StatusCreated ||
					one.Try(t, http.MethodGet, "/api/v1/users/me", nil).Status == http.StatusOK
			})
		}
		ids := on.seedTasks(t, one.ID, tasks)
		key = onesynthtest.Key(onesynthtest.Unique("key"))
		answered = one.MustSend(t, http.MethodDelete, "/api/v1/users/me", key, nil)
		refused(t, answered, http.StatusAccepted)
		onesynthtest.Settled(t, "the erasure has begun", func() bool {
			return on.Item(t, "AppData", "PK", "TASK#"+one.ID, "SK", "TASK#"+ids[0]) == nil
		})
		if _, err := on.Run.Kill(function); err != nil && !errors.Is(err, lambda.ErrNotRunning) {
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
		back := one.Try(t, http.MethodPost, "/api/v1/users/me", profile{one.Email, "Ann"})
		if counts := on.Item(t, "AppData", "PK", "COUNTS#"+one.ID, "SK", "METADATA"); counts != nil &&
			counts["deletion"] != nil {
			refused(t, back, http.StatusConflict)
		} else {
			t.Log("the next eraser was faster")
			half = false
		}
	}
	refused(t, one.Try(t, http.MethodGet, "/api/v1/users/me", nil), http.StatusNotFound)
	refused(t, one.Try(t, http.MethodPost, "/api/v1/tasks", input{"title": "Too late"}), http.StatusNotFound)
	if got := one.stats(t); got.Total != 0 {
		t.Errorf("got %+v of a user who is gone", got)
	}

	if err := on.Flush(t); err != nil {
		t.Fatal(err)
	}
	if left := on.left(t, one.ID); len(left) != 0 {
		t.Errorf("got %d items left, such as %v", len(left), left[0])
	}
	for _, queue := range rooms.Of(on.Run).AWS.Queues() {
		if n := len(queue.Messages()); n != 0 {
			t.Errorf("got %d messages in %s", n, queue.Name)
		}
	}
	isReplay(t, one.MustSend(t, http.MethodDelete, "/api/v1/users/me", key, nil), answered)

	// A user who comes back is new, also if the old deletion is still running.
	read[user](t, one.Try(t, http.MethodPost, "/api/v1/users/me", profile{one.Email, "Ann"}), http.StatusCreated)
	if got := one.all(t, nil); len(got) != 0 {
		t.Errorf("got %d tasks of the user before", len(got))
	}
	again := one.create(t, input{"title": "Another life"})
	if err := rooms.Of(on.Run).AWS.SetFaults(aws.Faults{Redeliver: 1}); err != nil {
		t.Fatal(err)
	}
	one.change(t, again.TaskID, input{"title": "Another life still"})
	// Everything is delivered again and again, without end.
	soon, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := on.Run.FlushStreams(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v; want records that are delivered without end", err)
	}
	if err := rooms.Of(on.Run).AWS.SetFaults(aws.Faults{}); err != nil {
		t.Fatal(err)
	}
	isReplay(t, one.MustSend(t, http.MethodDelete, "/api/v1/users/me", key, nil), answered)
	if got := one.all(t, nil); len(got) != 1 || got[0].Title != "Another life still" {
		t.Errorf("got %+v; want the new task", got)
	}
	if got := one.stats(t); got.Total != 1 {
		t.Errorf("got %+v; want 1", got)
	}
	if got := neighbour.task(t, kept.TaskID); !same(got, kept) {
		t.Errorf("got %+v; want %+v", got, kept)
	}
}

// A user with more tasks than one request has time to delete is deleted completely, and cannot come
// back before.
func TestLongDeletionGoesOn(t *testing.T) {
	t.Parallel()
	on := ownRun(t, local.Options{})
	one := newUser(t, on)
	on.seedTasks(t, one.ID, 500)
	// Conflicts slow the request down until its time is up.
	if err := rooms.Of(on.Run).AWS.SetFaults(aws.Faults{TransactionConflict: 0.7, Seed: 5}); err != nil {
		t.Fatal(err)
	}
	key := onesynthtest.Key(onesynthtest.Unique("key"))
	first := one.MustSend(t, http.MethodDelete, "/api/v1/users/me", key, nil)
	if err := rooms.Of(on.Run).AWS.SetFaults(aws.Faults{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("the first answer is %v", first)
	if first.Status == http.StatusAccepted {
		refused(t, first, http.StatusAccepted)
	} else if first.Status != http.StatusNoContent && first.Status != http.StatusServiceUnavailable {
		t.Errorf("got %v; want 202, 204 or 503", first)
	}
	if first.Status != http.StatusServiceUnavailable {
		refused(t, one.Try(t, http.MethodGet, "/api/v1/users/me", nil), http.StatusNotFound)
	}
	var last onesynthtest.Reply
	onesynthtest.Settled(t, "the deletion is answered", func() bool {
		last = one.MustSend(t, http.MethodDelete, "/api/v1/users/me", key, nil)
		return last.Status < http.StatusBadRequest
	})
	if err := on.Flush(t); err != nil {
		t.Fatal(err)
	}
	if left := on.left(t, one.ID); len(left) != 0 {
		t.Errorf("got %d items left, such as %v", len(left), left[0])
	}
	read[user](t, one.Try(t, http.MethodPost, "/api/v1/users/me", profile{one.Email, "Ann"}), http.StatusCreated)
}

// A deletion that the eraser cannot finish before its record expires is kept in its queue, for
// operators.
func TestFailedErasureIsKept(t *testing.T) {
	t.Parallel()
	on := &target{suite.FastSchedules(t, local.Options{NoSchedules: true, Revoke: func(caller, action, _ string) bool {
		return strings.Contains(caller, "Eraser") && action == "dynamodb:Query"
	}})}
	id := on.abandon(t)
	queue := rooms.Of(on.Run).AWS.Queue(on.Outputs["DeadLetterQueueUrl"])
	if queue == nil {
		t.Fatalf("got no queue %q", on.Outputs["DeadLetterQueueUrl"])
	}
	onesynthtest.Settled(t, "the queue has the record", func() bool { return len(queue.Messages()) > 0 })
	// The form of what Lambda sends there ("Retain discarded records", Lambda developer
	// guide).
	if message := queue.Messages()[0].Body; !strings.Contains(message, "DDBStreamBatchInfo") {
		t.Errorf("got %s; want where in the stream the record is", message)
	}
	if left := on.left(t, id); len(left) != 2 {
		t.Errorf("got %v; want task and counts", left)
	}
	t.Run("UserIsGone", func(t *testing.T) { checkGone(t, on) })
}

// checkGone checks, of a user whose deletion has begun and whose eraser does not run,
// that every route answers as for someone who never was a user.
func checkGone(t *testing.T, on *target) {
	gone, stranger := newUser(t, on), newCaller(t, on)
	create := input{"title": "left", "priority": "high", "category": "home", "due_date": "2026-01-01"}
	key := onesynthtest.Key(onesynthtest.Unique("key"))
	first := gone.MustSend(t, http.MethodPost, "/api/v1/tasks", key, create)
	open := read[task](t, first, http.StatusCreated)
	done := gone.create(t, input{"title": "done", "status": "completed"})
	on.indexed(t, "the tasks", func() bool { return len(gone.all(t, url.Values{"sort": {"status"}})) == 2 })
	// A task's id is of the same kind as a deletion's, and was made just now.
	on.beginDeletion(t, gone, done.TaskID)
	before := on.left(t, gone.ID)

	type request struct {
		query  string
		header http.Header
		body   any
	}
	wrong := ifMatch(7)
	both := []string{open.TaskID, done.TaskID}
	requests := map[string][]request{
		"GET /api/v1/users/me":    {{}},
		"PUT /api/v1/users/me":    {{body: profile{onesynthtest.Unique("new") + "@example.com", "Bea"}}},
		"POST /api/v1/tasks":      {{body: create}},
		"GET /api/v1/tasks/stats": {{}},
		"GET /api/v1/tasks": {
			{}, {query: "?q=left"}, {query: "?status=pending"}, {query: "?status=completed"}, {query: "?priority=high"},
			{query: "?category=home"},
			{query: "?due_from=2026-01-01&due_to=2026-01-01"}, {query: "?due_from=2025-01-01"},
			{query: "?overdue=true"},
			{query: "?sort=status"}, {query: "?sort=due_date"}, {query: "?sort=priority"}, {query: "?sort=category"},
		},
		"POST /api/v1/tasks/bulk": {
			{body: input{"action": "set_status", "task_ids": both, "status": "in_progress"}},
			{body: input{"action": "set_status", "task_ids": both[:1], "status": "pending"}},
			{body: input{"action": "delete_completed"}},
		},
		"GET /api/v1/tasks/{task_id}": {{}},
		"PUT /api/v1/tasks/{task_id}": {{body: input{"title": "changed"}}, {body: create},
			{header: wrong, body: create}},
		"PATCH /api/v1/tasks/{task_id}": {{body: input{"title": "changed"}}, {body: input{}},
			{header: wrong, body: input{"status": "cancelled"}}},
		"DELETE /api/v1/tasks/{task_id}": {{header: wrong}, {}},
		// The two that wait for the eraser.
		"POST /api/v1/users/me":   nil,
		"DELETE /api/v1/users/me": nil,
	}
	for _, route := range suite.Platform.Routes {
		all, ok := requests[route.Key()]
		if !ok && route.Caller == schema.CallerUser {
			t.Errorf("no request to the route %s is here: add one", route.Key())
		}
		for _, r := range all {
			path := strings.ReplaceAll(route.Path, "{task_id}", open.TaskID) + r.query
			got := gone.MustSend(t, route.Method, path, r.header, r.body)
			want := stranger.MustSend(t, route.Method, path, r.header, r.body)
			if got.Status != want.Status || !bytes.Equal(got.Body, want.Body) {
				t.Errorf("%s %v: got %v; a stranger gets %v", r.query, r.body, got, want)
			}
		}
	}
	refused(t, gone.Try(t, http.MethodGet, open.path(), nil), http.StatusNotFound)
	refused(t, gone.Try(t, http.MethodPatch, open.path(), input{"title": "changed"}), http.StatusNotFound)
	if got := gone.all(t, nil); len(got) != 0 {
		t.Errorf("got the tasks %v", got)
	}
	refused(t, gone.Try(t, http.MethodPost, "/api/v1/users/me", profile{gone.Email, "Ann"}), http.StatusConflict)
	refused(t, gone.Try(t, http.MethodDelete, "/api/v1/users/me", nil), http.StatusConflict)
	// The same key and body have the same answer for as long as the key is there.
	isReplay(t, gone.MustSend(t, http.MethodPost, "/api/v1/tasks", key, create), first)

	if after := on.left(t, gone.ID); !sameItems(after, before) {
		t.Errorf("got the items\n%v\nwant\n%v", after, before)
	}
}

// sameItems reports whether a user's items are equal, in any order.
func sameItems(a, b []map[string]any) bool {
	texts := func(items []map[string]any) []string {
		var all []string
		for _, item := range items {
			all = append(all, fmt.Sprint(item))
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(texts(a), texts(b))
}

// beginDeletion leaves a user as the first write of a deletion does, past the platform.
// The id says when that was.
func (p *target) beginDeletion(t testing.TB, c caller, id string) {
	t.Helper()
	counts := p.Item(t, "AppData", "PK", "COUNTS#"+c.ID, "SK", "METADATA")
	counts["deletion"] = id
	p.put(t, counts)
	for _, partition := range []string{"USER#" + c.ID, "EMAIL#" + c.Email} {
		p.Delete(t, "AppData", "PK", partition, "SK", "METADATA")
	}
}
