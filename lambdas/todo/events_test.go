package todo_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/events"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/events/eventstest"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// TestEventSchemas compares the schemas of the events with those that receivers read.
func TestEventSchemas(t *testing.T) {
	t.Parallel()
	eventstest.CheckSchemas(t, todo.Platform(), "../../docs/reference/events/todo")
}

// telling is a history that notes what its events have to be, by the model alone.
type telling struct {
	*history
	users map[string]bool
	tasks map[string]map[string]todo.Task
	want  []string
}

// line is what an event says.
func line(name, user, id string, version int, status todo.Status, title string) string {
	return fmt.Sprint(name, " ", user, " ", id, " ", version, " ", status, " ", title)
}

// Check notes what the last step has changed.
func (h *telling) Check(*rapid.T) {
	for _, user := range everyone {
		if h.users[user] && !h.model.isUser(user) {
			h.want = append(h.want, line(todo.UserDeleted, user, "", 0, "", ""))
		}
		h.users[user] = h.model.isUser(user)
		before, after := h.tasks[user], h.model.tasks[user]
		for id, task := range before {
			if _, left := after[id]; !left {
				h.want = append(h.want, line(todo.TaskDeleted, user, id, task.Version, task.Status, ""))
			}
		}
		for id, task := range after {
			old, known := before[id]
			name := todo.TaskCreated
			if known {
				name = todo.TaskChanged
			}
			if old == task {
				continue
			}
			h.want = append(h.want, line(name, user, id, task.Version, task.Status, task.Title))
			if task.Status == todo.Completed && old.Status != todo.Completed {
				h.want = append(h.want, line(todo.TaskCompleted, user, id, task.Version, task.Status, task.Title))
			}
		}
		h.tasks[user] = maps.Clone(after)
	}
}

// A history yields exactly its events, however its changes are cut into batches, and whatever the bus refuses, with one
// id for all repeats. What the eraser has to finish is passed on to it.
func TestHistoriesYieldTheirEvents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		h := &telling{history: &history{t: t, world: newWorld(t), model: newModel()}, users: map[string]bool{},
			tasks: map[string]map[string]todo.Task{}}
		records := eventstest.Stream(t, todo.Platform(), h.world.tables, "AppData")
		r.Repeat(rapid.StateMachineActions(h))
		unfinished := map[string]bool{}
		for _, user := range everyone {
			if deletion, ok := h.world.deletion(t, user); ok {
				unfinished[deletion.ID] = true
			}
		}
		h.Erase(r)

		bus := eventstest.NewBus(t, todo.Platform())
		publisher := eventstest.NewPublisher(todo.Platform(), bus, service.Happened, events.Pass{
			"eraser": func(change events.Change) bool {
				_, deletion := service.DeletionOf(change.DynamoDBStreamRecord)
				return deletion
			}})
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
		got := told(t, publisher.Tell(t, bus, random, records()))
		if diff := cmp.Diff(inOrder(h.want), inOrder(got)); diff != "" {
			r.Fatalf("- want, + got:\n%s", diff)
		}
		for _, change := range publisher.Passed["eraser"].Event(t).Changes() {
			deletion, _ := service.DeletionOf(change)
			delete(unfinished, deletion.ID)
		}
		if len(unfinished) > 0 {
			r.Fatalf("the eraser does not get the deletions %v", unfinished)
		}
	})
}

// Each operation has its events, in the order of its changes: a completed task that changes is not completed again, and
// what does not change a task or end a user has none.
func TestEventsOfOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	records := eventstest.Stream(t, todo.Platform(), w.tables, "AppData")
	w.user(t, "ada")
	task := w.task(t, "ada", todo.TaskBody{Title: "done", Status: todo.Completed})
	for _, title := range []string{"<done>", "<done>"} { // the second time changes nothing
		if _, err := w.ChangeTask(t.Context(), "ada", task.ID, todo.TaskChangeBody{Title: &title}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.UpdateUser(t.Context(), "ada", todo.UserBody{Email: "b@example.com", Name: "Ada"}); err != nil {
		t.Fatal(err)
	}
	if complete, err := w.DeleteUser(t.Context(), "ada"); err != nil || !complete {
		t.Fatalf("delete the user: %t, %v", complete, err)
	}
	bus := eventstest.NewBus(t, todo.Platform())
	publisher := eventstest.NewPublisher(todo.Platform(), bus, service.Happened, nil)
	publisher.Deliver(t, records(), 100)
	var got []string
	for _, e := range bus.Events() {
		got = append(got, fmt.Sprint(e.DetailType, " ", e.Fields()["version"], " ", e.Fields()["title"]))
	}
	want := []string{"TaskCreated 1 done", "TaskCompleted 1 done", "TaskChanged 2 <done>", "TaskDeleted 2 <nil>",
		"UserDeleted <nil> <nil>"}
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}

// told are the events as lines. Versions of a task rise with those of its item.
func told(t *testing.T, events []eventstest.Event) (lines []string) {
	t.Helper()
	versions := map[string]int{}
	for _, e := range events {
		var fields struct {
			User    string `json:"user_id"`
			Task    string `json:"task_id"`
			Version int
			Status  todo.Status
			Title   string
		}
		if err := json.Unmarshal([]byte(e.Detail), &fields); err != nil {
			t.Fatal(err)
		}
		if fields.Version < versions[fields.Task] {
			t.Errorf("%s of version %d comes after version %d", e.DetailType, fields.Version, versions[fields.Task])
		}
		versions[fields.Task] = fields.Version
		lines = append(lines, line(e.DetailType, fields.User, fields.Task, fields.Version, fields.Status, fields.Title))
	}
	return lines
}

func inOrder(lines []string) []string {
	slices.Sort(lines)
	return lines
}
