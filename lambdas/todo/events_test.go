package todo_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/triggertest"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// TestEventSchemas compares the schemas of the events with those that receivers read.
func TestEventSchemas(t *testing.T) {
	t.Parallel()
	triggertest.CheckSchemas(t, todo.Platform(), "../../docs/reference/events/todo")
}

// Each operation has its events: a completed task that changes is not completed again, and what does not change a task
// or end a user has none.
func TestEventsOfOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	records := triggertest.Stream(t, todo.Platform(), w.tables, "AppData")
	w.user(t, "ada")
	done := w.task(t, "ada", todo.TaskBody{Title: "done", Status: todo.Completed})
	open := w.task(t, "ada", todo.TaskBody{Title: "open"})
	for range 2 { // the second time changes nothing
		w.changed(t, done.ID, todo.TaskChangeBody{Title: new("<done>")})
		w.changed(t, open.ID, todo.TaskChangeBody{Status: new(todo.InProgress)})
	}
	must(t, second(w.SetStatuses(t.Context(), "ada", []string{open.ID, done.ID}, todo.Completed)))
	must(t, w.DeleteTask(t.Context(), "ada", open.ID, 0))
	must(t, second(w.UpdateUser(t.Context(), "ada", todo.UserBody{Email: "b@example.com", Name: "Ada"})))
	if complete, err := w.DeleteUser(t.Context(), "ada"); err != nil || !complete {
		t.Fatalf("delete the user: %t, %v", complete, err)
	}
	got := triggertest.Lines(t, todo.Platform(), service.EventsOf, records(), "user_id", "task_id", "version",
		"status", "title")
	want := []string{
		fmt.Sprintln("TaskCreated ada", done.ID, "1 completed done"),
		fmt.Sprintln("TaskCompleted ada", done.ID, "1 completed done"),
		fmt.Sprintln("TaskChanged ada", done.ID, "2 completed <done>"),
		fmt.Sprintln("TaskDeleted ada", done.ID, "2 completed <nil>"),
		fmt.Sprintln("TaskCreated ada", open.ID, "1 pending open"),
		fmt.Sprintln("TaskChanged ada", open.ID, "2 in_progress open"),
		fmt.Sprintln("TaskChanged ada", open.ID, "3 completed open"),
		fmt.Sprintln("TaskCompleted ada", open.ID, "3 completed open"),
		fmt.Sprintln("TaskDeleted ada", open.ID, "3 completed <nil>"),
		"UserDeleted ada <nil> <nil> <nil> <nil>\n",
	}
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}

// A deletion is in the new image of a user's counts alone.
func TestDeletionOf(t *testing.T) {
	t.Parallel()
	for partition, images := range map[string]map[string]bool{
		"COUNTS#b#ob": {`{"deletion":{"S":"id"},"pending":{"N":"3"}}`: true, `{"pending":{"N":"3"}}`: false,
			`{"deletion":{"N":"1"}}`: false, `{"deletion":{"S":""}}`: false, `{}`: false},
		"TASK#b#ob": {`{"deletion":{"S":"id"}}`: false},
	} {
		for image, want := range images {
			var change events.DynamoDBStreamRecord
			must(t, json.Unmarshal(fmt.Appendf(nil, `{"Keys":{"PK":{"S":%q}},"OldImage":{"deletion":{"S":"old"}},
				"NewImage":%s}`, partition, image), &change))
			deletion, ok := service.DeletionOf(change)
			if ok != want || ok && deletion != (service.Deletion{User: "b#ob", ID: "id"}) {
				t.Errorf("%s %s: got %+v, %t", partition, image, deletion, ok)
			}
		}
	}
}
