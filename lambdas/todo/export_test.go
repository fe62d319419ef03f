package todo

import (
	"context"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// CreateTaskAs stores a task under the id that it has.
func (s *Service) CreateTaskAs(ctx context.Context, user string, task todo.Task) error {
	return s.write(ctx, write{pattern: "CreateTask", user: user, tasks: []todo.Task{task}, result: task})
}

// Stored reads a task, also of a user who is being deleted.
func (s *Service) Stored(ctx context.Context, user, id string) (todo.Task, bool, error) {
	return s.stored(ctx, user, id)
}
