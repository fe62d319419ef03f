// Package todo is To-Do: users keep tasks of their own. The rules live here and
// know no AWS type; package dynamodb below stores, package api serves.
package todo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

const (
	// MaxBulkTasks is how many tasks one write changes.
	MaxBulkTasks = 50
	// DefaultPageSize is how many tasks a page has unless its filter says.
	DefaultPageSize = 20
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

// MarshalJSON writes null for none.
func (p Priority) MarshalJSON() ([]byte, error) { return nullable(string(p)) }

// Date is a day as YYYY-MM-DD. The zero value is none.
type Date string

// MarshalJSON writes null for none.
func (d Date) MarshalJSON() ([]byte, error) { return nullable(string(d)) }

// Check implements [validate.Checker].
func (d Date) Check(p *validate.Problems, field string) { p.Date(field, string(d)) }

// Text is an optional text. The zero value is none.
type Text string

// MarshalJSON writes null for none.
func (t Text) MarshalJSON() ([]byte, error) { return nullable(string(t)) }

func nullable(text string) ([]byte, error) {
	if text == "" {
		return []byte("null"), nil
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // the writer of the whole document escapes, or not
	err := encoder.Encode(text)
	return b.Bytes(), err
}

// Moment is an optional time. The zero value is none.
type Moment struct{ time.Time }

// MarshalJSON writes null for none.
func (m Moment) MarshalJSON() ([]byte, error) {
	if m.IsZero() {
		return []byte("null"), nil
	}
	return m.Time.MarshalJSON()
}

// User is a user, as they describe themselves, also on the wire. Moments are whole seconds
// in UTC.
type User struct {
	ID string `json:"user_id" doc:"The subject of the user's token."`
	// Email is as given; the addresses of two users differ in more than case.
	Email     string    `json:"email" format:"email" example:"ann@example.com"`
	Name      string    `json:"name" example:"Ann"`
	CreatedAt time.Time `json:"created_at" example:"2026-02-02T09:30:00Z"`
	UpdatedAt time.Time `json:"updated_at" example:"2026-02-02T09:30:00Z"`
}

// Task is a task of one user, also on the wire. Moments are whole seconds in UTC.
type Task struct {
	// ID is a UUID that sorts by creation (version 7).
	ID          string    `json:"task_id" format:"uuid" example:"0195c2a4-7b1e-7c3d-9a54-3f6f0d2b8e11"`
	Title       string    `json:"title" example:"Water the plants"`
	Description Text      `json:"description" nullable:"true"`
	Status      Status    `json:"status" enum:"pending,in_progress,completed,cancelled"`
	Priority    Priority  `json:"priority" nullable:"true" enum:"low,medium,high,urgent"`
	Category    Text      `json:"category" nullable:"true"`
	DueDate     Date      `json:"due_date" nullable:"true" format:"date" example:"2026-02-14"`
	CreatedAt   time.Time `json:"created_at" example:"2026-02-02T09:30:00Z"`
	UpdatedAt   time.Time `json:"updated_at" example:"2026-02-02T09:30:00Z"`
	CompletedAt Moment    `json:"completed_at" nullable:"true" format:"date-time" doc:"When a completed task was completed, also one that was created so: later changes leave it. Null for any other."`
	Version     int       `json:"version" minimum:"1" doc:"1 for a new task, and one more with each change; the ETag. A change to what the task is already leaves version and updated_at as they are." example:"1"`
}

// UserInput is what a user says about themselves, also on the wire.
type UserInput struct {
	Email string `json:"email" format:"email" maxLength:"254" doc:"Email address, kept as written. No two users have one that differs in case alone." example:"ann@example.com"`
	Name  string `json:"name" minLength:"1" maxLength:"100" doc:"Name to be shown: more than white space. It is kept as written, and white space around it counts." example:"Ann"`
}

// TaskInput is a whole task as its user gives it, also on the wire. Status "" is Pending for
// a new task, and what it was for one that is replaced.
type TaskInput struct {
	Title       string   `json:"title" minLength:"1" maxLength:"200" doc:"More than white space. It is kept as written, and white space around it counts." example:"Water the plants"`
	Description Text     `json:"description,omitempty" nullable:"true" maxLength:"1000" example:"All but the cactus."`
	Status      Status   `json:"status,omitempty" nullable:"true" enum:"pending,in_progress,completed,cancelled" doc:"Of a new task pending by default; a task that is replaced keeps the one it has. A completed task stays completed; a cancelled one may go on."`
	Priority    Priority `json:"priority,omitempty" nullable:"true" enum:",low,medium,high,urgent" doc:"None by default." example:"high"`
	Category    Text     `json:"category,omitempty" nullable:"true" maxLength:"50" doc:"Any text; none by default." example:"home"`
	DueDate     Date     `json:"due_date,omitempty" nullable:"true" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" patternDescription:"a date as YYYY-MM-DD" doc:"The day as YYYY-MM-DD, of the years 0001 to 9999; none by default." example:"2026-02-14"`
}

// TaskChange is what changes of a task, also on the wire: nil stays as it is, and the zero
// value of a field that may be empty clears it.
type TaskChange struct {
	Title       *string   `json:"title,omitzero" nullable:"false" minLength:"1" maxLength:"200" doc:"More than white space. It is kept as written, and white space around it counts." example:"Water all plants"`
	Description *Text     `json:"description,omitzero" maxLength:"1000" doc:"Null or \"\" clears it."`
	Status      *Status   `json:"status,omitzero" nullable:"false" enum:"pending,in_progress,completed,cancelled" doc:"A completed task stays completed; a cancelled one may go on."`
	Priority    *Priority `json:"priority,omitzero" enum:",low,medium,high,urgent" doc:"Null or \"\" clears it."`
	Category    *Text     `json:"category,omitzero" maxLength:"50" doc:"Null or \"\" clears it."`
	DueDate     *Date     `json:"due_date,omitzero" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" patternDescription:"a date as YYYY-MM-DD" doc:"The day as YYYY-MM-DD, of the years 0001 to 9999; null or \"\" clears it." example:"2026-02-14"`
}

// UnmarshalJSON reads a JSON merge patch.
func (c *TaskChange) UnmarshalJSON(data []byte) error {
	type fields TaskChange
	return validate.MergePatch(data, (*fields)(c))
}

// TaskIDs are ids of different tasks.
type TaskIDs []string

// Check implements [validate.Checker]. It accepts an id that no task can have: such a task is not
// found. It leaves a list that is too long to the form, whose limit that breaks.
func (ids TaskIDs) Check(p *validate.Problems, field string) {
	if len(ids) > MaxBulkTasks {
		return
	}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			p.Add(fmt.Sprintf("%s[%d]", field, i), validate.RuleUnique, "is %s again: give each id once", validate.Quoted(id))
		}
	}
}

