package todo

import (
	"net/http"

	"github.com/onesynth-cdk/onesynth/schema"
)

// TaskParams names a task.
type TaskParams struct {
	ID string `path:"task_id" strict:"uuid" doc:"The task's id." example:"0195c2a4-7b1e-7c3d-9a54-3f6f0d2b8e11"`
}

// StillErasing is the answer to a deletion of a user of whom something is left.
var StillErasing = ErrorResponse{"the user is deleted; what is left of its tasks is being deleted in the background, " +
	"until when a new user cannot be created"}

// versioned and created describe the headers ETag and Location.
const (
	versioned = "The task's version, for If-Match."
	created   = "The path of what was created."
)

// The operations on the caller's user.
var (
	CreateUser = schema.Operation[schema.None, UserBody, User]{
		ID: "createUser", Route: "POST /api/v1/users/me", Function: "todoapi", Caller: schema.CallerUser,
		Summary: "Create one's user",
		Detail:  "Makes the caller a user. Only users can have tasks.",
		Status:  http.StatusCreated, Location: "/api/v1/users/me", Headers: map[string]string{"Location": created},
		Key:    schema.KeyRequired,
		Errors: []error{ErrUserExists, ErrEmailTaken, ErrUserBeingDeleted},
	}
	ReadUser = schema.Operation[schema.None, schema.None, User]{
		ID: "readUser", Route: "GET /api/v1/users/me", Function: "todoapi", Caller: schema.CallerUser,
		Summary: "Read one's user",
		Detail:  "Returns the caller's user.",
		Errors:  []error{ErrUserNotFound},
	}
	ReplaceUser = schema.Operation[schema.None, UserBody, User]{
		ID: "replaceUser", Route: "PUT /api/v1/users/me", Function: "todoapi", Caller: schema.CallerUser,
		Summary: "Change one's name and email address",
		Detail:  "Replaces name and email address.",
		Key:     schema.KeyRequired,
		Errors:  []error{ErrUserNotFound, ErrEmailTaken},
	}
	DeleteUser = schema.Operation[schema.None, schema.None, schema.None]{
		ID: "deleteUser", Route: "DELETE /api/v1/users/me", Function: "todoapi", Caller: schema.CallerUser,
		Summary: "Delete one's user and everything of it",
		Detail: "Deletes the caller's user and everything of it: tasks, counts and idempotency keys. When there is " +
			"more of it than one transaction deletes, the answer is 202: the user is gone, and the rest follows " +
			"without another request.",
		Further: map[int]any{http.StatusAccepted: StillErasing},
		Key:     schema.KeyRequired,
		Errors:  []error{ErrUserNotFound},
	}
)

// The operations on the caller's tasks.
var (
	CreateTask = schema.Operation[schema.None, TaskBody, Task]{
		ID: "createTask", Route: "POST /api/v1/tasks", Function: "todoapi", Caller: schema.CallerUser,
		Summary: "Create a task",
		Detail:  "Creates a task.",
		Status:  http.StatusCreated, Location: "/api/v1/tasks/{task_id}",
		Headers: map[string]string{"ETag": versioned, "Location": created},
		Key:     schema.KeyRequired,
		Errors:  []error{ErrUserNotFound},
	}
	ListTasks = schema.Operation[TaskFilter, schema.None, TaskList]{
		ID: "listTasks", Route: "GET /api/v1/tasks", Function: "todoapi", Caller: schema.CallerUser,
		Summary: "List, filter and search one's tasks",
		Detail: "Returns a page of the caller's tasks that match all parameters. One page looks at 300 tasks at " +
			"most. A list follows a change of a task within a moment; the task itself follows at once.",
	}
	ReadStats = schema.Operation[schema.None, schema.None, Stats]{
		ID: "readStats", Route: "GET /api/v1/tasks/stats", Function: "todoapi", Caller: schema.CallerUser,
		Summary: "Count one's tasks by status and by priority",
		Detail:  "Counts the caller's tasks, and says whether the caller is a user. One who is not has none.",
	}
	ChangeTasks = schema.Operation[schema.None, BulkBody, any]{
		ID: "changeTasks", Route: "POST /api/v1/tasks/bulk", Function: "todoapi", Caller: schema.CallerUser,
		Summary: "Change many tasks, or delete the completed ones",
		Detail: "Changes the status of up to 50 tasks, or moves those that are overdue to another day, of all for " +
			"which that is allowed at once; or deletes all completed tasks.",
		OneOf: []any{StatusesSet{}, OverdueMoved{}, CompletedDeleted{}},
		Variants: []schema.Variant{
			{Required: []string{"task_ids", "status"},
				Strict: map[string]string{"action": "one=" + SetStatus, "due_date": "null"}},
			{Required: []string{"task_ids", "due_date"},
				Strict: map[string]string{"action": "one=" + MoveOverdue, "status": "null"}},
			{Strict: map[string]string{"action": "one=" + DeleteCompleted, "task_ids": "null", "status": "null",
				"due_date": "null"}},
		},
		Key:    schema.KeyRequired,
		Errors: []error{ErrUserNotFound},
	}
	ReadTask = schema.Operation[TaskParams, schema.None, Task]{
		ID: "readTask", Route: "GET /api/v1/tasks/{task_id}", Function: "todoapi", Caller: schema.CallerUser,
		Summary: "Read a task",
		Detail:  "Returns a task.",
		Headers: map[string]string{"ETag": versioned},
		Errors:  []error{ErrTaskNotFound},
	}
	ReplaceTask = schema.Operation[TaskParams, TaskBody, Task]{
		ID: "replaceTask", Route: "PUT /api/v1/tasks/{task_id}", Function: "todoapi", Caller: schema.CallerUser,
		Summary: "Replace a task",
		Detail:  "Replaces a task: a field that is left out is cleared, but for the status.",
		Headers: map[string]string{"ETag": versioned}, IfMatch: "the task", Key: schema.KeyRequired,
		Errors: []error{ErrTaskCompleted, ErrUserNotFound, ErrTaskNotFound},
	}
	ChangeTask = schema.Operation[TaskParams, TaskChangeBody, Task]{
		ID: "changeTask", Route: "PATCH /api/v1/tasks/{task_id}", Function: "todoapi", Caller: schema.CallerUser,
		Summary: "Change fields of a task",
		Detail:  "Changes the fields that are given (RFC 7396): null clears one.",
		Headers: map[string]string{"ETag": versioned}, IfMatch: "the task", Key: schema.KeyRequired,
		Errors: []error{ErrTaskCompleted, ErrUserNotFound, ErrTaskNotFound},
	}
	DeleteTask = schema.Operation[TaskParams, schema.None, schema.None]{
		ID: "deleteTask", Route: "DELETE /api/v1/tasks/{task_id}", Function: "todoapi", Caller: schema.CallerUser,
		Summary: "Delete a task",
		Detail:  "Deletes a task.",
		IfMatch: "the task", Key: schema.KeyRequired,
		Errors: []error{ErrUserNotFound, ErrTaskNotFound},
	}
)

// The operations that say what the API is.
var (
	ReadDocument = schema.DocumentOperation("GET /api/v1/openapi.json", "todoapi",
		"Returns the description of all routes.")
	ReadHealth = schema.HealthOperation("GET /health", "todoapi", "Answers, without looking at the table.")
)

// Operations are all operations, in the order of their routes.
func Operations() []schema.Described {
	return []schema.Described{CreateUser, ReadUser, ReplaceUser, DeleteUser, CreateTask, ListTasks, ReadStats,
		ChangeTasks, ReadTask, ReplaceTask, ChangeTask, DeleteTask, ReadDocument, ReadHealth}
}
