package todo_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/problem"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Every field is set, changed and cleared, by PUT and by PATCH, and after each step
// each index has the task under the keys of what it is now, or not at all: no stale
// key stays, and no key of an absent attribute makes a sparse index dense.
func TestIndexesFollowEveryChange(t *testing.T) {
	t.Parallel()
	full := todo.TaskBody{Title: "full", Description: "d", Status: todo.InProgress, Priority: todo.High,
		Category: "work", DueDate: "2026-04-01"}
	steps := []struct {
		name    string
		replace *todo.TaskBody
		change  todo.TaskChangeBody
		want    todo.TaskBody
	}{
		{name: "PUT everything", replace: &full, want: full},
		{name: "PATCH status", change: todo.TaskChangeBody{Status: new(todo.Cancelled)},
			want: todo.TaskBody{Title: "full", Description: "d", Status: todo.Cancelled, Priority: todo.High,
				Category: "work", DueDate: "2026-04-01"}},
		{name: "PATCH date", change: todo.TaskChangeBody{DueDate: new(todo.Date("2027-01-31"))},
			want: todo.TaskBody{Title: "full", Description: "d", Status: todo.Cancelled, Priority: todo.High,
				Category: "work", DueDate: "2027-01-31"}},
		{name: "PATCH priority and category", change: todo.TaskChangeBody{Priority: new(todo.Low),
			Category: new(todo.Text("50%#home#"))},
			want: todo.TaskBody{Title: "full", Description: "d", Status: todo.Cancelled, Priority: todo.Low,
				Category: "50%#home#", DueDate: "2027-01-31"}},
		{name: "PATCH clears", change: todo.TaskChangeBody{Description: new(todo.Text("")),
			Priority: new(todo.NoPriority), Category: new(todo.Text("")), DueDate: new(todo.Date(""))},
			want: todo.TaskBody{Title: "full", Status: todo.Cancelled}},
		{name: "PATCH title", change: todo.TaskChangeBody{Title: new("☃ new")},
			want: todo.TaskBody{Title: "☃ new", Status: todo.Cancelled}},
		{name: "PUT everything again", replace: &full, want: full},
		{name: "PUT clears, status stays", replace: &todo.TaskBody{Title: "bare"},
			want: todo.TaskBody{Title: "bare", Status: todo.InProgress}},
		{name: "PUT completes", replace: &todo.TaskBody{Title: "bare", Status: todo.Completed},
			want: todo.TaskBody{Title: "bare", Status: todo.Completed}},
	}
	w := newWorld(t)
	w.user(t, "ada")
	task := w.task(t, "ada", todo.TaskBody{Title: "bare"})
	for i, step := range steps {
		w.advance(time.Hour)
		before := task
		var err error
		if step.replace != nil {
			task, err = w.ReplaceTask(t.Context(), "ada", task.ID, *step.replace, 0)
		} else {
			task, err = w.ChangeTask(t.Context(), "ada", task.ID, step.change, 0)
		}
		must(t, err)
		got := todo.TaskBody{Title: task.Title, Description: task.Description, Status: task.Status,
			Priority: task.Priority, Category: task.Category, DueDate: task.DueDate}
		if got != step.want || task.Version != i+2 || task.UpdatedAt != todo.At(w.now) ||
			task.CreatedAt != before.CreatedAt {
			t.Errorf("%s: got %+v, want %+v", step.name, task, step.want)
		}
		if read, err := w.GetTask(t.Context(), "ada", task.ID); err != nil || read != task {
			t.Errorf("%s: reads %+v, %v; want %+v", step.name, read, err, task)
		}
		for _, finding := range w.disagreements(t) {
			t.Errorf("%s: %s", step.name, finding)
		}
	}
}

// completed_at is the moment of completion, by every way to complete a task, and
// stays through later changes of other fields.
func TestCompletedAt(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	w.user(t, "ada")
	pending := w.task(t, "ada", todo.TaskBody{})
	complete := map[string]func() string{
		"PATCH":  func() string { return w.changed(t, pending.ID, todo.TaskChangeBody{Status: new(todo.Completed)}) },
		"create": func() string { return w.task(t, "ada", todo.TaskBody{Status: todo.Completed}).ID },
		"bulk": func() string {
			task := w.task(t, "ada", todo.TaskBody{Status: todo.Cancelled})
			_, err := w.SetStatuses(ctx, "ada", []string{task.ID}, todo.Completed)
			must(t, err)
			return task.ID
		},
	}
	for name, do := range complete {
		w.advance(time.Minute)
		at := w.now
		id := do()
		w.advance(time.Minute)
		w.changed(t, id, todo.TaskChangeBody{Title: new("later"), Status: new(todo.Completed)})
		task, err := w.GetTask(ctx, "ada", id)
		if err != nil || task.CompletedAt != todo.At(at) || task.UpdatedAt != todo.At(w.now) || task.Title != "later" {
			t.Errorf("%s: got %+v, %v; want it completed at %v", name, task, err, at)
		}
		for _, status := range []todo.Status{todo.Pending, todo.InProgress, todo.Cancelled} {
			_, err := w.ChangeTask(ctx, "ada", id, todo.TaskChangeBody{Status: &status}, 0)
			is(t, err, todo.ErrTaskCompleted)
			_, err = w.ReplaceTask(ctx, "ada", id, todo.TaskBody{Title: "x", Status: status}, 0)
			is(t, err, todo.ErrTaskCompleted)
			result, err := w.SetStatuses(ctx, "ada", []string{id}, status)
			must(t, err)
			refused(t, result, id, todo.ErrTaskCompleted)
		}
	}
	reopened := w.task(t, "ada", todo.TaskBody{Status: todo.Cancelled})
	w.changed(t, reopened.ID, todo.TaskChangeBody{Status: new(todo.Pending)})
	w.check(t)
}

