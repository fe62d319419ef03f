package api

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
)

type taskInput struct{ Body TaskBody }

// TaskBody is a whole task as its user gives it.
type TaskBody struct {
	Title       string  `json:"title" minLength:"1" maxLength:"200" doc:"More than white space. It is kept as written, and white space around it counts." example:"Water the plants"`
	Description *string `json:"description,omitempty" nullable:"true" maxLength:"1000" example:"All but the cactus."`
	Status      *string `json:"status,omitempty" nullable:"true" enum:"pending,in_progress,completed,cancelled" doc:"Of a new task pending by default; a task that is replaced keeps the one it has. A completed task stays completed; a cancelled one may go on."`
	Priority    *string `json:"priority,omitempty" nullable:"true" enum:",low,medium,high,urgent" doc:"None by default." example:"high"`
	Category    *string `json:"category,omitempty" nullable:"true" maxLength:"50" doc:"Any text; none by default." example:"home"`
	DueDate     *string `json:"due_date,omitempty" nullable:"true" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" patternDescription:"a date as YYYY-MM-DD" doc:"The day as YYYY-MM-DD, of the years 0001 to 9999; none by default." example:"2026-02-14"`
}

// Resolve holds the input to the rules.
func (i *taskInput) Resolve(huma.Context) []error { return httpapi.Broken(i.Body.domain().Validate()) }

func (b *TaskBody) domain() todo.TaskInput {
	return todo.TaskInput{
		Title:       b.Title,
		Description: text(b.Description),
		Status:      todo.Status(text(b.Status)),
		Priority:    todo.Priority(text(b.Priority)),
		Category:    text(b.Category),
		DueDate:     todo.Date(text(b.DueDate)),
	}
}

type replaceInput struct {
	TaskPath
	Body TaskBody
}

// Resolve holds the input to the rules.
func (i *replaceInput) Resolve(huma.Context) []error {
	return httpapi.Broken(i.Body.domain().Validate())
}

// TaskPath is the path of a task. huma sees no parameters in a type that is not
// exported.
type TaskPath struct {
	ID string `path:"task_id" doc:"The task's id." example:"0195c2a4-7b1e-7c3d-9a54-3f6f0d2b8e11"`
}

type changeInput struct {
	TaskPath
	Body TaskChangeBody
}

// TaskChangeBody is a change of a task.
type TaskChangeBody struct {
	Title       change `json:"title,omitzero" nullable:"false" minLength:"1" maxLength:"200" doc:"More than white space. It is kept as written, and white space around it counts." example:"Water all plants"`
	Description change `json:"description,omitzero" maxLength:"1000" doc:"Null or \"\" clears it."`
	Status      change `json:"status,omitzero" nullable:"false" enum:"pending,in_progress,completed,cancelled" doc:"A completed task stays completed; a cancelled one may go on."`
	Priority    change `json:"priority,omitzero" enum:",low,medium,high,urgent" doc:"Null or \"\" clears it."`
	Category    change `json:"category,omitzero" maxLength:"50" doc:"Null or \"\" clears it."`
	DueDate     change `json:"due_date,omitzero" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" patternDescription:"a date as YYYY-MM-DD" doc:"The day as YYYY-MM-DD, of the years 0001 to 9999; null or \"\" clears it." example:"2026-02-14"`
}

// change is a field that can be left out, which is the zero value, or null, which
// is the empty text.
type change struct {
	given bool
	text  string
}

// UnmarshalJSON reads text or null. It ignores anything else: validation has
// reported the wrong type already, and still has to look at the fields that follow.
func (c *change) UnmarshalJSON(data []byte) error {
	c.given = json.Unmarshal(data, &c.text) == nil
	return nil
}

// Schema is text or null.
func (change) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}

func changed[T ~string](c change) *T {
	if !c.given {
		return nil
	}
	value := T(c.text)
	return &value
}

// Resolve holds the input to the rules.
func (i *changeInput) Resolve(huma.Context) []error { return httpapi.Broken(i.domain().Validate()) }

