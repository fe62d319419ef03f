package todo_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// writes are the writes of a user, by name, with the type of the answer that a key keeps.
var writes = map[string]struct {
	answer string
	do     func(ctx context.Context, s *service.Service, user, id string) (any, error)
}{
	"create user": {"todo.User", func(ctx context.Context, s *service.Service, _, _ string) (any, error) {
		return s.CreateUser(ctx, "bob", todo.UserBody{Email: "bob@example.com", Name: "b"})
	}},
	"update user": {"todo.User", func(ctx context.Context, s *service.Service, user, _ string) (any, error) {
		return s.UpdateUser(ctx, user, todo.UserBody{Email: "new@example.com", Name: "b"})
	}},
	"delete user": {"todo.Erased", func(ctx context.Context, s *service.Service, user, _ string) (any, error) {
		return s.DeleteUser(ctx, user)
	}},
	"create": {"todo.Task", func(ctx context.Context, s *service.Service, user, _ string) (any, error) {
		return s.CreateTask(ctx, user, todo.TaskBody{Title: "x"})
	}},
	"PUT": {"todo.Task", func(ctx context.Context, s *service.Service, user, id string) (any, error) {
		return s.ReplaceTask(ctx, user, id, todo.TaskBody{Title: "x"}, 0)
	}},
	"title": {"todo.Task", func(ctx context.Context, s *service.Service, user, id string) (any, error) {
		return s.ChangeTask(ctx, user, id, todo.TaskChangeBody{Title: new("x")}, 0)
	}},
	"status": {"todo.Task", func(ctx context.Context, s *service.Service, user, id string) (any, error) {
		return s.ChangeTask(ctx, user, id, todo.TaskChangeBody{Status: new(todo.InProgress)}, 0)
	}},
	"DELETE": {"<nil>", func(ctx context.Context, s *service.Service, user, id string) (any, error) {
		return nil, s.DeleteTask(ctx, user, id, 0)
	}},
	"set statuses": {"todo.StatusesSet", func(ctx context.Context, s *service.Service, user, id string) (any, error) {
		return s.SetStatuses(ctx, user, []string{id}, todo.InProgress)
	}},
	"move overdue": {"todo.OverdueMoved", func(ctx context.Context, s *service.Service, user, id string) (any, error) {
		return s.MoveOverdue(ctx, user, []string{id}, "2027-01-01")
	}},
	"empty": {"todo.CompletedDeleted", func(ctx context.Context, s *service.Service, user, _ string) (any, error) {
		return s.DeleteCompleted(ctx, user)
	}},
}

// A user who changes while a change or the deletion is being written is read again:
// no address stays behind.
func TestUserMeetsOthers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"update user", "delete user"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.user(t, "ada")
			ctx, _ := w.Claim(t, t.Context(), "ada", name)
			w.Meanwhile(func() {
				must.OK(t, second(w.beside(t).UpdateUser(t.Context(), "ada",
					todo.UserBody{Email: "first@example.com", Name: "First"})))
			})
			must.Get(writes[name].do(ctx, w.Service, "ada", ""))(t)
			w.check(t)
			if left := w.left(t, "ada"); name == "delete user" && len(left) != 1 {
				t.Errorf("left are %v, want the request's own key", left)
			}
		})
	}
}