// Flag is a flag in a query: true, false or, as the zero value, not given.
type Flag string

// Yes is a flag that is set.
const Yes Flag = "true"

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

// TaskFilter says which tasks to list, also on the wire. A field's zero value does not narrow the
// list; a zero limit is [DefaultPageSize].
type TaskFilter struct {
	Status   Status   `query:"status" enum:"pending,in_progress,completed,cancelled" doc:"Only tasks of this status."`
	Priority Priority `query:"priority" enum:"low,medium,high,urgent" doc:"Only tasks of this priority."`
	Category Text     `query:"category" maxLength:"50" doc:"Only tasks of exactly this category: case and white space count."`
	DueFrom  Date     `query:"due_from" format:"date" doc:"Only tasks that are due on this day or later."`
	DueTo    Date     `query:"due_to" format:"date" doc:"Only tasks that are due on this day or earlier."`
	Overdue  Flag     `query:"overdue" enum:"true,false" doc:"true: only tasks that were due before today and are neither completed nor cancelled."`
	Search   string   `query:"q" maxLength:"200" doc:"Only tasks whose title or description has this text, in any case."`
	Sort     Sort     `query:"sort" enum:"created_at,status,due_date,priority,category" doc:"Order: created_at newest first, due_date earliest first, the others by name. All but created_at list only the tasks that have the field. By default due_date if the list is narrowed by dates, else created_at."`
	Limit    int      `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many to return at most. A page may have fewer and still be continued."`
	Cursor   Text     `query:"cursor" doc:"The next_cursor of the page before, with the same parameters otherwise, but for limit, which may change."`
	Timezone string   `header:"X-Timezone" maxLength:"64" doc:"IANA name of the time zone that says which day is today; UTC by default." example:"Europe/Berlin"`
}

// Check implements [validate.Checker]. It does not check the cursor, which is checked when it is
// used.
func (t TaskFilter) Check(p *validate.Problems, _ string) {
	var ignored validate.Problems // of the fields themselves
	from, to := ignored.Date("due_from", string(t.DueFrom)), ignored.Date("due_to", string(t.DueTo))
	if from && to && t.DueTo < t.DueFrom {
		p.Add("due_to", validate.RuleConflict, "is %s, before due_from, which is %s: exchange them", validate.Quoted(string(t.DueTo)), validate.Quoted(string(t.DueFrom)))
	}
	p.Timezone(t.Timezone)
}

// TaskList is a part of a list of tasks, also on the wire. It may have fewer tasks than its
// limit, even none, and still be continued.
type TaskList struct {
	Tasks []Task `json:"tasks" nullable:"false"`
	Next  Text   `json:"next_cursor" nullable:"true" doc:"Where the next page begins; null: this is the last one."`
}

// Stats counts a user's tasks.
type Stats struct {
	ByStatus   StatusCounts   `json:"by_status"`
	ByPriority PriorityCounts `json:"by_priority" doc:"Of tasks of any status."`
	Total      int            `json:"total" example:"4"`
}

// StatusCounts counts tasks by status.
type StatusCounts struct {
	Pending    int `json:"pending" example:"2"`
	InProgress int `json:"in_progress" example:"0"`
	Completed  int `json:"completed" example:"1"`
	Cancelled  int `json:"cancelled" example:"1"`
}

// PriorityCounts counts tasks by priority.
type PriorityCounts struct {
	Low    int `json:"low" example:"1"`
	Medium int `json:"medium" example:"0"`
	High   int `json:"high" example:"0"`
	Urgent int `json:"urgent" example:"0"`
	None   int `json:"none" example:"3"`
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