func (i *changeInput) domain() todo.TaskChange {
	return todo.TaskChange{
		Title:       changed[string](i.Body.Title),
		Description: changed[string](i.Body.Description),
		Status:      changed[todo.Status](i.Body.Status),
		Priority:    changed[todo.Priority](i.Body.Priority),
		Category:    changed[string](i.Body.Category),
		DueDate:     changed[todo.Date](i.Body.DueDate),
	}
}

type taskOutput struct {
	ETag string `header:"ETag" hidden:"true"`
	Body Task
}

// Task is a task.
type Task struct {
	TaskID      string  `json:"task_id" format:"uuid" example:"0195c2a4-7b1e-7c3d-9a54-3f6f0d2b8e11"`
	Title       string  `json:"title" example:"Water the plants"`
	Description *string `json:"description"`
	Status      string  `json:"status" enum:"pending,in_progress,completed,cancelled"`
	Priority    *string `json:"priority" enum:"low,medium,high,urgent"`
	Category    *string `json:"category"`
	DueDate     *string `json:"due_date" format:"date" example:"2026-02-14"`
	CreatedAt   string  `json:"created_at" format:"date-time" example:"2026-02-02T09:30:00Z"`
	UpdatedAt   string  `json:"updated_at" format:"date-time" example:"2026-02-02T09:30:00Z"`
	CompletedAt *string `json:"completed_at" format:"date-time" doc:"When a completed task was completed, also one that was created so: later changes leave it. Null for any other."`
	Version     int     `json:"version" minimum:"1" doc:"1 for a new task, and one more with each change; the ETag. A change to what the task is already leaves version and updated_at as they are." example:"1"`
}

func task(t todo.Task) Task {
	wire := Task{
		TaskID:      t.ID,
		Title:       t.Title,
		Description: optional(t.Description),
		Status:      string(t.Status),
		Priority:    optional(t.Priority),
		Category:    optional(t.Category),
		DueDate:     optional(t.DueDate),
		CreatedAt:   timestamp(t.CreatedAt),
		UpdatedAt:   timestamp(t.UpdatedAt),
		Version:     t.Version,
	}
	if !t.CompletedAt.IsZero() {
		wire.CompletedAt = optional(timestamp(t.CompletedAt))
	}
	return wire
}

type listInput struct {
	Status   string `query:"status" enum:"pending,in_progress,completed,cancelled" doc:"Only tasks of this status."`
	Priority string `query:"priority" enum:"low,medium,high,urgent" doc:"Only tasks of this priority."`
	Category string `query:"category" maxLength:"50" doc:"Only tasks of exactly this category: case and white space count."`
	DueFrom  string `query:"due_from" format:"date" doc:"Only tasks that are due on this day or later."`
	DueTo    string `query:"due_to" format:"date" doc:"Only tasks that are due on this day or earlier."`
	Overdue  string `query:"overdue" enum:"true,false" doc:"true: only tasks that were due before today and are neither completed nor cancelled."`
	Search   string `query:"q" maxLength:"200" doc:"Only tasks whose title or description has this text, in any case."`
	Sort     string `query:"sort" enum:"created_at,status,due_date,priority,category" doc:"Order: created_at newest first, due_date earliest first, the others by name. All but created_at list only the tasks that have the field. By default due_date if the list is narrowed by dates, else created_at."`
	Limit    int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many to return at most. A page may have fewer and still be continued."`
	Cursor   string `query:"cursor" doc:"The next_cursor of the page before, with the same parameters otherwise, but for limit, which may change."`
	Timezone string `header:"X-Timezone" maxLength:"64" doc:"IANA name of the time zone that says which day is today; UTC by default." example:"Europe/Berlin"`

	zone *time.Location
}

// Resolve holds the input to the rules.
func (i *listInput) Resolve(huma.Context) []error {
	zone, err := httpapi.Timezone(i.Timezone)
	if err != nil {
		return append(httpapi.Broken(i.filter().Validate()), httpapi.Broken(err)...)
	}
	i.zone = zone
	return httpapi.Broken(i.filter().Validate())
}

