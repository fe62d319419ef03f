package dynamodb

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
)

// task is a TASK# item. It is always written whole, so that the index keys agree with its
// attributes. Without the attribute the keys are absent, and the task is not in the index.
type task struct {
	PK          string `dynamodbav:"PK"`
	SK          string `dynamodbav:"SK"`
	GSI1PK      string `dynamodbav:"GSI1PK"`
	GSI1SK      string `dynamodbav:"GSI1SK"`
	GSI2PK      string `dynamodbav:"GSI2PK,omitempty"`
	GSI2SK      string `dynamodbav:"GSI2SK,omitempty"`
	GSI3PK      string `dynamodbav:"GSI3PK,omitempty"`
	GSI3SK      string `dynamodbav:"GSI3SK,omitempty"`
	GSI4PK      string `dynamodbav:"GSI4PK,omitempty"`
	GSI4SK      string `dynamodbav:"GSI4SK,omitempty"`
	Title       string `dynamodbav:"title"`
	Description string `dynamodbav:"description,omitempty"`
	Status      string `dynamodbav:"status"`
	Priority    string `dynamodbav:"priority,omitempty"`
	Category    string `dynamodbav:"category,omitempty"`
	DueDate     string `dynamodbav:"due_date,omitempty"`
	CreatedAt   int64  `dynamodbav:"created_at"`
	UpdatedAt   int64  `dynamodbav:"updated_at"`
	CompletedAt int64  `dynamodbav:"completed_at,omitempty"`
	Version     int    `dynamodbav:"version"`
}

func taskKey(user, id string) []any { return []any{taskPrefix + user, taskPrefix + id} }

func newTask(user string, t todo.Task) task {
	owner := ownerPrefix + user
	item := task{
		PK: taskPrefix + user, SK: taskPrefix + t.ID,
		GSI1PK: owner, GSI1SK: statusKey(t.Status) + t.ID,
		Title: t.Title, Description: string(t.Description), Status: string(t.Status),
		Priority: string(t.Priority), Category: string(t.Category), DueDate: string(t.DueDate),
		CreatedAt: toUnix(t.CreatedAt), UpdatedAt: toUnix(t.UpdatedAt), CompletedAt: toUnix(t.CompletedAt.Time), Version: t.Version,
	}
	if t.DueDate != "" {
		item.GSI2PK, item.GSI2SK = owner, dueDateKey(t.DueDate)+t.ID
	}
	if t.Priority != todo.NoPriority {
		item.GSI3PK, item.GSI3SK = owner, priorityKey(t.Priority)+t.ID
	}
	if t.Category != "" {
		item.GSI4PK, item.GSI4SK = owner, categoryKey(t.Category)+t.ID
	}
	return item
}

func (t task) domain() todo.Task {
	return todo.Task{
		ID: strings.TrimPrefix(t.SK, taskPrefix), Title: t.Title, Description: todo.Text(t.Description), Status: todo.Status(t.Status),
		Priority: todo.Priority(t.Priority), Category: todo.Text(t.Category), DueDate: todo.Date(t.DueDate),
		CreatedAt: fromUnix(t.CreatedAt), UpdatedAt: fromUnix(t.UpdatedAt), CompletedAt: todo.Moment{Time: fromUnix(t.CompletedAt)}, Version: t.Version,
	}
}

// The beginnings of index sort keys, which a task's id follows.

func statusKey(s todo.Status) string { return "STATUS#" + string(s) + "#" }

func dueDateKey(d todo.Date) string { return "DUEDATE#" + string(d) + "#" }

func priorityKey(p todo.Priority) string { return "PRIORITY#" + string(p) + "#" }

// categoryEscapes make the # that ends the category the only one.
var categoryEscapes = strings.NewReplacer("%", "%25", "#", "%23")

func categoryKey(category todo.Text) string {
	return "CATEGORY#" + categoryEscapes.Replace(string(category)) + "#"
}

// counts is a COUNTS# item.
type counts struct {
	PK         string `dynamodbav:"PK"`
	SK         string `dynamodbav:"SK"`
	Pending    int    `dynamodbav:"pending"`
	InProgress int    `dynamodbav:"in_progress"`
	Completed  int    `dynamodbav:"completed"`
	Cancelled  int    `dynamodbav:"cancelled"`
	Low        int    `dynamodbav:"low"`
	Medium     int    `dynamodbav:"medium"`
	High       int    `dynamodbav:"high"`
	Urgent     int    `dynamodbav:"urgent"`
	NoPriority int    `dynamodbav:"no_priority"`
	Deletion   string `dynamodbav:"deletion,omitempty"`
}

// Stats implements [todo.Store]. A user who is being deleted has no tasks any more.
func (s *Store) Stats(ctx context.Context, user string) (todo.Stats, error) {
	var c counts
	if _, err := s.db.Get(ctx, "GetTaskCounts", &c, countsKey(user)...); err != nil {
		return todo.Stats{}, err
	}
	if c.Deletion != "" {
		c = counts{}
	}
	return todo.Stats{
		ByStatus:   todo.StatusCounts{Pending: c.Pending, InProgress: c.InProgress, Completed: c.Completed, Cancelled: c.Cancelled},
		ByPriority: todo.PriorityCounts{Low: c.Low, Medium: c.Medium, High: c.High, Urgent: c.Urgent, None: c.NoPriority},
		Total:      c.Pending + c.InProgress + c.Completed + c.Cancelled,
	}, nil
}