// A user with few items is deleted in one write, whose answer is kept. It takes what came meanwhile
// along, in further writes.
func TestDeletionAtOnce(t *testing.T) {
	t.Parallel()
	in := todo.TaskBody{Title: "a", Category: "c", Priority: todo.High, DueDate: "2026-01-01"}
	for name, test := range map[string]struct {
		tasks int
		// meanwhile are the writes before the first transaction, and before the next ones.
		meanwhile []string
		atOnce    bool
	}{
		"none": {0, nil, true},
		"few":  {3, nil, true},
		// Beside these there are two keys.
		"most":      {94, nil, true},
		"more":      {95, nil, false},
		"created":   {3, []string{"create"}, false},
		"changed":   {3, []string{"title"}, false},
		"removed":   {3, []string{"DELETE"}, false},
		"exchanged": {3, []string{"DELETE, create"}, false},
		"renamed":   {3, []string{"update user"}, true},
		// The deletion in steps loses a race, too; then one transaction does.
		"created, renamed": {3, []string{"create", "update user"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, w := t.Context(), newWorld(t)
			w.user(t, "ada")
			w.user(t, "bob")
			w.task(t, "bob", in)
			if test.tasks > 0 {
				w.fill(t, "ada", test.tasks-1, in, func(int) string { return in.Title })
				w.task(t, "ada", in)
			}
			for _, key := range []string{"first", "second"} {
				claimed, _ := w.Claim(t, ctx, "ada", key)
				must.Get(w.UpdateUser(claimed, "ada", todo.UserBody{Email: "ada@example.com", Name: key}))(t)
			}
			if next := test.meanwhile; next != nil {
				task := w.list(t, "ada", todo.TaskFilter{Limit: 1})[0]
				var all []func()
				for _, names := range next {
					all = append(all, func() {
						for name := range strings.SplitSeq(names, ", ") {
							must.Get(writes[name].do(ctx, w.beside(t), "ada", task.ID))(t)
						}
					})
				}
				w.Meanwhile(all...)
			}
			claimed, _ := w.Claim(t, ctx, "ada", "delete")
			w.Recorder.Requests()
			complete, err := w.DeleteUser(claimed, "ada")
			if err != nil || complete != (name != "more") {
				t.Fatalf("got %v, %v", complete, err)
			}
			writes := 0
			for _, made := range w.Recorder.Requests() {
				if made.Action == schema.TransactWriteItems {
					writes++
				}
			}
			if !complete {
				// What one transaction cannot delete is left to the eraser, after one write.
				if deletion, ok := w.deletion(t, "ada"); !ok || writes != 1 {
					t.Errorf("made %d transactions, and left the deletion %v", writes, deletion)
				}
				return
			}
			if (writes == 1) != test.atOnce {
				t.Errorf("made %d transactions; want one: %v", writes, test.atOnce)
			}
			w.Heal()
			if left := w.left(t, "ada"); len(left) != 1 || w.Kept(t, "ada", "delete") != "todo.Erased" {
				t.Errorf("left are %v, want the request's own key", left)
			}
			if left := w.left(t, "bob"); len(left) != 4 {
				t.Errorf("of bob there are %v", left)
			}
			// The user can come back at once.
			w.user(t, "ada")
			w.check(t)
		})
	}
}

// deletable is a user with more than one transaction deletes, and used keys.
func deletable(t testing.TB, w *world) {
	t.Helper()
	w.user(t, "ada")
	w.user(t, "bob")
	w.task(t, "bob", todo.TaskBody{Title: "bob's"})
	in := todo.TaskBody{Title: "ada's", Category: "c", Priority: todo.High, DueDate: "2026-01-01"}
	for _, in.Status = range todo.Statuses() {
		w.task(t, "ada", in)
	}
	w.fill(t, "ada", 106, in, func(int) string { return in.Title })
	for i := range 3 {
		ctx, _ := w.Claim(t, t.Context(), "ada", fmt.Sprint("old ", i))
		must.Get(w.CreateTask(ctx, "ada", todo.TaskBody{Title: "with a key"}))(t)
	}
	ctx, _ := w.Claim(t, t.Context(), "bob", "bob's")
	must.Get(w.CreateTask(ctx, "bob", todo.TaskBody{Title: "with a key"}))(t)
}