func (i *listInput) filter() todo.TaskFilter {
	return todo.TaskFilter{
		Status:   todo.Status(i.Status),
		Priority: todo.Priority(i.Priority),
		Category: i.Category,
		DueFrom:  todo.Date(i.DueFrom),
		DueTo:    todo.Date(i.DueTo),
		Overdue:  i.Overdue == "true",
		Search:   i.Search,
		Sort:     todo.Sort(i.Sort),
		Limit:    i.Limit,
		Cursor:   i.Cursor,
		Zone:     i.zone,
	}
}

// TaskList is a page of tasks.
type TaskList struct {
	Tasks      []Task  `json:"tasks" nullable:"false"`
	NextCursor *string `json:"next_cursor" doc:"Where the next page begins; null: this is the last one."`
}

// Stats counts tasks.
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

func (s *server) registerTasks() {
	precisely := httpapi.Forms{
		"path.task_id": httpapi.Format("uuid"), "body.title": httpapi.NotBlank, "body.due_date": httpapi.DayOrEmpty,
	}
	created := func(_ context.Context, _ *taskInput, t todo.Task) (int, any) { return http.StatusCreated, task(t) }
	httpapi.Mutate(s.Server, httpapi.Operation{
		Method: http.MethodPost, Path: "/api/v1/tasks", ID: "createTask", Status: http.StatusCreated, Form: Task{}, Headers: createdTask(),
		Description: "Creates a task.",
		Precisely:   precisely,
		Errors:      []error{todo.ErrUserNotFound},
	}, func(ctx context.Context, input *taskInput) (todo.Task, error) {
		t, err := s.service.CreateTask(ctx, httpapi.CallerFrom(ctx).ID, input.Body.domain())
		if err == nil {
			s.metrics.Emit(ctx, kit.Count("TasksCreated", 1))
		}
		return t, err
	}, created)

	httpapi.Serve(s.Server, httpapi.Operation{
		Method: http.MethodGet, Path: "/api/v1/tasks", ID: "listTasks", Status: http.StatusOK,
		Description: "Returns a page of the caller's tasks that match all parameters. One page looks at 5,000 tasks at most. A list follows a change of a task within a moment; the task itself follows at once.",
		Precisely:   httpapi.Forms{"header.X-Timezone": httpapi.Format(httpapi.TimezoneFormat)},
	}, func(ctx context.Context, input *listInput) (TaskList, error) {
		page, err := s.service.ListTasks(ctx, httpapi.CallerFrom(ctx).ID, input.filter())
		list := TaskList{Tasks: make([]Task, len(page.Tasks)), NextCursor: optional(page.Next)}
		for i, t := range page.Tasks {
			list.Tasks[i] = task(t)
		}
		return list, err
	})

	httpapi.Serve(s.Server, httpapi.Operation{
		Method: http.MethodGet, Path: "/api/v1/tasks/stats", ID: "readStats", Status: http.StatusOK,
		Description: "Counts the caller's tasks. A caller without a user has none.",
	}, func(ctx context.Context, _ *struct{}) (Stats, error) {
		counts, err := s.service.Stats(ctx, httpapi.CallerFrom(ctx).ID)
		return stats(counts), err
	})

	httpapi.Register(s.Server, httpapi.Operation{
		Method: http.MethodGet, Path: "/api/v1/tasks/{task_id}", ID: "readTask", Status: http.StatusOK, Headers: taskHeaders(),
		Description: "Returns a task.",
		Precisely:   precisely,
		Errors:      []error{todo.ErrTaskNotFound},
	}, func(ctx context.Context, input *TaskPath) (*taskOutput, error) {
		t, err := s.service.GetTask(ctx, httpapi.CallerFrom(ctx).ID, input.ID)
		if err != nil {
			return nil, err
		}
		return &taskOutput{ETag: httpapi.ETag(t.Version), Body: task(t)}, nil
	})

	changeErrors := []error{todo.ErrTaskCompleted, todo.ErrUserNotFound, todo.ErrTaskNotFound, &todo.VersionError{Current: 4}}
	httpapi.Mutate(s.Server, httpapi.Operation{
		Method: http.MethodPut, Path: "/api/v1/tasks/{task_id}", ID: "replaceTask", Status: http.StatusOK, Form: Task{}, Headers: taskHeaders(), IfMatch: "the task",
		Description: "Replaces a task: a field that is left out is cleared, but for the status.",
		Precisely:   precisely,
		Errors:      changeErrors,
	}, func(ctx context.Context, input *replaceInput) (t todo.Task, err error) {
		err = httpapi.IfMatch(ctx).Attempt(func(ifVersion int) (err error) {
			t, err = s.service.ReplaceTask(ctx, httpapi.CallerFrom(ctx).ID, input.ID, input.Body.domain(), ifVersion)
			return err
		}, currentVersion)
		return t, err
	}, func(_ context.Context, _ *replaceInput, t todo.Task) (int, any) { return http.StatusOK, task(t) })

	httpapi.Mutate(s.Server, httpapi.Operation{
		Method: http.MethodPatch, Path: "/api/v1/tasks/{task_id}", ID: "changeTask", Status: http.StatusOK, Form: Task{}, Headers: taskHeaders(), IfMatch: "the task",
		Description: "Changes the fields that are given (RFC 7396): null clears one.",
		Precisely:   precisely,
		Errors:      changeErrors,
	}, func(ctx context.Context, input *changeInput) (t todo.Task, err error) {
		err = httpapi.IfMatch(ctx).Attempt(func(ifVersion int) (err error) {
			t, err = s.service.ChangeTask(ctx, httpapi.CallerFrom(ctx).ID, input.ID, input.domain(), ifVersion)
			return err
		}, currentVersion)
		return t, err
	}, func(_ context.Context, _ *changeInput, t todo.Task) (int, any) { return http.StatusOK, task(t) })

	httpapi.Mutate(s.Server, httpapi.Operation{
		Method: http.MethodDelete, Path: "/api/v1/tasks/{task_id}", ID: "deleteTask", Status: http.StatusNoContent, IfMatch: "the task",
		Description: "Deletes a task.",
		Precisely:   precisely,
		Errors:      []error{todo.ErrUserNotFound, todo.ErrTaskNotFound, &todo.VersionError{Current: 4}},
	}, func(ctx context.Context, input *TaskPath) (any, error) {
		return nil, httpapi.IfMatch(ctx).Attempt(func(ifVersion int) error {
			return s.service.DeleteTask(ctx, httpapi.CallerFrom(ctx).ID, input.ID, ifVersion)
		}, currentVersion)
	}, func(context.Context, *TaskPath, any) (int, any) { return http.StatusNoContent, nil })
}

