package todo

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// DefaultPageSize is how many tasks a page has unless its filter says otherwise.
const DefaultPageSize = 20

// Status is the progress of a task.
type Status string

// The statuses. A completed task stays completed.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Cancelled  Status = "cancelled"
)

// Statuses returns all statuses.
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

// Priorities returns all priorities but none.
func Priorities() []Priority { return []Priority{Low, Medium, High, Urgent} }

// MarshalJSON writes null for the zero value.
func (p Priority) MarshalJSON() ([]byte, error) { return nullable(string(p)) }

// Date is a day as YYYY-MM-DD. The zero value is none.
type Date string

// MarshalJSON writes null for the zero value.
func (d Date) MarshalJSON() ([]byte, error) { return nullable(string(d)) }

// Check adds a problem for a text that is no day of the calendar.
func (d Date) Check(p *validate.Problems, field string) { p.Date(field, string(d)) }

// Text is an optional text. The zero value is none.
type Text string

// MarshalJSON writes null for the zero value.
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

// Timestamp is a time in Unix seconds, as it is stored. On the wire it is RFC 3339 in UTC. The zero value is none.
type Timestamp int64

// At returns the timestamp of a time, without the fraction of a second.
func At(t time.Time) Timestamp { return Timestamp(t.Unix()) }

// MarshalJSON writes null for the zero value.
func (m Timestamp) MarshalJSON() ([]byte, error) {
	if m == 0 {
		return []byte("null"), nil
	}
	return time.Unix(int64(m), 0).UTC().MarshalJSON()
}

// UnmarshalText reads the text that MarshalJSON writes, without quotes.
func (m *Timestamp) UnmarshalText(text []byte) error {
	var t time.Time
	err := t.UnmarshalText(text)
	*m = At(t)
	return err
}

// User is a user's own description: on the wire, and as an item.
type User struct {
	ID string `json:"user_id" dynamodbav:"-" doc:"The subject of the user's token."`
	// Email is as given; the addresses of two users differ in more than case.
	Email     string    `json:"email" dynamodbav:"email" format:"email" example:"ann@example.com" attribute:"User's email address, as given"`
	Name      string    `json:"name" dynamodbav:"name" example:"Ann" attribute:"User's display name, 1 to 100 characters"`
	CreatedAt Timestamp `json:"created_at" dynamodbav:"created_at" format:"date-time" example:"2026-02-02T09:30:00Z" attribute:"-" column:"Creation" columntype:"timestamp"`
	UpdatedAt Timestamp `json:"updated_at" dynamodbav:"updated_at" format:"date-time" example:"2026-02-02T09:30:00Z" attribute:"-" column:"Last change" columntype:"timestamp"`
	wire.Extended
}

// Task is a task of one user: on the wire, as an item, and as a row of the lake.
type Task struct {
	// ID is a UUID that sorts by creation (version 7).
	ID          string    `json:"task_id" dynamodbav:"-" format:"uuid" example:"0195c2a4-7b1e-7c3d-9a54-3f6f0d2b8e11"`
	Title       string    `json:"title" dynamodbav:"title" example:"Water the plants" attribute:"Task title, 1 to 200 characters" column:"Title"`
	Description Text      `json:"description" dynamodbav:"description,omitempty" nullable:"true" attribute:"Task description, up to 1000 characters; absent when empty" column:"Description, if any"`
	Status      Status    `json:"status" dynamodbav:"status" enum:"pending,in_progress,completed,cancelled" attribute:"pending, in_progress, completed or cancelled" column:""`
	Priority    Priority  `json:"priority" dynamodbav:"priority,omitempty" nullable:"true" enum:"low,medium,high,urgent" attribute:"low, medium, high or urgent; absent when there is none" column:"low, medium, high or urgent, if any"`
	Category    Text      `json:"category" dynamodbav:"category,omitempty" nullable:"true" attribute:"Task category, up to 50 characters; absent when there is none" column:"Category, if any"`
	DueDate     Date      `json:"due_date" dynamodbav:"due_date,omitempty" nullable:"true" format:"date" example:"2026-02-14" attribute:"YYYY-MM-DD; absent when there is none" column:"Due date, if any" columntype:"date"`
	CreatedAt   Timestamp `json:"created_at" dynamodbav:"created_at" format:"date-time" example:"2026-02-02T09:30:00Z" attribute:"Creation, of an idempotency key its last claim, in Unix seconds" column:"Creation" columntype:"timestamp"`
	UpdatedAt   Timestamp `json:"updated_at" dynamodbav:"updated_at" format:"date-time" example:"2026-02-02T09:30:00Z" attribute:"Last change, in Unix seconds" column:"Last change" columntype:"timestamp"`
	CompletedAt Timestamp `json:"completed_at" dynamodbav:"completed_at,omitempty" nullable:"true" format:"date-time" doc:"When a completed task was completed, also one that was created so: later changes leave it. Null for any other." attribute:"Completion of a task, in Unix seconds; absent unless it is completed" column:"Completion, if completed" columntype:"timestamp"`
	Version     int       `json:"version" dynamodbav:"version" minimum:"1" doc:"1 for a new task, and one more with each change; the ETag. A change to what the task is already leaves version and updated_at as they are." example:"1" attribute:"Of a task: 1, and one more with each change; a write holds only on the version that it read" column:"Version"`
	wire.Extended
}