// The deletion of a user dies before or after each of its requests in turn. Until
// its first write nothing has happened. After it the user is gone for everyone. The
// same request or the eraser goes on, and leaves nothing but the key under which the
// request is answered. Others' items stay.
func TestDeletionResumes(t *testing.T) {
	if testing.Short() {
		t.Skip("dies at each request of a deletion: go test without -short does")
	}
	t.Parallel()
	for _, lost := range []bool{false, true} {
		for _, by := range []string{"request", "eraser"} {
			t.Run(fmt.Sprintf("by %s, answer lost %t", by, lost), func(t *testing.T) {
				t.Parallel()
				for step, died := 0, true; died; step++ {
					died = deletionDies(t, step, by, lost)
				}
			})
		}
	}
}

// deletionDies lets a deletion die at its step-th request, and go on by the same
// request or by the eraser. It reports whether the deletion had so many requests.
func deletionDies(t *testing.T, step int, by string, lost bool) (died bool) {
	w := newWorld(t)
	deletable(t, w)
	request := idempotency.Request{Keys: w.IdempotencyKeys, Scope: "ada", Key: "delete",
		Log: slog.New(slog.DiscardHandler), Answer: func(result any) (idempotency.Response, error) {
			return idempotency.Response{Status: 200, Body: fmt.Append(nil, result)}, nil
		}}
	work := func(ctx context.Context) (any, error) {
		complete, err := w.DeleteUser(ctx, "ada")
		return todo.Erased{Complete: complete}, err
	}
	w.Kill(step, lost)
	_, _, err := request.Do(t.Context(), work)
	if died = w.Heal() == 0; !died && err != nil {
		t.Fatalf("at %d: got %v", step, err)
	}
	_, err = w.GetUser(t.Context(), "ada")
	begun := errors.Is(err, todo.ErrUserNotFound)
	if begun {
		_, err := w.CreateTask(t.Context(), "ada", todo.TaskBody{Title: "x"})
		is(t, err, todo.ErrUserNotFound)
		if stats, err := w.Stats(t.Context(), "ada"); err != nil || stats.Total != 0 {
			t.Errorf("at %d: stats %+v, %v", step, stats, err)
		}
	}
	erase := func() {
		if deletion, ok := w.deletion(t, "ada"); ok {
			if complete, err := w.eraser.Erase(t.Context(), deletion); err != nil || !complete {
				t.Errorf("at %d: the eraser: %v, %v", step, complete, err)
			}
		}
	}
	if by == "eraser" && begun {
		erase()
	}
	// The same request again: the claim of one that died has ended with its lease.
	w.Advance(idempotency.DefaultLease)
	again, _, err := request.Do(t.Context(), work)
	if complete := fmt.Sprint(todo.Erased{Complete: true}); err != nil {
		t.Errorf("at %d: the request again: %v", step, err)
	} else if string(again.Body) != complete {
		erase()
	}
	if left := w.left(t, "ada"); len(left) != 1 || !strings.HasPrefix(left[0], "IDEMPOTENCY#ada KEY#") {
		t.Errorf("at %d: left are %v", step, left)
	}
	if left := w.left(t, "bob"); len(left) != 6 {
		t.Errorf("at %d: of bob there are %v", step, left)
	}
	w.check(t)
	return died
}

// deletion is what the stream tells of a deletion that goes on.
func (w *world) deletion(t testing.TB, user string) (service.Deletion, bool) {
	t.Helper()
	for _, item := range w.Items(t, "AppData") {
		if id, _ := item["deletion"].(string); id != "" && item["PK"] == "COUNTS#"+user {
			return service.Deletion{User: user, ID: id}, true
		}
	}
	return service.Deletion{}, false
}

