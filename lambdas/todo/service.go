package todo

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/cursor"
)

// Service has the operations on a user's tasks and on the user. It is safe for
// concurrent use.
//
// A user who is being deleted counts as deleted: methods find and change nothing of theirs, though
// the store may still have it.
//
// The input of each method has passed [validate.Form], which package httpapi calls once for a
// request, before the request's key is claimed. A write that conflicts with others on the same task
// or user is computed again. After too many conflicts it returns an error that wraps [retry.ErrStale].
type Service struct {
	// Store keeps everything.
	Store Store
	// CursorKey signs the cursors of lists.
	CursorKey cursor.Key
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
	// Completed is called with the number of tasks that a write has completed, if any:
	// each task once. Nil is allowed.
	Completed func(ctx context.Context, tasks int)
}

// Store is the storage that [Service] needs. Each write is all or nothing. Each write of tasks
// returns [ErrUserNotFound] when there is no user, also when it is being deleted.
type Store interface {
	// User reads a user as it is now. It returns [ErrUserNotFound].
	User(ctx context.Context, id string) (User, error)
	// CreateUser stores a user. It returns [ErrUserExists], [ErrUserBeingDeleted] or
	// [ErrEmailTaken].
	CreateUser(ctx context.Context, user User) error
	// ReplaceUser stores a changed user, if the user still is as it was read. It
	// returns [retry.ErrStale] or [ErrEmailTaken].
	ReplaceUser(ctx context.Context, read, user User) error
	// Stats reads the counts of a user's tasks, all zero for an unknown user.
	Stats(ctx context.Context, user string) (Stats, error)

	// Task reads a task as it is now, also of a user who is being deleted. It returns
	// [ErrTaskNotFound].
	Task(ctx context.Context, user, id string) (Task, error)
	// Tasks reads a part of a list, also of a user who is being deleted.
	Tasks(ctx context.Context, user string, listing Listing) (Listed, error)
	// CreateTask stores a task. It returns [retry.ErrStale] when there is one with its id.
	CreateTask(ctx context.Context, user string, task Task) error
	// ReplaceTask stores a changed task, if the task still has the version that was
	// read. Otherwise it returns [retry.ErrStale].
	ReplaceTask(ctx context.Context, user string, read, task Task) error
	// DeleteTask deletes a task, if it still has the version that was read. Otherwise
	// it returns [retry.ErrStale].
	DeleteTask(ctx context.Context, user string, read Task) error
	// ReplaceTasks is ReplaceTask for up to [MaxBulkTasks] tasks, all or none. result
	// is the request's result after it.
	ReplaceTasks(ctx context.Context, user string, read, tasks []Task, result BulkResult) error
	// DeleteTasks is DeleteTask for up to [MaxBulkTasks] tasks, all or none. result is
	// the request's result after it; nil: the request is not done yet.
	DeleteTasks(ctx context.Context, user string, read []Task, result *Deleted) error

	// DeleteUser deletes a user and everything of theirs in one write, if it is few enough for that, and no other write
	// meets it. Otherwise deleted is false, and the user is as it was read; many says that there is more of theirs than
	// one write deletes. It returns [ErrUserNotFound], or [retry.ErrStale] when the user has changed.
	DeleteUser(ctx context.Context, id string) (read User, deleted, many bool, err error)
	// BeginDeletion deletes a user's own item, if it still is as it was read; from
	// then on no item of the user can be added. It returns [retry.ErrStale].
	BeginDeletion(ctx context.Context, read User, deletion Deletion) error
	// ResumeDeletion returns a user's deletion in progress, and whether an attempt at the same
	// request began it. The ID is empty when such an attempt has completed its deletion. It returns
	// [ErrUserNotFound] when there is none.
	ResumeDeletion(ctx context.Context, user string) (deletion Deletion, own bool, err error)
	EraserStore
}

// stopTime is how long before the invocation's deadline long work stops, to leave time for its last
// steps.
const stopTime = 3 * time.Second

// outOfTime reports whether the invocation that the context belongs to ends so
// soon that long work has to stop.
func outOfTime(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && time.Until(deadline) < stopTime
}

// now returns the moment in whole seconds, as stores keep it, so that values before a write and
// after a read agree.
func (s *Service) now() time.Time { return s.moment().Truncate(time.Second) }

func (s *Service) moment() time.Time {
	if s.Now == nil {
		return time.Now().UTC()
	}
	return s.Now().UTC()
}

// newID returns a UUID (version 7) of the moment: ids sort by the service's clock.
func newID(moment time.Time) (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	milliseconds := moment.UnixMilli()
	for i := range 6 {
		id[i] = byte(milliseconds >> (40 - 8*i))
	}
	return id.String(), nil
}

// isID reports whether s is a UUID as [newID] writes it. Another spelling of the same UUID is
// another key to a store, so it is no id.
func isID(s string) bool {
	id, err := uuid.Parse(s)
	return err == nil && id.String() == s
}
