package todo_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/worldtest"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/todotest"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

var (
	start     = time.Date(2026, 3, 28, 22, 30, 0, 0, time.UTC)
	cursorKey = []byte("a secret of thirty-two bytes....")
)

// world is the service on an empty table of its own.
type world struct {
	*service.Service
	*worldtest.World
	eraser *service.Service // as eraser has it; the other one as todoapi has it
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{World: worldtest.New(t, todo.Platform(), start)}
	w.eraser = &service.Service{DB: w.As(t, "eraser"), Clock: w.Now}
	w.Service = &service.Service{DB: w.As(t, "todoapi"), CursorKey: cursorKey, Clock: w.Now}
	w.IdempotencyKeys = service.Keys(w.Service.DB)
	w.IdempotencyKeys.Clock = w.Now
	return w
}

// beside returns a second service over the same tables. It stands for another process.
func (w *world) beside(t testing.TB) *service.Service {
	t.Helper()
	return &service.Service{DB: w.Beside(t, "todoapi"), CursorKey: cursorKey, Clock: w.Now}
}

// user registers one.
func (w *world) user(t testing.TB, id string) {
	t.Helper()
	must.Get(w.CreateUser(t.Context(), id, todo.UserBody{Email: id + "@example.com", Name: id}))(t)
}

// task creates one.
func (w *world) task(t testing.TB, user string, in todo.TaskBody) todo.Task {
	t.Helper()
	if in.Title == "" {
		in.Title = "a task"
	}
	return must.Get(w.CreateTask(t.Context(), user, in))(t)
}

// list reads all pages of a list.
func (w *world) list(t testing.TB, user string, f todo.TaskFilter) []todo.Task {
	t.Helper()
	return dynamotest.Pages(t, func(from string) ([]todo.Task, string, error) {
		f.Cursor = todo.Text(from)
		page, err := w.ListTasks(t.Context(), user, f)
		return page.Tasks, string(page.Next), err
	})
}

func ids(tasks []todo.Task) []string {
	var all []string
	for _, task := range tasks {
		all = append(all, task.ID)
	}
	return all
}

// is fails the test unless the error is the wanted one; nil means none.
func is(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) || (want == nil) != (err == nil) {
		t.Errorf("got error %v, want %v", err, want)
	}
}

// disagreements are those of all stored items with each other.
func (w *world) disagreements(t testing.TB) []string {
	t.Helper()
	return todotest.Disagreements(w.Items(t, "AppData"))
}

func (w *world) check(t testing.TB) {
	t.Helper()
	for _, finding := range w.disagreements(t) {
		t.Error(finding)
	}
}

// left is what is stored of a user, the keys alone.
func (w *world) left(t testing.TB, user string) []string {
	t.Helper()
	var keys []string
	for _, item := range w.Items(t, "AppData") {
		_, owner, _ := strings.Cut(item["PK"].(string), "#")
		if owner == user || item["user_id"] == user {
			keys = append(keys, fmt.Sprint(item["PK"], " ", item["SK"]))
		}
	}
	return keys
}
