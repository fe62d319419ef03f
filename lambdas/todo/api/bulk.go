package api

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

type bulkInput = httpapi.Input[todo.BulkBody]

func (s *server) registerBulk() {
	httpapi.Mutate(s.Server, httpapi.Operation{ID: "changeTasks",
		Form: httpapi.OneOf{todo.StatusesSet{}, todo.CompletedDeleted{}},
		Description: "Changes the status of up to 50 tasks, of all for which that is allowed at once; or deletes all " +
			"completed tasks.",
		Stricter: httpapi.Forms{"body.task_ids": httpapi.DistinctItems},
		Variants: []httpapi.Variant{
			{Required: []string{"task_ids", "status"}, Fields: httpapi.Forms{"action": httpapi.Only(todo.SetStatus)}},
			{Fields: httpapi.Forms{"action": httpapi.Only(todo.DeleteCompleted), "task_ids": httpapi.Absent,
				"status": httpapi.Absent}},
		},
		Errors: []error{todo.ErrUserNotFound},
	}, func(ctx context.Context, input *bulkInput) (any, error) {
		if input.Body.Action == todo.DeleteCompleted {
			return s.service.DeleteCompleted(ctx, httpapi.CallerFrom(ctx).ID)
		}
		return s.service.SetStatuses(ctx, httpapi.CallerFrom(ctx).ID, input.Body.TaskIDs, input.Body.Status)
	}, nil)
}