// countChanges returns by how much each attribute of the counts changes from the tasks as read to
// the new ones.
func countChanges(read, tasks []todo.Task) map[string]int {
	changes := map[string]int{}
	add := func(t todo.Task, n int) {
		changes[string(t.Status)] += n
		priority := string(t.Priority)
		if t.Priority == todo.NoPriority {
			priority = "no_priority"
		}
		changes[priority] += n
	}
	for _, t := range read {
		add(t, -1)
	}
	for _, t := range tasks {
		add(t, 1)
	}
	maps.DeleteFunc(changes, func(_ string, n int) bool { return n == 0 })
	return changes
}

// recount appends the change of a user's counts to writes, or a check of the counts if none
// changes. Either fails if there is no such user, or if the user is being deleted.
func recount(writes []dynamo.Write, user string, read, tasks []todo.Task) []dynamo.Write {
	exists := expression.AttributeExists(dynamo.Name("PK")).And(dynamo.Absent("deletion"))
	changes := countChanges(read, tasks)
	if len(changes) == 0 {
		return append(writes, dynamo.Check(table, countsKey(user), exists))
	}
	var update expression.UpdateBuilder
	for _, attribute := range slices.Sorted(maps.Keys(changes)) {
		update = update.Add(dynamo.Name(attribute), expression.Value(changes[attribute]))
	}
	return append(writes, dynamo.Update(table, countsKey(user), update, exists))
}

// noUser is what it means that the write of the counts was refused, which follows those of the tasks.
func noUser(tasks int) dynamo.Refusal { return dynamo.Means(tasks, todo.ErrUserNotFound) }

// Task implements [todo.Store].
func (s *Store) Task(ctx context.Context, user, id string) (todo.Task, error) {
	var item task
	found, err := s.db.Get(ctx, "GetTask", &item, taskKey(user, id)...)
	if err != nil {
		return todo.Task{}, err
	}
	if !found {
		return todo.Task{}, todo.ErrTaskNotFound
	}
	return item.domain(), nil
}

// CreateTask implements [todo.Store].
func (s *Store) CreateTask(ctx context.Context, user string, t todo.Task) error {
	writes := []dynamo.Write{dynamo.Put(table, newTask(user, t), dynamo.Absent("PK"))}
	writes = recount(writes, user, nil, []todo.Task{t})
	return dynamo.UnlessStale(idempotency.Transact(ctx, s.db, "CreateTask", t, writes...), noUser(1))
}

// ReplaceTask implements [todo.Store].
func (s *Store) ReplaceTask(ctx context.Context, user string, read, t todo.Task) error {
	writes := []dynamo.Write{dynamo.Put(table, newTask(user, t), dynamo.Equal("version", read.Version))}
	writes = recount(writes, user, []todo.Task{read}, []todo.Task{t})
	return dynamo.UnlessStale(idempotency.Transact(ctx, s.db, "UpdateTask", t, writes...), noUser(1))
}

// DeleteTask implements [todo.Store].
func (s *Store) DeleteTask(ctx context.Context, user string, read todo.Task) error {
	writes := []dynamo.Write{dynamo.Delete(table, taskKey(user, read.ID), dynamo.Equal("version", read.Version))}
	writes = recount(writes, user, []todo.Task{read}, nil)
	return dynamo.UnlessStale(idempotency.Transact(ctx, s.db, "DeleteTask", nil, writes...), noUser(1))
}

// ReplaceTasks implements [todo.Store].
func (s *Store) ReplaceTasks(ctx context.Context, user string, read, tasks []todo.Task, result todo.BulkResult) error {
	var writes []dynamo.Write
	for i, t := range tasks {
		writes = append(writes, dynamo.Put(table, newTask(user, t), dynamo.Equal("version", read[i].Version)))
	}
	writes = recount(writes, user, read, tasks)
	return dynamo.UnlessStale(idempotency.Transact(ctx, s.db, "SetTaskStatuses", result, writes...), noUser(len(tasks)))
}

// DeleteTasks implements [todo.Store].
func (s *Store) DeleteTasks(ctx context.Context, user string, read []todo.Task, result *todo.Deleted) error {
	var writes []dynamo.Write
	for _, t := range read {
		writes = append(writes, dynamo.Delete(table, taskKey(user, t.ID), dynamo.Equal("version", t.Version)))
	}
	writes = recount(writes, user, read, nil)
	const pattern = "DeleteCompletedTasks"
	if result == nil {
		return dynamo.UnlessStale(s.db.Transact(ctx, pattern, writes...), noUser(len(read)))
	}
	return dynamo.UnlessStale(idempotency.Transact(ctx, s.db, pattern, *result, writes...), noUser(len(read)))
}