// Next returns the next version of the task, with the content of wanted, or the task itself if the content is the same.
// The error is [ErrTaskCompleted].
func (t Task) Next(wanted Task, now Timestamp) (Task, error) {
	if wanted == t {
		return t, nil
	}
	if wanted.Status != t.Status {
		if t.Status == Completed {
			return Task{}, ErrTaskCompleted
		}
		if wanted.Status == Completed {
			wanted.CompletedAt = now
		}
	}
	wanted.UpdatedAt = max(now, t.UpdatedAt) // clocks may disagree
	wanted.Version = t.Version + 1
	return wanted, nil
}

// MovedTo returns the task with another due date, or the task itself if it has that already. The error is
// [ErrTaskNotOverdue], unless the task is open and due before that day.
func (t Task) MovedTo(day Date, now Timestamp) (Task, error) {
	open := t.Status == Pending || t.Status == InProgress
	if t.DueDate != day && (!open || t.DueDate == "" || t.DueDate > day) {
		return Task{}, ErrTaskNotOverdue
	}
	wanted := t
	wanted.DueDate = day
	return t.Next(wanted, now)
}

// UserBody is what a user says about themselves.
type UserBody struct {
	Email string `json:"email" format:"email" maxLength:"254" doc:"Email address, kept as written. No two users have one that differs in case alone." example:"ann@example.com"`
	Name  string `json:"name" strict:"notblank" minLength:"1" maxLength:"100" doc:"Name to be shown: more than white space. It is kept as written, and white space around it counts." example:"Ann"`
}

// TaskBody is a whole task as its user gives it. Status "" means Pending for a new task, and no change for a replaced
// one.
type TaskBody struct {
	Title       string   `json:"title" strict:"notblank" minLength:"1" maxLength:"200" doc:"More than white space. It is kept as written, and white space around it counts." example:"Water the plants"`
	Description Text     `json:"description,omitempty" nullable:"true" maxLength:"1000" example:"All but the cactus."`
	Status      Status   `json:"status,omitempty" nullable:"true" enum:"pending,in_progress,completed,cancelled" doc:"Of a new task pending by default; a task that is replaced keeps the one it has. A completed task stays completed; a cancelled one may go on."`
	Priority    Priority `json:"priority,omitempty" nullable:"true" enum:",low,medium,high,urgent" doc:"None by default." example:"high"`
	Category    Text     `json:"category,omitempty" nullable:"true" maxLength:"50" doc:"Any text; none by default." example:"home"`
	DueDate     Date     `json:"due_date,omitempty" strict:"day" nullable:"true" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" patternDescription:"a date as YYYY-MM-DD" doc:"The day as YYYY-MM-DD, of the years 0001 to 9999; none by default." example:"2026-02-14"`
}

// Apply returns the task with the content of the input.
func (in TaskBody) Apply(task Task) Task {
	in.Status = cmp.Or(in.Status, task.Status)
	validate.Apply(&task, in)
	return task
}

