package todo_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Every change of a task and of a user keeps what a team has added to them, also when the team's function writes
// between the reading and the writing of a change. Tasks and users have it where they are read, and a user's deletion
// leaves nothing of it.
func TestWritesKeepExtra(t *testing.T) {
	t.Parallel()
	ctx := context.WithoutCancel(t.Context())
	platform := dynamotest.Extended(todo.Platform()).Join(schema.Own{
		AccessPatterns: []schema.AccessPattern{
			schema.UpdateItem.Pattern("SetExtra", "AppData", "Set what is added.").UsedBy(dynamotest.Team)},
		Functions: []schema.Function{{Name: dynamotest.Team}},
	})
	w := &world{World: worldtest.New(t, platform, start)}
	w.Service = &service.Service{DB: w.As(t, "todoapi"), CursorKey: cursorKey, Clock: w.Now}
	w.user(t, "ann")
	task := w.task(t, "ann", todo.TaskBody{Title: "first", Category: "home"})
	taskKey, userKey := []string{"TASK#ann", "TASK#" + task.ID}, []string{"USER#ann", "METADATA"}

	added := ""
	for _, change := range []func() error{
		func() error {
			_, err := w.ReplaceTask(ctx, "ann", task.ID, todo.TaskBody{Title: "second"}, 0)
			return err
		},
		func() error {
			_, err := w.ChangeTask(ctx, "ann", task.ID, todo.TaskChangeBody{Title: new("third")}, 0)
			return err
		},
		func() error {
			_, err := w.SetStatuses(ctx, "ann", []string{task.ID}, todo.InProgress)
			return err
		},
	} {
		added = w.KeepsExtra(t, platform, "Task", taskKey, change)
	}
	w.KeepsExtra(t, platform, "User", userKey, func() error {
		_, err := w.UpdateUser(ctx, "ann", todo.UserBody{Email: "ann@example.com", Name: "Ann the second"})
		return err
	})
	want := `{"added_task":"` + added + `"}`
	if got, err := w.GetTask(ctx, "ann", task.ID); err != nil || string(got.Extra) != want {
		t.Errorf("the task has %s, %v, want %s", got.Extra, err, want)
	}
	if listed := w.list(t, "ann", todo.TaskFilter{Status: todo.InProgress}); len(listed) != 1 ||
		string(listed[0].Extra) != want || listed[0].Category != "" {
		t.Errorf("the list has %+v, want what was added, and no category: the task was replaced without", listed)
	}
	if got, err := w.GetUser(ctx, "ann"); err != nil || got.Name != "Ann the second" || got.Extra == "" {
		t.Errorf("the user is %+v, %v, want the new name and what was added", got, err)
	}

	if complete, err := w.DeleteUser(ctx, "ann"); !complete || err != nil {
		t.Fatal(complete, err)
	}
	late := expression.Set(dynamo.Name("added_task"), expression.Value("late"))
	written, err := dynamo.Satisfied(w.As(t, dynamotest.Team).Update(ctx, "SetExtra",
		[]any{taskKey[0], taskKey[1]}, late, expression.ConditionBuilder{}, nil))
	if written || err != nil {
		t.Errorf("a late write made an item of a deleted user: %t, %v", written, err)
	}
	if left := w.Items(t, "AppData"); len(left) > 0 {
		t.Errorf("the deletion left %v", left)
	}
}