// From the first write of a deletion on, every method answers as for someone who never
// was a user, though the tasks are still stored.
func TestUserBeingDeletedIsNone(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	w.user(t, "ada")
	in := todo.TaskBody{Title: "a", Priority: todo.High, Category: "home", DueDate: "2026-01-01"}
	open, another := w.task(t, "ada", in), w.task(t, "ada", in)
	in.Status = todo.Completed
	done := w.task(t, "ada", in)
	before := must.Get(w.ListTasks(ctx, "ada", todo.TaskFilter{Limit: 1}))(t)
	if complete, err := w.DeleteUser(worldtest.Leaving(ctx, 2*time.Second), "ada"); err != nil || complete {
		t.Fatalf("got %v, %v", complete, err)
	}
	stored := w.Items(t, "AppData")

	type method func(user string) (any, error)
	change := func(id string, c todo.TaskChangeBody, ifVersion int) method {
		return func(user string) (any, error) { return w.ChangeTask(ctx, user, id, c, ifVersion) }
	}
	methods := map[string]method{
		"GetUser":               func(user string) (any, error) { return w.GetUser(ctx, user) },
		"GetTask":               func(user string) (any, error) { return w.GetTask(ctx, user, open.ID) },
		"ReplaceTask by itself": func(user string) (any, error) { return w.ReplaceTask(ctx, user, done.ID, in, 0) },
		"ChangeTask, nothing":   change(open.ID, todo.TaskChangeBody{}, 0),
		"ChangeTask, version":   change(open.ID, todo.TaskChangeBody{Title: new("b")}, 7),
		"ChangeTask, completed": change(done.ID, todo.TaskChangeBody{Status: new(todo.Pending)}, 0),
		"DeleteTask, version":   func(user string) (any, error) { return nil, w.DeleteTask(ctx, user, open.ID, 7) },
		"SetStatuses as it is": func(user string) (any, error) {
			return w.SetStatuses(ctx, user, []string{open.ID, another.ID}, todo.Pending)
		},
		"SetStatuses, completed": func(user string) (any, error) {
			return w.SetStatuses(ctx, user, []string{done.ID}, todo.Pending)
		},
		"Stats": func(user string) (any, error) { return w.Stats(ctx, user) },
	}
	for _, f := range []todo.TaskFilter{
		{}, {Search: "a"}, {Status: todo.Pending}, {Status: todo.Completed}, {Priority: todo.High}, {Category: "home"},
		{Overdue: todo.Yes},
		{DueFrom: "2026-01-01", DueTo: "2026-01-01"}, {DueFrom: "2025-01-01"},
		{Sort: todo.ByStatus}, {Sort: todo.ByDueDate}, {Sort: todo.ByPriority}, {Sort: todo.ByCategory},
	} {
		methods[fmt.Sprintf("ListTasks %+v", f)] = func(user string) (any, error) { return w.ListTasks(ctx, user, f) }
	}
	for name, write := range writes {
		if name != "create user" && name != "delete user" {
			methods[name] = func(user string) (any, error) { return write.do(ctx, w.Service, user, open.ID) }
		}
	}
	for name, do := range methods {
		got, gotErr := do("ada")
		want, wantErr := do("eve")
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) })); diff != "" ||
			fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
			t.Errorf("%s: got %v; a stranger gets %v\n%s", name, gotErr, wantErr, diff)
		}
	}
	page, err := w.ListTasks(ctx, "ada", todo.TaskFilter{Limit: 1, Cursor: before.Next})
	if err != nil || len(page.Tasks) != 0 || page.Next != "" {
		t.Errorf("the second page: got %+v, %v", page, err)
	}
	inAnyOrder := cmpopts.SortSlices(func(a, b map[string]any) bool { return fmt.Sprint(a) < fmt.Sprint(b) })
	if diff := cmp.Diff(stored, w.Items(t, "AppData"), inAnyOrder); diff != "" {
		t.Errorf("the table has changed:\n%s", diff)
	}
}

