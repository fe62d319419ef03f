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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
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
	w.eraser = &service.Service{DB: as(t, w.tables.DB, "eraser"), Now: w.clock}
	w.Service = &service.Service{DB: as(t, w.tables.DB, "todoapi"), CursorKey: cursorKey, Now: w.clock}
	w.keys = service.Keys(w.DB)
	w.keys.Now = w.clock
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
	if _, err := w.CreateUser(t.Context(), id, todo.UserInput{Email: id + "@example.com", Name: id}); err != nil {
		t.Fatal(err)
	}
}

// task creates one.
func (w *world) task(t testing.TB, user string, in todo.TaskInput) todo.Task {
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// items reads everything, of the table or of an index.
func (w *world) items(t testing.TB, index string) []map[string]any {
	t.Helper()
	input := &awsdynamodb.ScanInput{TableName: aws.String("AppData")}
	if index != "" {
		input.IndexName = aws.String(index)
	}
	var all []map[string]any
	for {
		output, err := w.tables.Client.Scan(context.Background(), input)
		if err != nil {
			t.Fatal(err)
		}
		var items []map[string]any
		if err := attributevalue.UnmarshalListOfMaps(output.Items, &items); err != nil {
			t.Fatal(err)
		}
		all = append(all, items...)
		if len(output.LastEvaluatedKey) == 0 {
			return all
		}
		input.ExclusiveStartKey = output.LastEvaluatedKey
	}
}

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

// index is, for the test's own idea of the keys, how an index's sort key is made
// of an attribute.
type index struct{ name, attribute, prefix string }

var indexes = []index{
	{"GSI1", "status", "STATUS#"}, {"GSI2", "due_date", "DUEDATE#"}, {"GSI3", "priority", "PRIORITY#"},
	{"GSI4", "category", "CATEGORY#"},
}

// disagreements compares all stored items with each other: each index with the table, the counts
// with a recount, addresses with users, and each item with its owner.
func (w *world) disagreements(t testing.TB) []string {
	t.Helper()
	var found []string
	add := func(format string, arguments ...any) { found = append(found, fmt.Sprintf(format, arguments...)) }

	table := w.items(t, "")
	users, owners, deletions := map[string]map[string]any{}, map[string]string{}, map[string]bool{}
	stored, recounted := map[string]map[string]any{}, map[string]map[string]float64{}
	count := func(user, attribute string) {
		if recounted[user] == nil {
			recounted[user] = map[string]float64{}
		}
		recounted[user][attribute]++
	}
	expected := map[string]map[string]map[string]any{}
	for _, item := range table {
		kind, owner, _ := strings.Cut(textOf(item, "PK"), "#")
		switch kind {
		case "USER":
			users[owner] = item
		case "EMAIL":
			owners[owner] = textOf(item, "user_id")
		case "COUNTS":
			stored[owner] = item
			deletions[owner] = textOf(item, "deletion") != ""
		case "IDEMPOTENCY":
			// The seed: the time to live is created_at + 86400.
			created, _ := item["created_at"].(float64)
			if expiry, _ := item["expiration_timestamp"].(float64); created == 0 || expiry != created+86400 {
				add("a key of %s was created at %v and expires at %v, want 86,400 seconds between", owner,
					item["created_at"], item["expiration_timestamp"])
			}
		case "TASK":
			count(owner, textOf(item, "status"))
			count(owner, orElse(textOf(item, "priority"), "no_priority"))
			id := strings.TrimPrefix(textOf(item, "SK"), "TASK#")
			for _, i := range indexes {
				value := textOf(item, i.attribute)
				want := ""
				if value != "" {
					want = i.prefix + strings.ReplaceAll(strings.ReplaceAll(value, "%", "%25"), "#", "%23") + "#" + id
					if expected[i.name] == nil {
						expected[i.name] = map[string]map[string]any{}
					}
					expected[i.name][owner+"/"+id] = item
				}
				_, hasPartition := item[i.name+"PK"]
				if got := textOf(item, i.name+"SK"); got != want || hasPartition != (value != "") ||
					hasPartition && textOf(item, i.name+"PK") != "OWNER#"+owner {
					add("task %s has in %s the key %q, want %q", id, i.name, got, want)
				}
			}
			if _, completed := item["completed_at"]; completed != (item["status"] == "completed") {
				add("task %s is %s, and completed_at is there: %t", id, item["status"], completed)
			}
			for attribute, value := range item {
				if value == "" || value == nil {
					add("task %s has an empty %s", id, attribute)
				}
			}
		default:
			add("an item has the key %q", textOf(item, "PK"))
		}
	}
	for _, i := range indexes {
		inIndex := w.items(t, i.name)
		for _, item := range inIndex {
			key := strings.TrimPrefix(textOf(item, "PK"), "TASK#") + "/" +
				strings.TrimPrefix(textOf(item, "SK"), "TASK#")
			if diff := cmp.Diff(expected[i.name][key], item); diff != "" {
				add("%s has of task %s (- table, + index):\n%s", i.name, key, diff)
			}
		}
		if len(inIndex) != len(expected[i.name]) {
			add("%s has %d items, want %d", i.name, len(inIndex), len(expected[i.name]))
		}
	}
	for user := range users {
		if stored[user] == nil || deletions[user] {
			add("user %s has no counts, or is being deleted", user)
		}
		if address := strings.ToLower(textOf(users[user], "email")); owners[address] != user {
			add("%s of user %s belongs to %q", address, user, owners[address])
		}
	}
	if len(owners) != len(users) {
		add("%d addresses have an owner; there are %d users: %v", len(owners), len(users), owners)
	}
	for user, counts := range stored {
		if deletions[user] {
			continue
		}
		if users[user] == nil {
			add("counts are left of user %s", user)
		}
		for _, attribute := range []string{"pending", "in_progress", "completed", "cancelled", "low", "medium", "high",
			"urgent", "no_priority"} {
			if got := counts[attribute]; got != recounted[user][attribute] {
				add("user %s has %v tasks counted as %s; a recount finds %v", user, got, attribute,
					recounted[user][attribute])
			}
		}
	}
	for user := range recounted {
		if users[user] == nil && !deletions[user] {
			add("tasks are left of user %s", user)
		}
	}
	slices.Sort(found)
	return found
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
	for _, item := range w.items(t, "") {
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
func killedAt(n int) func(schema.Operation) error {
	var mu sync.Mutex
	return func(schema.Operation) error {
		mu.Lock()
		defer mu.Unlock()
		if n--; n < 0 {
			return errKilled
		}
		return nil
	}
}

// once fails the first transaction.
func once(err error) func(schema.Operation) error {
	var done sync.Once
	return func(operation schema.Operation) (failed error) {
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

// hurried is a context whose deadline is always so near that long work has to
// stop, and never there, however slow the machine is.
type hurried struct{ context.Context }

func (hurried) Deadline() (time.Time, bool) { return time.Now().Add(2 * time.Second), true }

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
