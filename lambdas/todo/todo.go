// Package todo is To-Do: users keep tasks of their own. The rules live here and
// know no AWS type; package dynamodb below stores, package api serves.
package todo

import (
	"errors"
	"fmt"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// The rules' numbers.
const (
	MaxTitleLength       = 200
	MaxDescriptionLength = 1000
	MaxCategoryLength    = 50
	MaxNameLength        = 100
	MaxEmailLength       = validate.MaxEmailLength
	MaxSearchLength      = 200
	MaxBulkTasks         = 50
	DefaultPageSize      = 20
	MaxPageSize          = 100
)

// Status is the progress of a task.
type Status string

// The statuses. A completed task stays completed.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Cancelled  Status = "cancelled"
)

// Statuses are all statuses.
func Statuses() []Status { return []Status{Pending, InProgress, Completed, Cancelled} }

// Priority is the importance of a task. The zero value is none.
type Priority string

// The priorities.
const (
	NoPriority Priority = ""
	Low        Priority = "low"
	Medium     Priority = "medium"
	High       Priority = "high"
	Urgent     Priority = "urgent"
)

// Priorities are all priorities but none.
func Priorities() []Priority { return []Priority{Low, Medium, High, Urgent} }

// Date is a day as YYYY-MM-DD. The zero value is none.
type Date string

// User is a user, as they describe themselves.
type User struct {
	// ID is the subject of the user's token.
	ID string
	// Email is as given; no two users have one that differs in case alone.
	Email string
	Name  string
	// CreatedAt and UpdatedAt are whole seconds.
	CreatedAt, UpdatedAt time.Time
}

// Task is a task of one user.
type Task struct {
	// ID is a UUID that sorts by creation (version 7).
	ID          string
	Title       string
	Description string
	Status      Status
	Priority    Priority
	Category    string
	DueDate     Date
	// CreatedAt, UpdatedAt and CompletedAt are whole seconds. CompletedAt is zero
	// unless Status is Completed.
	CreatedAt, UpdatedAt, CompletedAt time.Time
	// Version is 1 for a new task and counts its changes.
	Version int
}

// UserInput is what a user says about themselves.
type UserInput struct {
	Email, Name string
}

// TaskInput is a whole task as its user gives it. Status "" is Pending for a new
// task, and what it was for one that is replaced.
type TaskInput struct {
	Title       string
	Description string
	Status      Status
	Priority    Priority
	Category    string
	DueDate     Date
}

// TaskChange is what changes of a task; nil stays as it is, and the zero value
// of a field that may be empty clears it.
type TaskChange struct {
	Title       *string
	Description *string
	Status      *Status
	Priority    *Priority
	Category    *string
	DueDate     *Date
}

// Sort is the order of a list of tasks.
type Sort string

// The orders. All but ByCreation list only the tasks that have the attribute.
const (
	ByDefault  Sort = ""           // that of the filter that is looked up: ByDueDate for dates, else ByCreation
	ByCreation Sort = "created_at" // newest first
	ByStatus   Sort = "status"     // by name of the status
	ByDueDate  Sort = "due_date"   // earliest first
	ByPriority Sort = "priority"   // by name of the priority
	ByCategory Sort = "category"   // by category
)

// TaskFilter says which tasks to list. A zero value of a field does not narrow.
type TaskFilter struct {
	Status   Status
	Priority Priority
	Category string
	// DueFrom and DueTo are the first and the last day.
	DueFrom, DueTo Date
	// Overdue keeps tasks that were due before today and are neither completed nor
	// cancelled.
	Overdue bool
	// Search keeps tasks whose title or description has the text, in any case.
	Search string
	Sort   Sort
	// Limit is how many tasks a page has at most; 0 is DefaultPageSize.
	Limit int
	// Cursor is TaskPage.Next of the page before; empty: the first page.
	Cursor string
	// Zone says which day is today. Nil: UTC.
	Zone *time.Location
}

// TaskPage is a part of a list of tasks.
type TaskPage struct {
	Tasks []Task
	// Next continues the list; empty: it ends here. A page may have fewer tasks than
	// its limit, even none, and still be continued.
	Next string
}

// Stats counts a user's tasks. All statuses and priorities are keys, and
// NoPriority.
type Stats struct {
	ByStatus   map[Status]int
	ByPriority map[Priority]int
}

// BulkResult has the outcome for each task of a bulk change.
type BulkResult struct {
	// Changed are the ids of the tasks changed or deleted, of a deletion of all
	// completed tasks in no order.
	Changed []string
	// Failed are the others with the reason: an error of this package.
	Failed map[string]error
}

// Deleted says how many completed tasks were deleted.
type Deleted struct {
	Count int
	// More says that there was no time for the rest.
	More bool
}

// Erased says how far the deletion of a user got.
type Erased struct {
	// Complete says that no item of the user is left; otherwise the rest is deleted in
	// the background.
	Complete bool
}

// Errors, to be matched with errors.Is.
var (
	// ErrUserNotFound says that the caller has no user.
	ErrUserNotFound = errors.New("there is no such user")
	// ErrUserExists says that the caller has a user already.
	ErrUserExists = errors.New("the user exists already")
	// ErrUserBeingDeleted says that the caller's former user is still being
	// deleted. Try again later.
	ErrUserBeingDeleted = errors.New("the user is still being deleted")
	// ErrEmailTaken says that another user has the email address.
	ErrEmailTaken = errors.New("another user has this email address")
	// ErrTaskNotFound says that the caller has no such task.
	ErrTaskNotFound = errors.New("there is no such task")
	// ErrTaskCompleted says that a completed task's status would change.
	ErrTaskCompleted = errors.New("a completed task is not reopened")
	// ErrStale says that the items that a write was computed from have changed. The
	// services compute again; they return it when so many write at once that trying
	// again later is better.
	ErrStale = errors.New("the stored item has changed since it was read: try again shortly")
)

// VersionError says that the task has another version than the caller expected.
type VersionError struct {
	// Current is the task's version.
	Current int
}

// Error says which version the task has.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the task has version %d: read it again, and make the change to what it is now", e.Current)
}
