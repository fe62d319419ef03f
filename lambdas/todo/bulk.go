package todo

import (
	"context"
	"errors"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"golang.org/x/sync/errgroup"
)

// readsAtOnce is how many tasks of a bulk change are read at the same time.
const readsAtOnce = 10

// SetStatuses gives up to [MaxBulkTasks] tasks a status. One write changes all tasks that may have
// it. The others are listed as failed, with [ErrTaskNotFound] or [ErrTaskCompleted]. A task that
// has the status already counts as changed, and stays as it is.
//
// It returns [ErrUserNotFound] when the user is deleted at the same time.
func (s *Service) SetStatuses(ctx context.Context, user string, ids []string, status Status) (BulkResult, error) {
	var result BulkResult
	written := 0
	err := retry.Do(ctx, func() error {
		result = BulkResult{Failed: map[string]error{}}
		found, err := s.readAll(ctx, user, ids)
		if err != nil {
			return err
		}
		var read, tasks []Task
		now := s.now()
		for _, id := range ids {
			task, ok := found[id]
			if !ok {
				result.Failed[id] = ErrTaskNotFound
				continue
			}
			wanted := task
			wanted.Status = status
			wanted, err := next(task, wanted, now)
			if err != nil {
				result.Failed[id] = err
				continue
			}
			result.Changed = append(result.Changed, id)
			if wanted != task {
				read, tasks = append(read, task), append(tasks, wanted)
			}
		}
		written = len(tasks)
		if len(tasks) == 0 {
			return nil
		}
		return s.Store.ReplaceTasks(ctx, user, read, tasks, result)
	})
	if err != nil {
		return BulkResult{}, err
	}
	if status == Completed {
		s.tellCompleted(ctx, written)
	}
	return result, nil
}

// DeleteCompleted deletes a user's completed tasks, in writes of up to [MaxBulkTasks]. It stops
// before the invocation ends; then more is true: call it again. deleted counts the tasks that this
// call deleted.
//
// It returns [ErrUserNotFound] when the user is deleted at the same time.
func (s *Service) DeleteCompleted(ctx context.Context, user string) (deleted int, more bool, err error) {
	tasks, after, err := s.completed(ctx, user, "")
	for err == nil && len(tasks) > 0 {
		// The last write is known to be the last before it is made, because it keeps the request's
		// answer.
		var following []Task
		if after != "" {
			following, after, err = s.completed(ctx, user, after)
			if err != nil {
				break
			}
		}
		more = len(following) > 0
		last := !more || outOfTime(ctx)
		n, err := s.deleteTasks(ctx, user, tasks, func(n int) *Deleted {
			if !last {
				return nil
			}
			return &Deleted{Count: deleted + n, More: more}
		})
		if err != nil {
			return 0, false, err
		}
		deleted += n
		if last {
			return deleted, more, nil
		}
		tasks = following
	}
	if err != nil {
		return 0, false, err
	}
	return deleted, false, nil
}

// completed reads up to MaxBulkTasks completed tasks, and the position from which
// to go on; "" at the end.
func (s *Service) completed(ctx context.Context, user, after string) ([]Task, string, error) {
	var listed Listed
	exists, err := s.withUser(ctx, user, func() (err error) {
		listed, err = s.Store.Tasks(ctx, user, Listing{Status: Completed, Sort: ByCreation, After: after, Most: MaxBulkTasks})
		return err
	})
	if err != nil || !exists {
		return nil, "", err
	}
	return listed.Tasks, listed.Next, nil
}

// deleteTasks deletes the tasks that still exist and are completed, and returns how many. result
// returns the request's result for that number.
func (s *Service) deleteTasks(ctx context.Context, user string, tasks []Task, result func(n int) *Deleted) (int, error) {
	ids := make([]string, len(tasks))
	for i, task := range tasks {
		ids[i] = task.ID
	}
	stale := false
	err := retry.Do(ctx, func() error {
		if stale {
			found, err := s.readAll(ctx, user, ids)
			if err != nil {
				return err
			}
			tasks = nil
			for _, id := range ids {
				if task, ok := found[id]; ok && task.Status == Completed {
					tasks = append(tasks, task)
				}
			}
		}
		stale = true
		if len(tasks) == 0 {
			return nil
		}
		return s.Store.DeleteTasks(ctx, user, tasks, result(len(tasks)))
	})
	return len(tasks), err
}

// readAll reads the tasks of these ids that exist.
func (s *Service) readAll(ctx context.Context, user string, ids []string) (map[string]Task, error) {
	tasks := make([]Task, len(ids))
	exists, err := s.withUser(ctx, user, func() error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(readsAtOnce)
		for i, id := range ids {
			if !isID(id) {
				continue
			}
			group.Go(func() error {
				task, err := s.Store.Task(ctx, user, id)
				if errors.Is(err, ErrTaskNotFound) {
					return nil
				}
				tasks[i] = task
				return err
			})
		}
		return group.Wait()
	})
	if err != nil || !exists {
		return nil, err
	}
	found := map[string]Task{}
	for i, task := range tasks {
		if task.ID != "" {
			found[ids[i]] = task
		}
	}
	return found, nil
}
