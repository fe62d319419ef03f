package api

import (
	"context"
	"net/http"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
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

func (s *server) bindUsers() {
	httpapi.Bind(s.Server, todo.CreateUser, func(ctx context.Context, r requestWith[todo.UserBody]) (todo.User, error) {
		return s.service.CreateUser(ctx, r.Caller.ID, r.Body)
	})
	httpapi.Bind(s.Server, todo.ReadUser, func(ctx context.Context, r request) (todo.User, error) {
		return s.service.GetUser(ctx, r.Caller.ID)
	})
	httpapi.Bind(s.Server, todo.ReplaceUser,
		func(ctx context.Context, r requestWith[todo.UserBody]) (todo.User, error) {
			return s.service.UpdateUser(ctx, r.Caller.ID, r.Body)
		})
	httpapi.BindWork(s.Server, todo.DeleteUser, httpapi.Work[schema.None, schema.None, todo.Erased]{
		Do: func(ctx context.Context, r request) (todo.Erased, error) {
			complete, err := s.service.DeleteUser(ctx, r.Caller.ID)
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

func (s *server) bindTasks() {
	httpapi.Bind(s.Server, todo.CreateTask, func(ctx context.Context, r requestWith[todo.TaskBody]) (todo.Task, error) {
		return s.service.CreateTask(ctx, r.Caller.ID, r.Body)
	})
	httpapi.Bind(s.Server, todo.ListTasks, func(ctx context.Context, r listRequest) (todo.TaskList, error) {
		return s.service.ListTasks(ctx, r.Caller.ID, r.Params)
	})
	httpapi.Bind(s.Server, todo.ReadStats, func(ctx context.Context, r request) (todo.Stats, error) {
		return s.service.Stats(ctx, r.Caller.ID)
	})
	httpapi.Bind(s.Server, todo.ChangeTasks, func(ctx context.Context, r requestWith[todo.BulkBody]) (any, error) {
		switch r.Body.Action {
		case todo.DeleteCompleted:
			return s.service.DeleteCompleted(ctx, r.Caller.ID)
		case todo.MoveOverdue:
			return s.service.MoveOverdue(ctx, r.Caller.ID, r.Body.TaskIDs, r.Body.DueDate)
		}
		return s.service.SetStatuses(ctx, r.Caller.ID, r.Body.TaskIDs, r.Body.Status)
	})
	httpapi.Bind(s.Server, todo.ReadTask, func(ctx context.Context, r taskRequest) (todo.Task, error) {
		return s.service.GetTask(ctx, r.Caller.ID, r.Params.ID)
	})
	httpapi.Bind(s.Server, todo.ReplaceTask,
		func(ctx context.Context, r taskRequestWith[todo.TaskBody]) (todo.Task, error) {
			return httpapi.IfMatch(ctx, func(version int) (todo.Task, error) {
				return s.service.ReplaceTask(ctx, r.Caller.ID, r.Params.ID, r.Body, version)
			})
		})
	httpapi.Bind(s.Server, todo.ChangeTask,
		func(ctx context.Context, r taskRequestWith[todo.TaskChangeBody]) (todo.Task, error) {
			return httpapi.IfMatch(ctx, func(version int) (todo.Task, error) {
				return s.service.ChangeTask(ctx, r.Caller.ID, r.Params.ID, r.Body, version)
			})
		})
	httpapi.Bind(s.Server, todo.DeleteTask, func(ctx context.Context, r taskRequest) (none schema.None, err error) {
		return httpapi.IfMatch(ctx, func(version int) (schema.None, error) {
			return none, s.service.DeleteTask(ctx, r.Caller.ID, r.Params.ID, version)
		})
	})
}
