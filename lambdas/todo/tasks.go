package todo

import (
	"context"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

// CreateTask stores a new task. It returns [ErrUserNotFound].
func (s *Service) CreateTask(ctx context.Context, user string, in TaskInput) (Task, error) {
	var task Task
	err := retry.Do(ctx, func() error {
		moment := s.moment()
		id, err := newID(moment)
		if err != nil {
			return err
		}
		now := moment.Truncate(time.Second)
		task = in.applyTo(Task{ID: id, Status: Pending, CreatedAt: now, UpdatedAt: now, Version: 1})
		if task.Status == Completed {
			task.CompletedAt = Moment{now}
		}
		return s.Store.CreateTask(ctx, user, task)
	})
	if err != nil {
		return Task{}, err
	}
	if task.Status == Completed {
		s.tellCompleted(ctx, 1)
	}
	return task, nil
}

// GetTask reads a task. It returns [ErrTaskNotFound].
func (s *Service) GetTask(ctx context.Context, user, id string) (Task, error) {
	if !isID(id) {
		return Task{}, ErrTaskNotFound
	}
	return s.read(ctx, user, id, 0)
}

// ReplaceTask gives a task the content of in. It clears the fields that in leaves out,
// except the status, which stays. ifVersion is the version that the task must
// have; 0: any. A task that has the content already stays as it is.
//
// It returns [ErrTaskNotFound], a [*VersionError], [ErrTaskCompleted] or
// [ErrUserNotFound].
func (s *Service) ReplaceTask(ctx context.Context, user, id string, in TaskInput, ifVersion int) (Task, error) {
	return s.change(ctx, user, id, ifVersion, in.applyTo)
}

// ChangeTask changes fields of a task. It takes ifVersion and returns errors as
// [Service.ReplaceTask] does.
func (s *Service) ChangeTask(ctx context.Context, user, id string, c TaskChange, ifVersion int) (Task, error) {
	return s.change(ctx, user, id, ifVersion, c.applyTo)
}

// DeleteTask deletes a task. ifVersion is the version that it must have; 0: any.
// It returns [ErrTaskNotFound], a [*VersionError] or [ErrUserNotFound].
func (s *Service) DeleteTask(ctx context.Context, user, id string, ifVersion int) error {
	if !isID(id) {
		return ErrTaskNotFound
	}
	return retry.Do(ctx, func() error {
		task, err := s.read(ctx, user, id, ifVersion)
		if err != nil {
			return err
		}
		return s.Store.DeleteTask(ctx, user, task)
	})
}

// Stats counts a user's tasks; an unknown user has none.
func (s *Service) Stats(ctx context.Context, user string) (Stats, error) {
	return s.Store.Stats(ctx, user)
}

func (s *Service) change(ctx context.Context, user, id string, ifVersion int, edit func(Task) Task) (Task, error) {
	if !isID(id) {
		return Task{}, ErrTaskNotFound
	}
	var read, task Task
	err := retry.Do(ctx, func() (err error) {
		if read, err = s.read(ctx, user, id, ifVersion); err != nil {
			return err
		}
		if task, err = next(read, edit(read), s.now()); err != nil || task == read {
			return err
		}
		return s.Store.ReplaceTask(ctx, user, read, task)
	})
	if err != nil {
		return Task{}, err
	}
	if read.Status != Completed && task.Status == Completed {
		s.tellCompleted(ctx, 1)
	}
	return task, nil
}

// tellCompleted reports the completed tasks. Call it after the write.
func (s *Service) tellCompleted(ctx context.Context, tasks int) {
	if tasks > 0 && s.Completed != nil {
		s.Completed(ctx, tasks)
	}
}

func (s *Service) read(ctx context.Context, user, id string, ifVersion int) (Task, error) {
	var task Task
	exists, err := s.withUser(ctx, user, func() (err error) {
		task, err = s.Store.Task(ctx, user, id)
		return err
	})
	if err != nil {
		return Task{}, err
	}
	if !exists {
		return Task{}, ErrTaskNotFound
	}
	if ifVersion != 0 && task.Version != ifVersion {
		return Task{}, &VersionError{Current: task.Version}
	}
	return task, nil
}

// next returns the version of a task that follows read, with the content of wanted. It returns read
// itself if the content is the same. It returns [ErrTaskCompleted].
func next(read, wanted Task, now time.Time) (Task, error) {
	if wanted == read {
		return read, nil
	}
	if wanted.Status != read.Status {
		if read.Status == Completed {
			return Task{}, ErrTaskCompleted
		}
		if wanted.Status == Completed {
			wanted.CompletedAt = Moment{now}
		}
	}
	wanted.UpdatedAt = later(now, read.UpdatedAt)
	wanted.Version = read.Version + 1
	return wanted, nil
}

// applyTo returns the task with the content of the input.
func (in TaskInput) applyTo(task Task) Task {
	task.Title, task.Description = in.Title, in.Description
	task.Priority, task.Category, task.DueDate = in.Priority, in.Category, in.DueDate
	if in.Status != "" {
		task.Status = in.Status
	}
	return task
}

// applyTo returns the task with the change made.
func (c TaskChange) applyTo(task Task) Task {
	set(&task.Title, c.Title)
	set(&task.Description, c.Description)
	set(&task.Status, c.Status)
	set(&task.Priority, c.Priority)
	set(&task.Category, c.Category)
	set(&task.DueDate, c.DueDate)
	return task
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// later keeps times in order when clocks disagree.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