// A write that has read a task before its user's deletion begins writes nothing after.
func TestWriteMeetsDeletion(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	quick := w.beside(t)
	for _, name := range []string{"PUT", "title", "status", "DELETE", "set statuses", "move overdue"} {
		w.user(t, name)
		task := w.task(t, name, todo.TaskBody{DueDate: "2026-01-01"})
		w.Meanwhile(func() {
			if complete, err := quick.DeleteUser(worldtest.Leaving(ctx, 2*time.Second), name); err != nil || complete {
				t.Errorf("%s: got %v, %v", name, complete, err)
			}
		})
		is(t, second(writes[name].do(ctx, w.Service, name, task.ID)), todo.ErrUserNotFound)
		w.Heal()
		if got, _, err := w.Stored(ctx, name, task.ID); err != nil || got != task {
			t.Errorf("%s: the task is %+v, %v", name, got, err)
		}
	}
}

// A deletion takes along the claims of the user's other requests under way. Those then write nothing, and say that
// their claim is lost; a repeat learns that there is no such user.
func TestRequestsMeetDeletion(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	other := w.beside(t)
	for _, name := range []string{"delete user", "create", "update user"} {
		w.user(t, name)
		claimed, _ := w.Claim(t, ctx, name, "key")
		w.Meanwhile(func() {
			deleting, _ := w.Claim(t, ctx, name, "deletion")
			if complete, err := other.DeleteUser(deleting, name); err != nil || !complete {
				t.Errorf("%s: got %v, %v", name, complete, err)
			}
		}, func() { t.Errorf("%s: writes again", name) })
		is(t, second(writes[name].do(claimed, w.Service, name, "")), idempotency.ErrClaimLost)
		w.Heal()
		again, _ := w.Claim(t, ctx, name, "key")
		is(t, second(writes[name].do(again, w.Service, name, "")), todo.ErrUserNotFound)
		if left := w.left(t, name); len(left) != 2 {
			t.Errorf("%s: left are %v, want the two keys", name, left)
		}
	}
	w.check(t)
}

// An eraser that stopped before a request, while the user came back, deletes nothing
// of what is new.
func TestEraserMeetsReturnedUser(t *testing.T) {
	t.Parallel()
	const tasks, keys = 113, 3
	for _, stop := range []struct {
		operation schema.Action
		before    int64
	}{{schema.Query, 1}, {schema.GetItem, 1}, {schema.DeleteItem, 1}, {schema.Query, 2}, {schema.GetItem, 2},
		{schema.DeleteItem, tasks + 1}, {schema.DeleteItem, tasks + keys + 1}} {
		t.Run(fmt.Sprint(stop.operation, stop.before), func(t *testing.T) {
			t.Parallel()
			ctx, w := t.Context(), newWorld(t)
			deletable(t, w)
			leaving := worldtest.Leaving(t.Context(), 2*time.Second)
			if complete, err := w.DeleteUser(leaving, "ada"); err != nil || complete {
				t.Fatalf("got %v, %v", complete, err)
			}
			deletion, _ := w.deletion(t, "ada")
			quick := w.beside(t)
			var kept []todo.Task
			back := sync.OnceFunc(func() {
				eraser := service.Service{DB: w.Beside(t, "eraser")}
				if complete, err := eraser.Erase(ctx, deletion); err != nil || !complete {
					t.Errorf("got %v, %v", complete, err)
				}
				w.Advance(15 * time.Second)
				must.Get(quick.CreateUser(ctx, "ada", todo.UserBody{Email: "back@example.com", Name: "Ada"}))(t)
				for i := range keys {
					ctx, _ := w.Claim(t, ctx, "ada", fmt.Sprint("old ", i))
					task := must.Get(quick.CreateTask(ctx, "ada", todo.TaskBody{Title: "after"}))(t)
					kept = append(kept, task)
				}
			})
			var made atomic.Int64
			w.Recorder.Faults(func(operation schema.Action) error {
				if operation == stop.operation && made.Add(1) >= stop.before {
					back()
				}
				return nil
			}, nil)
			if complete, err := w.eraser.Erase(ctx, deletion); err != nil || !complete {
				t.Errorf("got %v, %v", complete, err)
			}
			w.Recorder.Faults(nil, nil)
			for i, task := range kept {
				if got, err := w.GetTask(ctx, "ada", task.ID); err != nil || got != task {
					t.Errorf("got %+v, %v", got, err)
				}
				if answer := w.Kept(t, "ada", fmt.Sprint("old ", i)); answer != "todo.Task" {
					t.Errorf("the request for task %d is answered with %q", i, answer)
				}
			}
			if len(kept) != keys {
				t.Errorf("got %d tasks of the new user", len(kept))
			}
			w.check(t)
		})
	}
}

