package todo_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// A change that changes nothing writes nothing.
func TestNoChange(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	w.user(t, "ada")
	task := w.task(t, "ada", todo.TaskBody{Description: "d", DueDate: "2026-01-01"})
	for _, name := range []string{"update user", "title", "status", "set statuses", "move overdue", "PUT"} {
		do := func() any { return must.Get(writes[name].do(ctx, w.Service, "ada", task.ID))(t) }
		first := do()
		w.Advance(time.Hour)
		w.Recorder.Requests()
		if diff := cmp.Diff(first, do()); diff != "" {
			t.Errorf("%s (-first +again):\n%s", name, diff)
		}
		for _, request := range w.Recorder.Requests() {
			if request.Action == schema.TransactWriteItems {
				t.Errorf("%s made %+v", name, request)
			}
		}
	}
}

// Two tasks never share an id: the second one does not overwrite the first.
func TestTaskIDsAreNotOverwritten(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	w.user(t, "ada")
	first := w.task(t, "ada", todo.TaskBody{Title: "first"})
	second := first
	second.Title = "second"
	is(t, w.CreateTaskAs(ctx, "ada", second), retry.ErrStale)
	if got, err := w.GetTask(ctx, "ada", first.ID); err != nil || got != first {
		t.Errorf("got %+v, %v; want %+v", got, err, first)
	}
}

// Ids of users that look like the keys of others' items do not reach those items.
func TestUsersNamespaces(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	users := []string{"ada", "ada#", "ada#METADATA", "#ada", "TASK#ada", "USER#ada", "OWNER#ada", "ADA", "ä|da", "a da"}
	for i, user := range users {
		must.Get(w.CreateUser(ctx, user, todo.UserBody{Email: fmt.Sprintf("user%d@example.com", i), Name: user}))(t)
		for range i + 1 {
			w.task(t, user, todo.TaskBody{Title: user, Priority: todo.Low, Category: "c", DueDate: "2026-01-01"})
		}
	}
	for i, user := range users {
		for _, f := range []todo.TaskFilter{{}, {Status: todo.Pending}, {Priority: todo.Low}, {Category: "c"},
			{Overdue: todo.Yes}} {
			got := w.list(t, user, f)
			if len(got) != i+1 || got[0].Title != user {
				t.Errorf("%q sees %d tasks, want %d: %+v", user, len(got), i+1, got)
			}
		}
	}
	claimed, _ := w.Claim(t, ctx, "ada", "delete")
	complete, err := w.DeleteUser(claimed, "ada")
	if err != nil || !complete {
		t.Fatalf("delete ada: %v, %v", complete, err)
	}
	for i, user := range users[1:] {
		if got := w.list(t, user, todo.TaskFilter{}); len(got) != i+2 {
			t.Errorf("%q has %d tasks after ada is gone, want %d", user, len(got), i+2)
		}
	}
	w.check(t)
}

func second[T any](_ T, err error) error { return err }

func TestSetStatuses(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	w.user(t, "ada")
	var all []string
	for i := range todo.MaxBulkTasks {
		all = append(all, w.task(t, "ada", todo.TaskBody{Priority: todo.Priorities()[i%4]}).ID)
	}
	must.Get(w.ChangeTask(ctx, "ada", all[3], todo.TaskChangeBody{Status: new(todo.Completed)}, 0))(t)
	must.OK(t, w.DeleteTask(ctx, "ada", all[7], 0))
	w.Recorder.Requests()
	result := must.Get(w.SetStatuses(ctx, "ada", all, todo.InProgress))(t)
	if len(result.Changed) != 48 || result.Changed[0] != all[0] || len(result.Failed) != 2 {
		t.Errorf("changed %d, failed %v", len(result.Changed), result.Failed)
	}
	transactions := 0
	for _, request := range w.Recorder.Requests() {
		if request.Action == "TransactWriteItems" {
			transactions++
			t.Logf("48 tasks in a transaction of %.0f WCU", request.Units)
		}
	}
	if transactions != 1 {
		t.Errorf("%d transactions, want 1", transactions)
	}
	if got := w.list(t, "ada", todo.TaskFilter{Status: todo.InProgress}); len(got) != 48 {
		t.Errorf("%d tasks are in progress", len(got))
	}
	w.check(t)
}

func TestDeleteCompleted(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 49, 50, 51, 130} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			ctx, w := t.Context(), newWorld(t)
			w.user(t, "ada")
			for i := range n {
				w.task(t, "ada", todo.TaskBody{Status: todo.Completed, Priority: todo.Priorities()[i%4],
					Category: "c"})
			}
			kept := w.task(t, "ada", todo.TaskBody{Title: "kept"})
			want := n
			if n > 50 {
				// Without time it makes one write, and asks the caller to go on.
				deleted, err := w.DeleteCompleted(worldtest.Leaving(t.Context(), 2*time.Second), "ada")
				fifty := todo.CompletedDeleted{Action: todo.DeleteCompleted, Deleted: 50, More: true}
				if err != nil || deleted != fifty {
					t.Errorf("without time: got %+v, %v", deleted, err)
				}
				want -= deleted.Deleted
			}
			claimed, claim := w.Claim(t, ctx, "ada", "key")
			deleted, err := w.DeleteCompleted(claimed, "ada")
			if err != nil || deleted != (todo.CompletedDeleted{Action: todo.DeleteCompleted, Deleted: want}) {
				t.Errorf("got %+v, %v; want %d", deleted, err, want)
			}
			if _, ok := claim.Kept(); ok != (want > 0) {
				t.Errorf("the answer is kept: %t", ok)
			}
			if got := w.list(t, "ada", todo.TaskFilter{}); len(got) != 1 || got[0] != kept {
				t.Errorf("left are %+v", got)
			}
			w.check(t)
		})
	}
}

// Deleting completed tasks meets changes made at the same moment: what was edited
// goes too, what was deleted meanwhile is not counted.
func TestDeleteCompletedMeetsOthers(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	w.user(t, "ada")
	var all []string
	for range 5 {
		all = append(all, w.task(t, "ada", todo.TaskBody{Status: todo.Completed}).ID)
	}
	other := w.beside(t)
	w.Meanwhile(func() {
		must.Get(other.ChangeTask(ctx, "ada", all[0], todo.TaskChangeBody{Priority: new(todo.High)}, 0))(t)
		must.OK(t, other.DeleteTask(ctx, "ada", all[1], 0))
	})
	deleted, err := w.DeleteCompleted(ctx, "ada")
	if err != nil || deleted != (todo.CompletedDeleted{Action: todo.DeleteCompleted, Deleted: 4}) {
		t.Errorf("got %+v, %v; want 4", deleted, err)
	}
	w.check(t)
}
