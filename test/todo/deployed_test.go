package todo

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// The deployed stack passes every change on through the stream of its table: into the
// lake, where Athena finds it, and to the eraser. Tests of local runs look closer.
func TestStreamAsDeployed(t *testing.T) {
	t.Parallel()
	on := suite.Shared(t)
	if on.Run != nil {
		t.Skip("skipped in a local run: the tests of lake and deletion look closer")
	}
	one := newUser(t, on)
	kept, dropped := platform.Post(t, one, todo.CreateTask, todo.TaskBody{Title: "Kept", Category: "home"}),
		platform.Post(t, one, todo.CreateTask, todo.TaskBody{Title: "Gone"})
	onesynthtest.Call(t, one, todo.ChangeTask, todo.TaskParams{ID: kept.ID},
		todo.TaskChangeBody{Status: new(todo.InProgress)})
	platform.Call(t, one, todo.DeleteTask, todo.TaskParams{ID: dropped.ID})
	want := [][]string{
		{"INSERT", "Gone", "pending"}, {"INSERT", "Kept", "pending"}, {"MODIFY", "Kept", "in_progress"},
		{"REMOVE", "Gone", "pending"},
	}
	// A stream may deliver a change twice, and the table then has it twice.
	changes := fmt.Sprintf(
		`SELECT DISTINCT event_name, title, status, sequence_number FROM task_changes WHERE user_id = '%s'`, one.ID)
	var got [][]string
	landed := time.Now().Add(2 * time.Minute) // the batching window of the lake's writer
	wait.Until(t, "all changes are in the lake", func() (any, bool) {
		rows := must.Get(on.QueryLake(t.Context(), changes))(t)
		got = nil
		for _, row := range rows {
			got = append(got, row[:3])
		}
		return fmt.Sprint(got, max(0, time.Until(landed).Truncate(10*time.Second))), len(got) >= len(want)
	})
	slices.SortFunc(got, slices.Compare)
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got changes %q; want %q", got, want)
	}
	if !on.Emulated() { // by MiniStack, whose Athena knows the tables of its Glue catalog, and not the views
		view := must.Get(on.QueryLake(t.Context(), fmt.Sprintf(
			`SELECT title, status, category FROM tasks_current WHERE user_id = '%s'`, one.ID)))(t)
		if got := fmt.Sprint(view); got != "[[Kept in_progress home]]" {
			t.Errorf("got current tasks %s; want the kept one in progress", got)
		}
	}

	platform.Call(t, one, todo.DeleteUser, schema.None{})
	var left []map[string]any
	wait.Until(t, "the user is erased", func() (any, bool) {
		left = leftOf(t, on, one.ID)
		return left, len(left) == 0
	})
}