func (w *world) changed(t testing.TB, id string, c todo.TaskChangeBody) string {
	t.Helper()
	_, err := w.ChangeTask(t.Context(), "ada", id, c, 0)
	must(t, err)
	return id
}

// A change that changes nothing writes nothing.
func TestNoChange(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	w.user(t, "ada")
	in := todo.TaskBody{Title: "t", Description: "d", Status: todo.Completed, Priority: todo.Urgent, Category: "c",
		DueDate: "2026-01-01"}
	task := w.task(t, "ada", in)
	w.advance(time.Hour)
	w.tables.Recorder.Requests()
	for name, do := range map[string]func() (todo.Task, error){
		"PUT": func() (todo.Task, error) { return w.ReplaceTask(ctx, "ada", task.ID, in, 1) },
		"PATCH": func() (todo.Task, error) {
			return w.ChangeTask(ctx, "ada", task.ID, todo.TaskChangeBody{Title: &in.Title}, 1)
		},
		"empty PATCH": func() (todo.Task, error) { return w.ChangeTask(ctx, "ada", task.ID, todo.TaskChangeBody{}, 0) },
		"bulk": func() (todo.Task, error) {
			result, err := w.SetStatuses(ctx, "ada", []string{task.ID}, todo.Completed)
			if len(result.Changed) != 1 || len(result.Failed) != 0 {
				t.Errorf("bulk: got %+v", result)
			}
			return task, err
		},
		"user": func() (todo.Task, error) {
			_, err := w.UpdateUser(ctx, "ada", todo.UserBody{Email: "ada@example.com", Name: "ada"})
			return task, err
		},
	} {
		if got, err := do(); err != nil || got != task {
			t.Errorf("%s: got %+v, %v; want %+v", name, got, err, task)
		}
	}
	for _, request := range w.tables.Recorder.Requests() {
		if request.Operation == "TransactWriteItems" {
			t.Errorf("made %+v", request)
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
	// The service takes another id.
	w.tables.Wire.Answers(canceledOnce("ConditionalCheckFailed"))
	if third := w.task(t, "ada", todo.TaskBody{}); third.ID == first.ID {
		t.Error("the same id again")
	}
	seen := map[string]bool{}
	for range 200 {
		id := w.task(t, "ada", todo.TaskBody{}).ID // all in the same millisecond
		if seen[id] {
			t.Fatalf("%s came twice", id)
		}
		seen[id] = true
	}
	w.check(t)
}

// A task that does not exist, or is another user's, is not found by any way to reach it, and
// is not touched.
func TestMissingAndForeignTasks(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	w.user(t, "ada")
	w.user(t, "bob")
	adas := w.task(t, "ada", todo.TaskBody{Title: "ada's", Category: "c", Priority: todo.Low, DueDate: "2026-01-01"})
	for _, id := range []string{
		adas.ID, "019d0000-0000-7000-8000-000000000000", "", "x", strings.ToUpper(adas.ID), "{" + adas.ID + "}",
		strings.Repeat("a", 3000), "\x00", "TASK#" + adas.ID,
	} {
		_, err := w.GetTask(ctx, "bob", id)
		is(t, err, todo.ErrTaskNotFound)
		_, err = w.ReplaceTask(ctx, "bob", id, todo.TaskBody{Title: "x"}, 0)
		is(t, err, todo.ErrTaskNotFound)
		_, err = w.ReplaceTask(ctx, "bob", id, todo.TaskBody{Title: "x"}, 1)
		is(t, err, todo.ErrTaskNotFound)
		_, err = w.ChangeTask(ctx, "bob", id, todo.TaskChangeBody{Title: new("x")}, 0)
		is(t, err, todo.ErrTaskNotFound)
		is(t, w.DeleteTask(ctx, "bob", id, 0), todo.ErrTaskNotFound)
		result, err := w.SetStatuses(ctx, "bob", []string{id}, todo.Completed)
		must(t, err)
		refused(t, result, id, todo.ErrTaskNotFound)
	}
	if got, err := w.GetTask(ctx, "ada", adas.ID); err != nil || got != adas {
		t.Errorf("ada's task is now %+v, %v", got, err)
	}
	for _, f := range []todo.TaskFilter{{}, {Status: todo.Pending}, {Priority: todo.Low}, {Category: "c"},
		{DueTo: "2027-01-01"}, {Overdue: todo.Yes}, {Search: "ada"}} {
		if got := w.list(t, "bob", f); len(got) != 0 {
			t.Errorf("bob sees %+v with %+v", got, f)
		}
		if got := w.list(t, "ada", f); len(got) != 1 {
			t.Errorf("ada sees %+v with %+v", got, f)
		}
	}
}

// Ids of users that look like the keys of others' items do not reach those items.
func TestUsersNamespaces(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	users := []string{"ada", "ada#", "ada#METADATA", "#ada", "TASK#ada", "USER#ada", "OWNER#ada", "ADA", "ä|da", "a da"}
	for i, user := range users {
		_, err := w.CreateUser(ctx, user, todo.UserBody{Email: fmt.Sprintf("user%d@example.com", i), Name: user})
		must(t, err)
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
	claimed, _ := w.claimed(t, ctx, "ada", "delete")
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

func TestStats(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(t, "ada")
	w.task(t, "ada", todo.TaskBody{})
	w.task(t, "ada", todo.TaskBody{Status: todo.Cancelled, Priority: todo.Urgent})
	w.task(t, "ada", todo.TaskBody{Status: todo.Completed, Priority: todo.Urgent})
	got, err := w.Stats(t.Context(), "ada")
	must(t, err)
	want := todo.Stats{
		ByStatus:   todo.StatusCounts{Pending: 1, Cancelled: 1, Completed: 1},
		ByPriority: todo.PriorityCounts{None: 1, Urgent: 2}, Total: 3,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}

// A version lets an update or delete succeed only on what the caller has seen.
func TestVersions(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), newWorld(t)
	w.user(t, "ada")
	task := w.task(t, "ada", todo.TaskBody{})
	w.changed(t, task.ID, todo.TaskChangeBody{Title: new("second")})
	for _, version := range []int{1, 3, 99} {
		for name, err := range map[string]error{
			"PUT": second(w.ReplaceTask(ctx, "ada", task.ID, todo.TaskBody{Title: "x"}, version)),
			// This is so even if it would change nothing, or would be refused.
			"PATCH":  second(w.ChangeTask(ctx, "ada", task.ID, todo.TaskChangeBody{Title: new("second")}, version)),
			"DELETE": w.DeleteTask(ctx, "ada", task.ID, version),
		} {
			if got, ok := err.(*problem.VersionError); !ok || got.Current != 2 {
				t.Errorf("%s of version %d: got %v", name, version, err)
			}
		}
	}
	if _, err := w.ReplaceTask(ctx, "ada", task.ID, todo.TaskBody{Title: "third"}, 2); err != nil {
		t.Error(err)
	}
	must(t, w.DeleteTask(ctx, "ada", task.ID, 3))
	is(t, w.DeleteTask(ctx, "ada", task.ID, 3), todo.ErrTaskNotFound)
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
	w.changed(t, all[3], todo.TaskChangeBody{Status: new(todo.Completed)})
	must(t, w.DeleteTask(ctx, "ada", all[7], 0))
	w.tables.Recorder.Requests()
	result, err := w.SetStatuses(ctx, "ada", all, todo.InProgress)
	must(t, err)
	if len(result.Changed) != 48 || result.Changed[0] != all[0] || len(result.Failed) != 2 {
		t.Errorf("changed %d, failed %v", len(result.Changed), result.Failed)
	}
	refused(t, result, all[3], todo.ErrTaskCompleted)
	refused(t, result, all[7], todo.ErrTaskNotFound)
	transactions := 0
	for _, request := range w.tables.Recorder.Requests() {
		if request.Operation == "TransactWriteItems" {
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
				deleted, err := w.DeleteCompleted(hurried{t.Context()}, "ada")
				fifty := todo.CompletedDeleted{Action: todo.DeleteCompleted, Deleted: 50, More: true}
				if err != nil || deleted != fifty {
					t.Errorf("without time: got %+v, %v", deleted, err)
				}
				want -= deleted.Deleted
			}
			claimed, claim := w.claimed(t, ctx, "ada", "key")
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
	other := &service.Service{DB: w.withoutFaults(t, "todoapi"), CursorKey: cursorKey}
	done := false
	w.tables.Recorder.Faults(func(operation schema.Operation) error {
		if operation == "TransactWriteItems" && !done {
			done = true
			must(t, second(other.ChangeTask(ctx, "ada", all[0], todo.TaskChangeBody{Priority: new(todo.High)}, 0)))
			must(t, other.DeleteTask(ctx, "ada", all[1], 0))
		}
		return nil
	}, nil)
	deleted, err := w.DeleteCompleted(ctx, "ada")
	if err != nil || deleted != (todo.CompletedDeleted{Action: todo.DeleteCompleted, Deleted: 4}) {
		t.Errorf("got %+v, %v; want 4", deleted, err)
	}
	w.check(t)
}