// taskHeaders are described of answers that have a task, location of those that have
// made something.
func taskHeaders() map[string]string {
	return map[string]string{"ETag": "The task's version, for If-Match."}
}

func location() map[string]string {
	return map[string]string{"Location": "The path of what was created."}
}

func createdTask() map[string]string {
	headers := taskHeaders()
	maps.Copy(headers, location())
	return headers
}

// currentVersion is the version of a task that a change was not meant for.
func currentVersion(err error) (int, bool) {
	other, ok := errors.AsType[*todo.VersionError](err)
	if !ok {
		return 0, false
	}
	return other.Current, true
}

func stats(counts todo.Stats) Stats {
	wire := Stats{
		ByStatus: StatusCounts{
			Pending:    counts.ByStatus[todo.Pending],
			InProgress: counts.ByStatus[todo.InProgress],
			Completed:  counts.ByStatus[todo.Completed],
			Cancelled:  counts.ByStatus[todo.Cancelled],
		},
		ByPriority: PriorityCounts{
			Low:    counts.ByPriority[todo.Low],
			Medium: counts.ByPriority[todo.Medium],
			High:   counts.ByPriority[todo.High],
			Urgent: counts.ByPriority[todo.Urgent],
			None:   counts.ByPriority[todo.NoPriority],
		},
	}
	wire.Total = wire.ByStatus.Pending + wire.ByStatus.InProgress + wire.ByStatus.Completed + wire.ByStatus.Cancelled
	return wire
}

// timestamp is a moment as the wire format writes it.
func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// optional is text that is null when there is none.
func optional[T ~string](value T) *string {
	if value == "" {
		return nil
	}
	text := string(value)
	return &text
}

// text is text that may be left out or null.
func text(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}