// A request that learns late that its deletion is over leaves the user who came back meanwhile.
func TestRequestMeetsReturnedUser(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	w.user(t, "ada")
	claimed, _ := w.Claim(t, ctx, "ada", "delete")
	w.Meanwhile(func() { // what was read is not all any more: the deletion takes more than one write
		must.Get(w.beside(t).CreateTask(ctx, "ada", todo.TaskBody{Title: "late"}))(t)
	}, func() {}, func() { // the answer is to be kept
		deletion, _ := w.deletion(t, "ada")
		must.Get((&service.Service{DB: w.Beside(t, "eraser")}).Erase(ctx, deletion))(t)
		w.user(t, "ada")
	})
	complete, err := w.DeleteUser(claimed, "ada")
	w.Heal()
	if answer := w.Kept(t, "ada", "delete"); err != nil || !complete || answer != "todo.Erased" {
		t.Errorf("got %v, %v, and the answer %q", complete, err, answer)
	}
	w.task(t, "ada", todo.TaskBody{})
	w.check(t)
}

// Every write keeps the answer to its request in the same transaction; one whose
// claim was taken over writes nothing.
func TestAnswersAreKeptWithTheWork(t *testing.T) {
	t.Parallel()
	for name, test := range writes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, w := t.Context(), newWorld(t)
			w.user(t, "ada")
			task := w.task(t, "ada", todo.TaskBody{DueDate: "2026-01-01"})
			w.task(t, "ada", todo.TaskBody{Status: todo.Completed})

			zombie, _ := w.Claim(t, ctx, "ada", "key")
			w.Advance(2 * time.Minute)
			claimed, _ := w.Claim(t, ctx, "ada", "key")
			before := len(w.left(t, "ada"))
			if name != "delete user" { // it is done in steps that may be repeated
				is(t, second(test.do(zombie, w.Service, "ada", task.ID)), idempotency.ErrClaimLost)
				if after := len(w.left(t, "ada")); after != before || w.Kept(t, "ada", "key") != "running" {
					t.Errorf("the dead attempt changed something: %d items, then %d", before, after)
				}
			}
			// The answer to the transaction is lost on the way; the next attempt finds it.
			lost := sync.OnceValue(func() error { return retry.ErrBusy })
			w.Recorder.Faults(nil, func(operation schema.Action) error {
				if operation != schema.TransactWriteItems || name == "delete user" {
					return nil
				}
				return lost()
			})
			_, _ = test.do(claimed, w.Service, "ada", task.ID)
			w.Heal()
			if got := w.Kept(t, "ada", "key"); got != test.answer {
				t.Errorf("the key is answered with %q, want %q", got, test.answer)
			}
			w.check(t)
		})
	}
}

// A repeat of the request that has deleted a user gets its answer, though there is no such user any more, and no answer
// is kept of that.
func TestDeletionAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(t, "ada")
	for _, again := range []bool{false, true} {
		_, replayed, err := idempotency.Request{Keys: w.IdempotencyKeys, Scope: "ada", Key: "delete",
			Claim:  idempotency.WithWrite,
			Answer: func(any) (idempotency.Response, error) { return idempotency.Response{Status: 204}, nil },
		}.Do(t.Context(), func(ctx context.Context) (any, error) { return w.DeleteUser(ctx, "ada") })
		if replayed != again || err != nil {
			t.Errorf("again %t: got %t, %v", again, replayed, err)
		}
	}
}
