package todo

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// taskItem is a TASK# item. It is always written whole, so that the index keys agree with its attributes. Without the
// attribute the keys are absent, and the task is not in the index.
type taskItem struct {
	PK, SK         string
	GSI1PK, GSI1SK string
	GSI2PK, GSI2SK string `dynamodbav:",omitempty"`
	GSI3PK, GSI3SK string `dynamodbav:",omitempty"`
	GSI4PK, GSI4SK string `dynamodbav:",omitempty"`
	todo.Task
}

func newTaskItem(user string, t todo.Task) taskItem {
	owner := ownerPrefix + user
	item := taskItem{PK: taskPrefix + user, SK: taskPrefix + t.ID, GSI1PK: owner, GSI1SK: statusKey(t.Status) + t.ID,
		Task: t}
	if t.DueDate != "" {
		item.GSI2PK, item.GSI2SK = owner, dueDateKey(t.DueDate)+t.ID
	}
	if t.Priority != todo.NoPriority {
		item.GSI3PK, item.GSI3SK = owner, priorityKey(t.Priority)+t.ID
	}
	if t.Category != "" {
		item.GSI4PK, item.GSI4SK = owner, categoryKey(dynamo.KeyText(string(t.Category)))+t.ID
	}
	return item
}

func (i taskItem) task() todo.Task {
	i.Task.ID = strings.TrimPrefix(i.SK, taskPrefix)
	return i.Task
}

// The beginnings of index sort keys, which a task's id follows.

func statusKey(s todo.Status) string { return "STATUS#" + string(s) + "#" }

func dueDateKey(d todo.Date) string { return "DUEDATE#" + string(d) + "#" }

func priorityKey(p todo.Priority) string { return "PRIORITY#" + string(p) + "#" }

// categoryEscapes make the # that ends the category the only one.
var categoryEscapes = strings.NewReplacer("%", "%25", "#", "%23")

func categoryKey(category string) string {
	return "CATEGORY#" + categoryEscapes.Replace(category) + "#"
}

// CreateTask stores a new task. It returns [todo.ErrUserNotFound].
func (s *Service) CreateTask(ctx context.Context, user string, in todo.TaskBody) (todo.Task, error) {
	var task todo.Task
	err := retry.Do(ctx, func() error {
		now := s.Clock.Now()
		at := todo.At(now)
		task = in.Apply(todo.Task{ID: wire.NewID(now), Status: todo.Pending, CreatedAt: at, UpdatedAt: at, Version: 1})
		if task.Status == todo.Completed {
			task.CompletedAt = at
		}
		return s.write(ctx, write{pattern: "CreateTask", user: user, tasks: []todo.Task{task}, result: task})
	})
	if err != nil {
		return todo.Task{}, err
	}
	s.Metrics.Emit(ctx, kit.Count("TasksCreated", 1))
	if task.Status == todo.Completed {
		s.Metrics.Emit(ctx, kit.Count("TasksCompleted", 1))
	}
	return task, nil
}

// GetTask reads a task. It returns [todo.ErrTaskNotFound].
func (s *Service) GetTask(ctx context.Context, user, id string) (todo.Task, error) {
	return s.read(ctx, user, id, 0)
}

// ReplaceTask gives a task the content of in. It clears the fields that in leaves out, except the status, which stays.
// ifVersion is the version that the task must have; 0: any. A task that has the content already stays as it is.
//
// It returns [todo.ErrTaskNotFound], a [*problem.VersionError], [todo.ErrTaskCompleted] or [todo.ErrUserNotFound].
func (s *Service) ReplaceTask(
	ctx context.Context, user, id string, in todo.TaskBody, ifVersion int,
) (todo.Task, error) {
	return s.change(ctx, user, id, ifVersion, in.Apply)
}

// ChangeTask changes fields of a task. It takes ifVersion and returns errors as [Service.ReplaceTask] does.
func (s *Service) ChangeTask(
	ctx context.Context, user, id string, c todo.TaskChangeBody, ifVersion int,
) (todo.Task, error) {
	return s.change(ctx, user, id, ifVersion, c.Apply)
}

func (s *Service) change(
	ctx context.Context, user, id string, ifVersion int, edit func(todo.Task) todo.Task,
) (todo.Task, error) {
	var read, task todo.Task
	err := retry.Do(ctx, func() (err error) {
		if read, err = s.read(ctx, user, id, ifVersion); err != nil {
			return err
		}
		if task, err = read.Next(edit(read), s.now()); err != nil || task == read {
			return err
		}
		return s.write(ctx, write{
			pattern: "UpdateTask", user: user, read: []todo.Task{read}, tasks: []todo.Task{task}, result: task,
		})
	})
	if err != nil {
		return todo.Task{}, err
	}
	if read.Status != todo.Completed && task.Status == todo.Completed {
		s.Metrics.Emit(ctx, kit.Count("TasksCompleted", 1))
	}
	return task, nil
}

