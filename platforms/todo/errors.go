package todo

import (
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// The errors that the API returns to callers. Match them with errors.Is.
var (
	// ErrUserNotFound says that the caller has no user.
	ErrUserNotFound = problem.New(http.StatusNotFound, "", "there is no such user")
	// ErrUserExists says that the caller has a user already.
	ErrUserExists = problem.New(http.StatusConflict, "", "the user exists already")
	// ErrUserBeingDeleted says that the caller's former user is still being deleted.
	ErrUserBeingDeleted error = &problem.Error{
		Status: http.StatusConflict, Message: "the user is still being deleted", RetryAfter: 5 * time.Second,
	}
	// ErrEmailTaken says that another user has the email address.
	ErrEmailTaken = problem.New(http.StatusConflict, "", "another user has this email address")
	// ErrTaskNotFound says that the caller has no such task.
	ErrTaskNotFound = problem.New(http.StatusNotFound, "", "there is no such task")
	// ErrTaskCompleted says that the change would give a completed task another status.
	ErrTaskCompleted = problem.New(http.StatusBadRequest, "", "a completed task is not reopened")
	// ErrTaskNotOverdue says that a task is completed, cancelled, or not due before the day to which it should move.
	ErrTaskNotOverdue = problem.New(http.StatusConflict, "", "the task is not overdue")
)
