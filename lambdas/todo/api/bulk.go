package api

import (
	"context"
	"net/http"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// The actions on many tasks.
const (
	setStatus       = "set_status"
	deleteCompleted = "delete_completed"
)

type bulkInput = httpapi.Input[BulkBody]

// BulkBody is an action on many tasks.
type BulkBody struct {
	Action  string       `json:"action" enum:"set_status,delete_completed" doc:"set_status changes the status of the tasks of task_ids; delete_completed deletes all completed tasks."`
	TaskIDs todo.TaskIDs `json:"task_ids,omitempty" nullable:"true" minItems:"1" maxItems:"50" doc:"With set_status: the tasks, each once."`
	Status  todo.Status  `json:"status,omitempty" nullable:"true" enum:"pending,in_progress,completed,cancelled" doc:"With set_status: their new status."`
}

// Check finds what does not go with the action: each has fields of its own.
func (b BulkBody) Check(p *validate.Problems, _ string) {
	switch b.Action {
	case setStatus:
		if b.TaskIDs == nil {
			p.Add("task_ids", validate.RuleRequired, "is missing, but required with %s", setStatus)
		}
		if b.Status == "" {
			p.Add("status", validate.RuleRequired, "is missing, but required with %s", setStatus)
		}
	case deleteCompleted:
		if b.TaskIDs != nil {
			p.Add("task_ids", validate.RuleConflict,
				"does not go with %s, which deletes all completed tasks: leave it out", deleteCompleted)
		}
		if b.Status != "" {
			p.Add("status", validate.RuleConflict, "does not go with %s: leave it out", deleteCompleted)
		}
	}
}

// StatusesSet is the answer to set_status.
type StatusesSet struct {
	Action  string          `json:"action" enum:"set_status"`
	Changed []string        `json:"changed" nullable:"false" doc:"The ids of the tasks that have the status now, also of those that had it before, in the order of the request."`
	Failed  []StatusFailure `json:"failed" nullable:"false" doc:"The others, in the order of the request: completed tasks, and ids of no task."`
}

// StatusFailure is a task whose status stays as it is.
type StatusFailure struct {
	TaskID string `json:"task_id"`
	Status int    `json:"status" doc:"The HTTP status that a change of this task alone would have had." example:"404"`
	Detail string `json:"detail" example:"there is no such task"`
}

// CompletedDeleted is the answer to delete_completed.
type CompletedDeleted struct {
	Action  string `json:"action" enum:"delete_completed"`
	Deleted int    `json:"deleted" doc:"How many tasks this request deleted." example:"12"`
	More    bool   `json:"more" doc:"True: time ran out; send another request, with a new idempotency key, to delete the rest."`
}

func (s *server) registerBulk() {
	httpapi.Mutate(s.Server, httpapi.Operation{ID: "changeTasks",
		Form: httpapi.OneOf{StatusesSet{}, CompletedDeleted{}},
		Description: "Changes the status of up to 50 tasks, of all for which that is allowed at once; or deletes all " +
			"completed tasks.",
		Stricter: httpapi.Forms{"body.task_ids": httpapi.DistinctItems},
		Variants: []httpapi.Variant{
			{Required: []string{"task_ids", "status"}, Fields: httpapi.Forms{"action": httpapi.Only(setStatus)}},
			{Fields: httpapi.Forms{"action": httpapi.Only(deleteCompleted), "task_ids": httpapi.Absent,
				"status": httpapi.Absent}},
		},
		Errors: []error{todo.ErrUserNotFound},
	}, func(ctx context.Context, input *bulkInput) (any, error) {
		if input.Body.Action == deleteCompleted {
			return s.service.DeleteCompleted(ctx, httpapi.CallerFrom(ctx).ID)
		}
		return s.service.SetStatuses(ctx, httpapi.CallerFrom(ctx).ID, input.Body.TaskIDs, input.Body.Status)
	}, func(ctx context.Context, input *bulkInput, result any) (int, any) {
		if deleted, ok := result.(todo.Deleted); ok {
			return http.StatusOK, CompletedDeleted{Action: deleteCompleted, Deleted: deleted.Count, More: deleted.More}
		}
		bulk, _ := result.(todo.BulkResult)
		return http.StatusOK, s.statusesSet(ctx, input.Body.TaskIDs, bulk)
	})
}

func (s *server) statusesSet(ctx context.Context, ids []string, result todo.BulkResult) StatusesSet {
	wire := StatusesSet{Action: setStatus, Changed: []string{}, Failed: []StatusFailure{}}
	for _, id := range ids {
		err, failed := result.Failed[id]
		if !failed {
			wire.Changed = append(wire.Changed, id)
			continue
		}
		reason := s.Failure(ctx, err)
		wire.Failed = append(wire.Failed, StatusFailure{TaskID: id, Status: reason.Status, Detail: reason.Message})
	}
	return wire
}
