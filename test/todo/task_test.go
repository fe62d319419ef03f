package todo

import (
	"fmt"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// A user signs up, keeps a task until it is done, and leaves.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	on := suite.Shared(t)
	one := newCaller(t, on)
	gone(t, one)
	joined := join(t, one)
	if me := joined.Value; me.Email != one.Email || me.Name != "Ann" || on.Run != nil && me.ID != one.ID ||
		joined.Header.Get("Location") != "/api/v1/users/me" {
		t.Errorf("got %v; want the user as given", joined)
	}
	given := todo.TaskBody{Title: "Water the plants", Description: "All but the cactus 🌵.", Priority: todo.High,
		Category: "home#50%", DueDate: "2026-02-14"}
	made := onesynthtest.Call(t, one, todo.CreateTask, schema.None{}, given)
	task := made.Value
	if given.Apply(task) != task || task.Status != todo.Pending || made.Header.Get("ETag") != `"1"` ||
		made.Header.Get("Location") != "/api/v1/tasks/"+task.ID {
		t.Errorf("got %v %v; want the task as given, with location and ETag", made, made.Header)
	}
	done := onesynthtest.Call(t, one, todo.ChangeTask, todo.TaskParams{ID: task.ID},
		todo.TaskChangeBody{Status: new(todo.Completed)}).Value
	if got := platform.Call(t, one, todo.ReadTask, todo.TaskParams{ID: task.ID}); got != done ||
		done.CompletedAt == 0 || done.Version != 2 {
		t.Errorf("got %+v; want the task completed, %+v", got, done)
	}
	for _, sort := range []todo.Sort{todo.ByStatus, todo.ByDueDate, todo.ByPriority, todo.ByCategory} {
		listed := func() (any, bool) {
			got := platform.Call(t, one, todo.ListTasks, todo.TaskFilter{Sort: sort}).Tasks
			return got, len(got) == 1 && got[0] == done
		}
		// On AWS the indexes follow the table within a moment, and in a local run at once.
		if on.Run == nil {
			wait.Until(t, fmt.Sprintf("the index of %s follows", sort), listed)
		} else if got, ok := listed(); !ok {
			t.Errorf("the list by %s has %+v, not the task as it is", sort, got)
		}
	}
	if got := platform.Call(t, one, todo.ReadStats, schema.None{}); got.ByStatus.Completed != 1 ||
		got.ByPriority.High != 1 || got.Total != 1 {
		t.Errorf("got %+v; want one task", got)
	}
	platform.Call(t, one, todo.DeleteTask, todo.TaskParams{ID: task.ID})
	platform.Call(t, one, todo.DeleteUser, schema.None{})
	gone(t, one)
}