// DeleteTask deletes a task. ifVersion is the version that it must have; 0: any. It returns [todo.ErrTaskNotFound], a
// [*problem.VersionError] or [todo.ErrUserNotFound].
func (s *Service) DeleteTask(ctx context.Context, user, id string, ifVersion int) error {
	return retry.Do(ctx, func() error {
		task, err := s.read(ctx, user, id, ifVersion)
		if err != nil {
			return err
		}
		return s.write(ctx, write{pattern: "DeleteTask", user: user, read: []todo.Task{task}})
	})
}

// read reads a task of a user who exists, as it is now.
func (s *Service) read(ctx context.Context, user, id string, ifVersion int) (todo.Task, error) {
	if !wire.IsID(id) {
		return todo.Task{}, todo.ErrTaskNotFound
	}
	var task todo.Task
	var found bool
	exists, err := s.withUser(ctx, user, func() (err error) {
		task, found, err = s.stored(ctx, user, id)
		return err
	})
	switch {
	case err != nil:
		return todo.Task{}, err
	case !exists || !found:
		return todo.Task{}, todo.ErrTaskNotFound
	case ifVersion != 0 && task.Version != ifVersion:
		return todo.Task{}, &problem.VersionError{What: "the task", Current: task.Version}
	}
	return task, nil
}

// stored reads a task as it is now, also of a user who is being deleted.
func (s *Service) stored(ctx context.Context, user, id string) (task todo.Task, found bool, err error) {
	var item taskItem
	found, err = s.DB.Get(ctx, "GetTask", &item, todo.TaskKey(user, id)...)
	return item.task(), found, err
}

// write is a transaction on tasks of a user: all of it is done, or nothing.
type write struct {
	pattern, user string
	// read are the tasks as they were read, and still have to be; tasks are what they become. Without read, tasks are
	// new, and without tasks, those that were read are deleted.
	read, tasks []todo.Task
	// result is the request's result after it.
	result any
	// goesOn reports whether the request continues after this step. Then no answer is kept yet.
	goesOn bool
}

// write writes tasks, and the counts of their user. It returns [retry.ErrStale] when a task is not as it was read, or
// there is one with the id of a new one, and [todo.ErrUserNotFound] when there is no user, also when it is being
// deleted.
func (s *Service) write(ctx context.Context, w write) error {
	var writes []dynamo.Write
	for i, task := range w.tasks {
		condition := dynamo.Absent("PK")
		if w.read != nil {
			condition = dynamo.Equal("version", w.read[i].Version)
		}
		writes = append(writes, dynamo.Put(table, newTaskItem(w.user, task), condition))
	}
	if w.tasks == nil {
		for _, task := range w.read {
			writes = append(writes, dynamo.Delete(table, todo.TaskKey(w.user, task.ID),
				dynamo.Equal("version", task.Version)))
		}
	}
	noUser := dynamo.OnFailed(len(writes), todo.ErrUserNotFound)
	writes = append(writes, recount(w.user, w.read, w.tasks))
	if w.goesOn {
		return dynamo.UnlessStale(s.DB.Transact(ctx, w.pattern, writes...), noUser)
	}
	return dynamo.UnlessStale(idempotency.Transact(ctx, s.DB, w.pattern, w.result, writes...), noUser)
}

// counts is a COUNTS# item.
type counts struct {
	PK, SK string
	todo.StatusCounts
	todo.PriorityCounts
	Deletion string `dynamodbav:"deletion,omitempty"`
}

func countsKey(user string) []any { return []any{countsPrefix + user, metadata} }

func (s *Service) counts(ctx context.Context, user string) (c counts, err error) {
	_, err = s.DB.Get(ctx, "GetTaskCounts", &c, countsKey(user)...)
	return c, err
}

// Stats counts a user's tasks. An unknown user has none, and one who is being deleted is none any more.
func (s *Service) Stats(ctx context.Context, user string) (todo.Stats, error) {
	c, err := s.counts(ctx, user)
	if err != nil || c.Deletion != "" {
		return todo.Stats{}, err
	}
	return todo.Stats{ByStatus: c.StatusCounts, ByPriority: c.PriorityCounts, Total: c.Total(), IsUser: c.PK != ""}, nil
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

// recount is the change of a user's counts, or a check of the counts if none changes. Either fails if there is no such
// user, or if the user is being deleted.
func recount(user string, read, tasks []todo.Task) dynamo.Write {
	exists := expression.AttributeExists(dynamo.Name("PK")).And(dynamo.Absent("deletion"))
	changes := countChanges(read, tasks)
	if len(changes) == 0 {
		return dynamo.Check(table, countsKey(user), exists)
	}
	var update expression.UpdateBuilder
	for _, attribute := range slices.Sorted(maps.Keys(changes)) {
		update = update.Add(dynamo.Name(attribute), expression.Value(changes[attribute]))
	}
	return dynamo.Update(table, countsKey(user), update, exists)
}
