package api

import (
	"context"
	"net/http"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// TaskPath is the path of a task.
type TaskPath struct {
	ID string `path:"task_id" doc:"The task's id." example:"0195c2a4-7b1e-7c3d-9a54-3f6f0d2b8e11"`
}

type (
	taskInput    = httpapi.Input[todo.TaskBody]
	replaceInput struct {
		TaskPath
		httpapi.Input[todo.TaskBody]
	}
	changeInput struct {
		TaskPath
		httpapi.Input[todo.TaskChangeBody]
	}
	listInput struct{ todo.TaskFilter }
)

// Validate implements [httpapi.Validated].
func (i *listInput) Validate() error { return validate.Form(i.TaskFilter) }

const (
	// versioned and created describe the headers ETag and Location.
	versioned = "The task's version, for If-Match."
	created   = "The path of what was created."
)

// precisely is what the document says of a task beside the forms that are checked.
func precisely() httpapi.Forms {
	return httpapi.Forms{
		"path.task_id": httpapi.Format("uuid"), "body.title": httpapi.NotBlank, "body.due_date": httpapi.DayOrEmpty,
	}
}

func (s *server) registerTasks() {
	httpapi.Mutate(s.Server, httpapi.Operation{ID: "createTask", Status: http.StatusCreated,
		Location:    "/api/v1/tasks/{task_id}",
		Headers:     map[string]string{"ETag": versioned, "Location": created},
		Description: "Creates a task.",
		Stricter:    precisely(),
		Errors:      []error{todo.ErrUserNotFound},
	}, func(ctx context.Context, input *taskInput) (todo.Task, error) {
		return s.service.CreateTask(ctx, httpapi.CallerFrom(ctx).ID, input.Body)
	}, nil)

	httpapi.Serve(s.Server, httpapi.Operation{ID: "listTasks",
		Description: "Returns a page of the caller's tasks that match all parameters. One page looks at 300 tasks at " +
			"most. A list follows a change of a task within a moment; the task itself follows at once.",
		Stricter: httpapi.Forms{"header.X-Timezone": httpapi.Format(httpapi.TimezoneFormat)},
	}, func(ctx context.Context, input *listInput) (todo.TaskList, error) {
		return s.service.ListTasks(ctx, httpapi.CallerFrom(ctx).ID, input.TaskFilter)
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "readStats",
		Description: "Counts the caller's tasks. A caller without a user has none.",
	}, func(ctx context.Context, _ *struct{}) (todo.Stats, error) {
		return s.service.Stats(ctx, httpapi.CallerFrom(ctx).ID)
	})

	httpapi.Serve(s.Server, httpapi.Operation{ID: "readTask",
		Headers:     map[string]string{"ETag": versioned},
		Description: "Returns a task.",
		Stricter:    precisely(),
		Errors:      []error{todo.ErrTaskNotFound},
	}, func(ctx context.Context, input *TaskPath) (todo.Task, error) {
		return s.service.GetTask(ctx, httpapi.CallerFrom(ctx).ID, input.ID)
	})

}

func (s *server) registerTaskChanges() {
	changeErrors := []error{todo.ErrTaskCompleted, todo.ErrUserNotFound, todo.ErrTaskNotFound}
	httpapi.Mutate(s.Server, httpapi.Operation{ID: "replaceTask",
		Headers: map[string]string{"ETag": versioned}, IfMatch: "the task",
		Description: "Replaces a task: a field that is left out is cleared, but for the status.",
		Stricter:    precisely(),
		Errors:      changeErrors,
	}, func(ctx context.Context, input *replaceInput) (todo.Task, error) {
		return httpapi.IfMatch(ctx, func(version int) (todo.Task, error) {
			return s.service.ReplaceTask(ctx, httpapi.CallerFrom(ctx).ID, input.ID, input.Body, version)
		})
	}, nil)

	httpapi.Mutate(s.Server, httpapi.Operation{ID: "changeTask",
		Headers: map[string]string{"ETag": versioned}, IfMatch: "the task",
		Description: "Changes the fields that are given (RFC 7396): null clears one.",
		Stricter:    precisely(),
		Errors:      changeErrors,
	}, func(ctx context.Context, input *changeInput) (todo.Task, error) {
		return httpapi.IfMatch(ctx, func(version int) (todo.Task, error) {
			return s.service.ChangeTask(ctx, httpapi.CallerFrom(ctx).ID, input.ID, input.Body, version)
		})
	}, nil)

	httpapi.Mutate(s.Server, httpapi.Operation{ID: "deleteTask", Status: http.StatusNoContent,
		IfMatch:     "the task",
		Description: "Deletes a task.",
		Stricter:    precisely(),
		Errors:      []error{todo.ErrUserNotFound, todo.ErrTaskNotFound},
	}, func(ctx context.Context, input *TaskPath) (any, error) {
		return httpapi.IfMatch(ctx, func(version int) (any, error) {
			return nil, s.service.DeleteTask(ctx, httpapi.CallerFrom(ctx).ID, input.ID, version)
		})
	}, nil)
}
