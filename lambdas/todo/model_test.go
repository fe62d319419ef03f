package todo_test

import (
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// model is what users should find: the rules of the platform without concurrency, storage or
// failure.
type model struct {
	users map[string]todo.User
	tasks map[string]map[string]todo.Task
	// deleting are users with items that may be left to erase, and since when.
	deleting map[string]bool
	since    map[string]time.Time
}

func newModel() model {
	return model{users: map[string]todo.User{}, tasks: map[string]map[string]todo.Task{}, deleting: map[string]bool{},
		since: map[string]time.Time{}}
}

func (m *model) isUser(id string) bool { return m.users[id].CreatedAt != 0 }

// needsUser returns the error of an operation that only a user may do.
func (m *model) needsUser(id string) error {
	if !m.isUser(id) {
		return todo.ErrUserNotFound
	}
	return nil
}

// takes is the error when a user takes an email address.
func (m *model) takes(id, address string) error {
	for owner, user := range m.users {
		if owner != id && strings.EqualFold(user.Email, address) {
			return todo.ErrEmailTaken
		}
	}
	return nil
}

// creates is the error when someone becomes a user.
func (m *model) creates(id, address string) error {
	switch {
	case m.isUser(id):
		return todo.ErrUserExists
	case m.deleting[id]:
		return todo.ErrUserBeingDeleted
	default:
		return m.takes(id, address)
	}
}

// deletes is the error when a user is deleted: someone who is being deleted is none, until
// the deletion is abandoned.
func (m *model) deletes(id string, now time.Time) error {
	switch {
	case m.isUser(id), m.deleting[id] && now.Sub(m.since[id]) >= time.Hour:
		return nil
	case m.deleting[id]:
		return todo.ErrUserBeingDeleted
	default:
		return todo.ErrUserNotFound
	}
}

// gone notes that a user is deleted, as far as complete says.
func (m *model) gone(id string, complete bool, now time.Time) {
	if !m.deleting[id] {
		m.since[id] = now
	}
	delete(m.users, id)
	delete(m.tasks, id)
	m.deleting[id] = !complete
}

// change is a user's task after an edit, or why there is none. version is the one that the
// task should have; 0: any.
func (m *model) change(
	user, id string, version int, now todo.Timestamp, edit func(todo.Task) todo.Task,
) (todo.Task, error) {
	old, ok := m.tasks[user][id]
	if !ok {
		return todo.Task{}, todo.ErrTaskNotFound
	}
	if version != 0 && version != old.Version {
		return todo.Task{}, &problem.VersionError{What: "the task", Current: old.Version}
	}
	return old.Next(edit(old), now)
}

// created is a new task.
func created(id string, in todo.TaskBody, at todo.Timestamp) todo.Task {
	task := in.Apply(todo.Task{ID: id, Status: todo.Pending, CreatedAt: at, UpdatedAt: at, Version: 1})
	if task.Status == todo.Completed {
		task.CompletedAt = at
	}
	return task
}