// TaskChangeBody is a change of a task. A nil field stays as it is. The zero value clears a field that may be empty.
type TaskChangeBody struct {
	Title       *string   `json:"title,omitzero" strict:"notblank" nullable:"false" minLength:"1" maxLength:"200" doc:"More than white space. It is kept as written, and white space around it counts." example:"Water all plants"`
	Description *Text     `json:"description,omitzero" maxLength:"1000" doc:"Null or \"\" clears it."`
	Status      *Status   `json:"status,omitzero" nullable:"false" enum:"pending,in_progress,completed,cancelled" doc:"A completed task stays completed; a cancelled one may go on."`
	Priority    *Priority `json:"priority,omitzero" enum:",low,medium,high,urgent" doc:"Null or \"\" clears it."`
	Category    *Text     `json:"category,omitzero" maxLength:"50" doc:"Null or \"\" clears it."`
	DueDate     *Date     `json:"due_date,omitzero" strict:"day" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" patternDescription:"a date as YYYY-MM-DD" doc:"The day as YYYY-MM-DD, of the years 0001 to 9999; null or \"\" clears it." example:"2026-02-14"`
}

// Apply returns the task with the change made.
func (c TaskChangeBody) Apply(task Task) Task {
	validate.Apply(&task, c)
	return task
}

// UnmarshalJSON reads a JSON merge patch.
func (c *TaskChangeBody) UnmarshalJSON(data []byte) error {
	type fields TaskChangeBody
	return validate.MergePatch(data, (*fields)(c))
}

// Flag is a flag in a query: true or false. The zero value is an absent flag.
type Flag string

// Yes is a flag that is set.
const Yes Flag = "true"

// Sort is the order of a list of tasks.
type Sort string

// The orders. All but ByCreation list only the tasks that have the attribute.
const (
	ByDefault  Sort = ""           // ByDueDate for a filter by dates, else ByCreation
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
	Timezone string   `header:"X-Timezone" strict:"timezone" maxLength:"64" doc:"IANA name of the time zone that says which day is today; UTC by default." example:"Europe/Berlin"`
}

// Check adds a problem for days that contradict each other, and for an unknown time zone. The cursor is checked when it
// is used.
func (t TaskFilter) Check(p *validate.Problems, _ string) {
	var ignored validate.Problems // of the fields themselves
	from, to := ignored.Date("due_from", string(t.DueFrom)), ignored.Date("due_to", string(t.DueTo))
	if from && to && t.DueTo < t.DueFrom {
		p.Add("due_to", validate.RuleConflict, "is %s, before due_from, which is %s: exchange them",
			validate.Quoted(string(t.DueTo)), validate.Quoted(string(t.DueFrom)))
	}
	p.Timezone(t.Timezone)
}

// TaskList is a part of a list of tasks, also on the wire. It may have fewer tasks than its limit, even none, and still
// not be the last part.
type TaskList struct {
	Tasks []Task `json:"tasks" nullable:"false"`
	Next  Text   `json:"next_cursor" nullable:"true" doc:"Where the next page begins; null: this is the last one."`
}

// Stats counts a user's tasks.
type Stats struct {
	ByStatus   StatusCounts   `json:"by_status"`
	ByPriority PriorityCounts `json:"by_priority" doc:"Of tasks of any status."`
	Total      int            `json:"total" example:"4"`
	IsUser     bool           `json:"is_user" doc:"Whether the caller is a user. One who is not has no tasks." example:"true"`
}

// StatusCounts counts tasks by status: on the wire, and in the item of a user's counts.
type StatusCounts struct {
	Pending    int `json:"pending" dynamodbav:"pending" example:"2" attribute:"On a COUNTS# item, as the following: the user's tasks with this status"`
	InProgress int `json:"in_progress" dynamodbav:"in_progress" example:"0" attribute:"See pending"`
	Completed  int `json:"completed" dynamodbav:"completed" example:"1" attribute:"See pending"`
	Cancelled  int `json:"cancelled" dynamodbav:"cancelled" example:"1" attribute:"See pending"`
}

// Total returns the number of all tasks.
func (c StatusCounts) Total() int { return c.Pending + c.InProgress + c.Completed + c.Cancelled }

// PriorityCounts counts tasks by priority: on the wire, and in the item of a user's counts.
type PriorityCounts struct {
	Low    int `json:"low" dynamodbav:"low" example:"1" attribute:"The user's tasks with this priority"`
	Medium int `json:"medium" dynamodbav:"medium" example:"0" attribute:"See low"`
	High   int `json:"high" dynamodbav:"high" example:"0" attribute:"See low"`
	Urgent int `json:"urgent" dynamodbav:"urgent" example:"0" attribute:"See low"`
	None   int `json:"none" dynamodbav:"no_priority" example:"3" attribute:"The user's tasks without a priority"`
}

// Erased is the progress of a user's deletion.
type Erased struct {
	// Complete says that no item of the user is left; otherwise the eraser deletes the rest.
	Complete bool
}
