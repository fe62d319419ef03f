package todo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// MaxBulkTasks limits the tasks that one write changes.
const MaxBulkTasks = 50

// The actions on many tasks.
const (
	SetStatus       = "set_status"
	DeleteCompleted = "delete_completed"
)

// BulkBody is an action on many tasks.
type BulkBody struct {
	Action  string  `json:"action" enum:"set_status,delete_completed" doc:"set_status changes the status of the tasks of task_ids; delete_completed deletes all completed tasks."`
	TaskIDs TaskIDs `json:"task_ids,omitempty" strict:"distinct" nullable:"true" minItems:"1" maxItems:"50" doc:"With set_status: the tasks, each once."`
	Status  Status  `json:"status,omitempty" nullable:"true" enum:"pending,in_progress,completed,cancelled" doc:"With set_status: their new status."`
}

// Check adds a problem for each field that the action requires and that is missing, and for each that belongs to
// another action.
func (b BulkBody) Check(p *validate.Problems, _ string) {
	switch b.Action {
	case SetStatus:
		if b.TaskIDs == nil {
			p.Add("task_ids", validate.RuleRequired, "is missing, but required with %s", SetStatus)
		}
		if b.Status == "" {
			p.Add("status", validate.RuleRequired, "is missing, but required with %s", SetStatus)
		}
	case DeleteCompleted:
		if b.TaskIDs != nil {
			p.Add("task_ids", validate.RuleConflict,
				"does not go with %s, which deletes all completed tasks: leave it out", DeleteCompleted)
		}
		if b.Status != "" {
			p.Add("status", validate.RuleConflict, "does not go with %s: leave it out", DeleteCompleted)
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

// Refused returns the failure of a task whose status cannot change because of err, an error of this package.
func Refused(id string, err error) StatusFailure {
	reason, _ := errors.AsType[*problem.Error](err)
	return StatusFailure{TaskID: id, Status: reason.Status, Detail: reason.Message}
}

// CompletedDeleted is the answer to delete_completed.
type CompletedDeleted struct {
	Action  string `json:"action" enum:"delete_completed"`
	Deleted int    `json:"deleted" doc:"How many tasks this request deleted." example:"12"`
	More    bool   `json:"more" doc:"True: time ran out; send another request, with a new idempotency key, to delete the rest."`
}

// TaskIDs are ids of different tasks.
type TaskIDs []string

// Check adds a problem for an id that occurs twice. It accepts an id that no task can have, because no such task will
// be found. It accepts a list that is too long, because the limit of the form refuses it.
func (ids TaskIDs) Check(p *validate.Problems, field string) {
	if len(ids) > MaxBulkTasks {
		return
	}
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			p.Add(fmt.Sprintf("%s[%d]", field, i), validate.RuleUnique, "is %s again: give each id once",
				validate.Quoted(id))
		}
	}
}
