package todo

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// readsAtOnce is how many tasks of a bulk change are read at the same time.
const readsAtOnce = 10

// SetStatuses gives up to [todo.MaxBulkTasks] tasks a status. One write changes all tasks that may have it. The others
// are listed as failed, with [todo.ErrTaskNotFound] or [todo.ErrTaskCompleted]. A task that has the status already
// counts as changed, and stays as it is.
//
// It returns [todo.ErrUserNotFound] when the user is deleted at the same time.
func (s *Service) SetStatuses(
	ctx context.Context, user string, ids []string, status todo.Status,
) (todo.StatusesSet, error) {
	result, written, err := changeMany(ctx, s, many[todo.StatusesSet]{
		pattern: "SetTaskStatuses", user: user, ids: ids,
		next: func(task todo.Task, now todo.Timestamp) (todo.Task, error) {
			wanted := task
			wanted.Status = status
			return task.Next(wanted, now)
		},
		result: func(changed []string, failed []todo.TaskFailure) todo.StatusesSet {
			return todo.StatusesSet{Action: todo.SetStatus, Changed: changed, Failed: failed}
		},
	})
	if err == nil && status == todo.Completed {
		s.Metrics.Emit(ctx, kit.Count("TasksCompleted", written))
	}
	return result, err
}

// MoveOverdue gives up to [todo.MaxBulkTasks] tasks a due date. One write changes all that are open and due before that
// day. The others are listed as failed, with [todo.ErrTaskNotFound] or [todo.ErrTaskNotOverdue]. A task that is due on
// the day already counts as changed, and stays as it is.
//
// It returns [todo.ErrUserNotFound] when the user is deleted at the same time.
func (s *Service) MoveOverdue(
	ctx context.Context, user string, ids []string, day todo.Date,
) (todo.OverdueMoved, error) {
	result, _, err := changeMany(ctx, s, many[todo.OverdueMoved]{
		pattern: "MoveOverdueTasks", user: user, ids: ids,
		next: func(task todo.Task, now todo.Timestamp) (todo.Task, error) { return task.MovedTo(day, now) },
		result: func(changed []string, failed []todo.TaskFailure) todo.OverdueMoved {
			return todo.OverdueMoved{Action: todo.MoveOverdue, Changed: changed, Failed: failed}
		},
	})
	return result, err
}

// many is a change of many tasks of a user, whose result is an R.
type many[R any] struct {
	pattern, user string
	ids           []string
	// next returns what a task becomes, or why it stays as it is.
	next func(task todo.Task, now todo.Timestamp) (todo.Task, error)
	// result makes the request's result of the tasks that are as wanted, and of the others.
	result func(changed []string, failed []todo.TaskFailure) R
}

// changeMany makes a change of many tasks in one write, and returns its result and how many tasks it wrote.
func changeMany[R any](ctx context.Context, s *Service, m many[R]) (result R, written int, err error) {
	err = retry.Do(ctx, func() error {
		found, err := s.readAll(ctx, m.user, m.ids)
		if err != nil {
			return err
		}
		changed, failed := []string{}, []todo.TaskFailure{}
		var read, tasks []todo.Task
		now := s.now()
		for _, id := range m.ids {
			task, ok := found[id]
			if !ok {
				failed = append(failed, todo.Refused(id, todo.ErrTaskNotFound))
				continue
			}
			wanted, err := m.next(task, now)
			if err != nil {
				failed = append(failed, todo.Refused(id, err))
				continue
			}
			changed = append(changed, id)
			if wanted != task {
				read, tasks = append(read, task), append(tasks, wanted)
			}
		}
		result, written = m.result(changed, failed), len(tasks)
		if len(tasks) == 0 {
			return nil
		}
		return s.write(ctx, write{pattern: m.pattern, user: m.user, read: read, tasks: tasks, result: result})
	})
	return result, written, err
}

// DeleteCompleted deletes a user's completed tasks, in writes of up to [todo.MaxBulkTasks]. It stops before the
// invocation ends; then there are more: call it again. It counts the tasks that this call deleted.
//
// It returns [todo.ErrUserNotFound] when the user is deleted at the same time.
func (s *Service) DeleteCompleted(ctx context.Context, user string) (todo.CompletedDeleted, error) {
	result := todo.CompletedDeleted{Action: todo.DeleteCompleted}
	tasks, after, err := s.completed(ctx, user, "")
	for err == nil && len(tasks) > 0 {
		// The last write is known to be the last before it is made, because it keeps the request's
		// answer.
		var following []todo.Task
		if after != "" {
			if following, after, err = s.completed(ctx, user, after); err != nil {
				break
			}
		}
		result.More = len(following) > 0
		last := !result.More || kit.Ends(ctx, stopTime)
		if result.Deleted, err = s.deleteTasks(ctx, user, tasks, result, last); err != nil || last {
			break
		}
		tasks = following
	}
	return result, err
}

// completed reads up to MaxBulkTasks completed tasks, and the position from which to go on; "" at the end.
func (s *Service) completed(ctx context.Context, user, after string) ([]todo.Task, string, error) {
	var page page
	plan := planOf(todo.TaskFilter{Status: todo.Completed, Sort: todo.ByCreation}, "")
	exists, err := s.withUser(ctx, user, func() (err error) {
		page, err = s.page(ctx, user, plan, after, todo.MaxBulkTasks)
		return err
	})
	if err != nil || !exists {
		return nil, "", err
	}
	return page.tasks, page.next, nil
}

// deleteTasks deletes the tasks that still exist and are completed, and returns how many the request has deleted with
// them. result is the request's result before that; last says that it is the request's result but for the count.
func (s *Service) deleteTasks(
	ctx context.Context, user string, tasks []todo.Task, result todo.CompletedDeleted, last bool,
) (int, error) {
	ids := make([]string, len(tasks))
	for i, task := range tasks {
		ids[i] = task.ID
	}
	before, stale := result.Deleted, false
	err := retry.Do(ctx, func() error {
		if stale {
			found, err := s.readAll(ctx, user, ids)
			if err != nil {
				return err
			}
			tasks = nil
			for _, id := range ids {
				if task, ok := found[id]; ok && task.Status == todo.Completed {
					tasks = append(tasks, task)
				}
			}
		}
		stale = true
		result.Deleted = before + len(tasks)
		if len(tasks) == 0 {
			return nil
		}
		return s.write(ctx, write{pattern: "DeleteCompletedTasks", user: user, read: tasks, result: result,
			goesOn: !last})
	})
	return result.Deleted, err
}

// readAll reads the tasks of these ids that exist.
func (s *Service) readAll(ctx context.Context, user string, ids []string) (map[string]todo.Task, error) {
	tasks := make([]todo.Task, len(ids))
	exists, err := s.withUser(ctx, user, func() error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(readsAtOnce)
		for i, id := range ids {
			if !wire.IsID(id) {
				continue
			}
			group.Go(func() (err error) {
				tasks[i], _, err = s.stored(ctx, user, id)
				return err
			})
		}
		return group.Wait()
	})
	if err != nil || !exists {
		return nil, err
	}
	found := map[string]todo.Task{}
	for i, task := range tasks {
		if task.ID != "" {
			found[ids[i]] = task
		}
	}
	return found, nil
}
