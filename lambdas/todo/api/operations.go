package api

import (
	"context"
	"net/http"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Requests by their bodies and parameters.
type (
	request                = httpapi.Request[schema.None, schema.None]
	requestWith[B any]     = httpapi.Request[schema.None, B]
	taskRequest            = httpapi.Request[todo.TaskParams, schema.None]
	taskRequestWith[B any] = httpapi.Request[todo.TaskParams, B]
	listRequest            = httpapi.Request[todo.TaskFilter, schema.None]
)

func bindUsers(server *httpapi.Server, users *service.Service) {
	httpapi.Bind(server, todo.CreateUser, func(ctx context.Context, r requestWith[todo.UserBody]) (todo.User, error) {
		return users.CreateUser(ctx, r.Caller.ID, r.Body)
	})
	httpapi.Bind(server, todo.ReadUser, func(ctx context.Context, r request) (todo.User, error) {
		return users.GetUser(ctx, r.Caller.ID)
	})
	httpapi.Bind(server, todo.ReplaceUser,
		func(ctx context.Context, r requestWith[todo.UserBody]) (todo.User, error) {
			return users.UpdateUser(ctx, r.Caller.ID, r.Body)
		})
	httpapi.BindWork(server, todo.DeleteUser, httpapi.Work[schema.None, schema.None, todo.Erased]{
		Do: func(ctx context.Context, r request) (todo.Erased, error) {
			complete, err := users.DeleteUser(ctx, r.Caller.ID)
			return todo.Erased{Complete: complete}, err
		},
		Answer: func(erased todo.Erased) (int, any) {
			if !erased.Complete {
				return http.StatusAccepted, todo.StillErasing
			}
			return http.StatusNoContent, nil
		},
	})
}

func bindTasks(server *httpapi.Server, tasks *service.Service) {
	httpapi.Bind(server, todo.CreateTask, func(ctx context.Context, r requestWith[todo.TaskBody]) (todo.Task, error) {
		return tasks.CreateTask(ctx, r.Caller.ID, r.Body)
	})
	httpapi.Bind(server, todo.ListTasks, func(ctx context.Context, r listRequest) (todo.TaskList, error) {
		return tasks.ListTasks(ctx, r.Caller.ID, r.Params)
	})
	httpapi.Bind(server, todo.ReadStats, func(ctx context.Context, r request) (todo.Stats, error) {
		return tasks.Stats(ctx, r.Caller.ID)
	})
	httpapi.Bind(server, todo.ChangeTasks, func(ctx context.Context, r requestWith[todo.BulkBody]) (any, error) {
		switch r.Body.Action {
		case todo.DeleteCompleted:
			return tasks.DeleteCompleted(ctx, r.Caller.ID)
		case todo.MoveOverdue:
			return tasks.MoveOverdue(ctx, r.Caller.ID, r.Body.TaskIDs, r.Body.DueDate)
		}
		return tasks.SetStatuses(ctx, r.Caller.ID, r.Body.TaskIDs, r.Body.Status)
	})
	httpapi.Bind(server, todo.ReadTask, func(ctx context.Context, r taskRequest) (todo.Task, error) {
		return tasks.GetTask(ctx, r.Caller.ID, r.Params.ID)
	})
	httpapi.Bind(server, todo.ReplaceTask,
		func(ctx context.Context, r taskRequestWith[todo.TaskBody]) (todo.Task, error) {
			return httpapi.IfMatch(ctx, func(version int) (todo.Task, error) {
				return tasks.ReplaceTask(ctx, r.Caller.ID, r.Params.ID, r.Body, version)
			})
		})
	httpapi.Bind(server, todo.ChangeTask,
		func(ctx context.Context, r taskRequestWith[todo.TaskChangeBody]) (todo.Task, error) {
			return httpapi.IfMatch(ctx, func(version int) (todo.Task, error) {
				return tasks.ChangeTask(ctx, r.Caller.ID, r.Params.ID, r.Body, version)
			})
		})
	httpapi.Bind(server, todo.DeleteTask, func(ctx context.Context, r taskRequest) (none schema.None, err error) {
		return httpapi.IfMatch(ctx, func(version int) (schema.None, error) {
			return none, tasks.DeleteTask(ctx, r.Caller.ID, r.Params.ID, version)
		})
	})
}
