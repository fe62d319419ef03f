package todo_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/eventbus"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/eventbus/eventbustest"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// TestEventSchemas compares the schemas of the events with those that receivers read.
func TestEventSchemas(t *testing.T) {
	t.Parallel()
	eventbustest.CheckSchemas(t, todo.Platform(), "../../docs/events/todo")
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
		records := eventbustest.Stream(t, h.world.tables, "AppData")
		r.Repeat(rapid.StateMachineActions(h))
		unfinished := map[string]bool{}
		for _, user := range everyone {
			if deletion, ok := h.world.deletion(t, user); ok {
				unfinished[deletion.ID] = true
			}
		}
		h.Erase(r)

		bus := eventbustest.NewBus(t, todo.Platform())
		refused := map[string]bool{}
		bus.Refuse = func(e eventbustest.Event) string {
			if fresh := !refused[e.ID()]; fresh && rapid.IntRange(0, 9).Draw(r, "refuse") == 0 {
				refused[e.ID()] = true
				return "ThrottlingException"
			}
			return ""
		}
		publisher := eventbustest.NewPublisher(todo.Platform(), bus, service.Happened, eventbus.Pass{
			"eraser": func(change eventbus.Change) bool {
				_, deletion := service.DeletionOf(change.DynamoDBStreamRecord)
				return deletion
			}})
		sizes := rapid.SliceOfN(rapid.IntRange(1, 40), 1, 4).Draw(r, "sizes of batches")
		all := records()
		for range 2 { // the second time is a repeat of everything
			if left := eventbustest.Deliver(t, publisher, all, 10_000, sizes...); left != 0 {
				r.Fatalf("%d records are left", left)
			}
		}
		if failures := publisher.Failures.Failures(); len(failures) > 0 {
			r.Fatalf("gave up %v", failures)
		}
		if diff := cmp.Diff(inOrder(h.want), inOrder(told(r, bus.Events()))); diff != "" {
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
	records := eventbustest.Stream(t, w.tables, "AppData")
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
	bus := eventbustest.NewBus(t, todo.Platform())
	publisher := eventbustest.NewPublisher(todo.Platform(), bus, service.Happened, nil)
	eventbustest.Deliver(t, publisher, records(), 1, 100)
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

// told are the events, each once. Versions of a task rise with those of its item.
func told(r *rapid.T, events []eventbustest.Event) (lines []string) {
	texts, versions := map[string]string{}, map[string]map[string]float64{}
	for _, e := range events {
		var fields struct {
			ItemVersion string `json:"item_version"`
			User        string `json:"user_id"`
			Task        string `json:"task_id"`
			Version     float64
			Status      todo.Status
			Title       string
		}
		if err := json.Unmarshal([]byte(e.Detail), &fields); err != nil {
			r.Fatal(err)
		}
		text, known := texts[e.ID()]
		if known && text != e.DetailType+e.Detail {
			r.Fatalf("a repeat differs:\n%s\n%s", text, e.DetailType+e.Detail)
		}
		texts[e.ID()] = e.DetailType + e.Detail
		if known {
			continue
		}
		lines = append(lines, line(e.DetailType, fields.User, fields.Task, int(fields.Version), fields.Status, fields.Title))
		if versions[fields.Task] == nil {
			versions[fields.Task] = map[string]float64{}
		}
		versions[fields.Task][fields.ItemVersion] = fields.Version
	}
	delete(versions, "") // events of users
	for task, of := range versions {
		last := 0.0
		for _, item := range slices.Sorted(maps.Keys(of)) {
			if of[item] < last {
				r.Fatalf("versions of %s by the versions of its item: %v", task, of)
			}
			last = of[item]
		}
	}
	return lines
}

func inOrder(lines []string) []string {
	slices.Sort(lines)
	return lines
}
