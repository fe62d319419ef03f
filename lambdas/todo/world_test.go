package todo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/todotest"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

var (
	start     = time.Date(2026, 3, 28, 22, 30, 0, 0, time.UTC)
	cursorKey = []byte("a secret of thirty-two bytes....")
)

// world is the service on an empty table of its own.
type world struct {
	*service.Service
	tables *dynamotest.Tables
	eraser *service.Service // as eraser has it; the other one as todoapi has it
	keys   *idempotency.Keys

	mu  sync.Mutex
	now time.Time
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{tables: dynamotest.Open(t, todo.Platform().Database), now: start}
	w.eraser = &service.Service{DB: as(t, w.tables.DB, "eraser"), Clock: w.clock}
	w.Service = &service.Service{DB: as(t, w.tables.DB, "todoapi"), CursorKey: cursorKey, Clock: w.clock}
	w.keys = service.Keys(w.DB)
	w.keys.Clock = w.clock
	return w
}

// as is the table as a function has it.
func as(t testing.TB, db *dynamo.DB, function string) *dynamo.DB {
	t.Helper()
	db, err := db.As(todo.Platform(), function)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// user registers one.
func (w *world) user(t testing.TB, id string) {
	t.Helper()
	if _, err := w.CreateUser(t.Context(), id, todo.UserBody{Email: id + "@example.com", Name: id}); err != nil {
		t.Fatal(err)
	}
}

// task creates one.
func (w *world) task(t testing.TB, user string, in todo.TaskBody) todo.Task {
	t.Helper()
	if in.Title == "" {
		in.Title = "a task"
	}
	task, err := w.CreateTask(t.Context(), user, in)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// list reads all pages of a list.
func (w *world) list(t testing.TB, user string, f todo.TaskFilter) []todo.Task {
	t.Helper()
	var tasks []todo.Task
	for pages := 0; ; pages++ {
		page, err := w.ListTasks(t.Context(), user, f)
		if err != nil {
			t.Fatal(err)
		}
		tasks = append(tasks, page.Tasks...)
		if page.Next == "" {
			return tasks
		}
		f.Cursor = page.Next
		if pages > 10_000 {
			t.Fatal("the list does not end")
		}
	}
}

func titles(tasks []todo.Task) string {
	var all []string
	for _, task := range tasks {
		all = append(all, task.Title)
	}
	return strings.Join(all, " ")
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

// refused fails the test unless a task stayed as it was, for that reason.
func refused(t testing.TB, failed []todo.TaskFailure, id string, reason error) {
	t.Helper()
	if !slices.Contains(failed, todo.Refused(id, reason)) {
		t.Errorf("got %+v, want %s refused: %v", failed, id, reason)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// items reads the whole table.
func (w *world) items(t testing.TB) []map[string]any { return todotest.Items(t, w.tables) }

func orElse(value, other string) string {
	if value == "" {
		return other
	}
	return value
}

func textOf(item map[string]any, attribute string) string {
	value, _ := item[attribute].(string)
	return value
}

// disagreements are those of all stored items with each other.
func (w *world) disagreements(t testing.TB) []string {
	t.Helper()
	return todotest.Disagreements(w.items(t))
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
	for _, item := range w.items(t) {
		_, owner, _ := strings.Cut(textOf(item, "PK"), "#")
		if owner == user || item["user_id"] == user {
			keys = append(keys, textOf(item, "PK")+" "+textOf(item, "SK"))
		}
	}
	return keys
}

var errKilled = errors.New("the process is dead")

// killedAt fails the n-th and every later request, counted from 0, as for a process
// that died before it.
func killedAt(n int) func(schema.Action) error {
	var mu sync.Mutex
	return func(schema.Action) error {
		mu.Lock()
		defer mu.Unlock()
		if n--; n < 0 {
			return errKilled
		}
		return nil
	}
}

// once fails the first transaction.
func once(err error) func(schema.Action) error {
	var done sync.Once
	return func(operation schema.Action) (failed error) {
		if operation == schema.TransactWriteItems {
			done.Do(func() { failed = err })
		}
		return failed
	}
}

// canceledOnce cancels the first transaction for that reason at its first write.
func canceledOnce(code string) func(operation string) dynamotest.Answer {
	done := false
	return func(operation string) dynamotest.Answer {
		if operation != "TransactWriteItems" || done {
			return dynamotest.Answer{}
		}
		done = true
		return dynamotest.Canceled(code)
	}
}

// claimed is a context with a claim on a key, as a request has it. The answer that
// is kept shows what the store passed.
func (w *world) claimed(t testing.TB, ctx context.Context, user, key string) (context.Context, *idempotency.Claim) {
	t.Helper()
	claim, replay, err := w.keys.Begin(t.Context(), user, key, []byte("request "+key), time.Minute)
	if err != nil || claim == nil {
		t.Fatalf("claim: %v, %v", replay, err)
	}
	return idempotency.WithClaim(ctx, claim, func(result any) (idempotency.Response, error) {
		return idempotency.Response{Status: 200, Body: fmt.Appendf(nil, "%T", result)}, nil
	}), claim
}

// replay returns the kept answer of the key; "" while there is none.
func (w *world) replay(t testing.TB, user, key string) string {
	t.Helper()
	claim, replay, err := w.keys.Begin(t.Context(), user, key, []byte("request "+key), time.Minute)
	var running *idempotency.RunningError
	switch {
	case errors.As(err, &running):
		return "running"
	case err != nil:
		t.Fatal(err)
	case claim != nil:
		return ""
	}
	return string(replay.Body)
}

// withoutFaults is the same table without faults, as a function has it.
func (w *world) withoutFaults(t testing.TB, function string) *dynamo.DB {
	t.Helper()
	db, err := dynamo.New(w.tables.Client, todo.Platform().Database, map[string]string{"AppData": "AppData"})
	must(t, err)
	return as(t, db, function)
}
