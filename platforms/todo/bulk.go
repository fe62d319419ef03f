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
	MoveOverdue     = "move_overdue"
	DeleteCompleted = "delete_completed"
)

// BulkBody is an action on many tasks.
type BulkBody struct {
	Action  string  `json:"action" enum:"set_status,move_overdue,delete_completed" doc:"set_status changes the status of the tasks of task_ids; move_overdue gives those of them that are overdue another due date; delete_completed deletes all completed tasks."`
	TaskIDs TaskIDs `json:"task_ids,omitempty" strict:"distinct" nullable:"true" minItems:"1" maxItems:"50" doc:"With set_status and move_overdue: the tasks, each once."`
	Status  Status  `json:"status,omitempty" nullable:"true" enum:"pending,in_progress,completed,cancelled" doc:"With set_status: their new status."`
	DueDate Date    `json:"due_date,omitempty" strict:"day" nullable:"true" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" patternDescription:"a date as YYYY-MM-DD" doc:"With move_overdue: their new due date. Of open tasks, those that are due before it are overdue." example:"2026-02-14"`
}

// Check adds a problem for each field that the action requires and that is missing, and for each that belongs to
// another action.
func (b BulkBody) Check(p *validate.Problems, _ string) {
	if b.Action != SetStatus && b.Action != MoveOverdue && b.Action != DeleteCompleted {
		return
	}
	field := func(name string, given bool, why string, actions ...string) {
		switch wanted := slices.Contains(actions, b.Action); {
		case wanted && !given:
			p.Add(name, validate.RuleRequired, "is missing, but required with %s", b.Action)
		case !wanted && given:
			p.Add(name, validate.RuleConflict, "does not go with %s%s: leave it out", b.Action, why)
		}
	}
	field("task_ids", b.TaskIDs != nil, ", which deletes all completed tasks", SetStatus, MoveOverdue)
	field("status", b.Status != "", "", SetStatus)
	field("due_date", b.DueDate != "", "", MoveOverdue)
}

// StatusesSet is the answer to set_status.
type StatusesSet struct {
	Action  string        `json:"action" enum:"set_status"`
	Changed []string      `json:"changed" nullable:"false" doc:"The ids of the tasks that have the status now, also of those that had it before, in the order of the request."`
	Failed  []TaskFailure `json:"failed" nullable:"false" doc:"The others, in the order of the request: completed tasks, and ids of no task."`
}

// OverdueMoved is the answer to move_overdue.
type OverdueMoved struct {
	Action  string        `json:"action" enum:"move_overdue"`
	Changed []string      `json:"changed" nullable:"false" doc:"The ids of the tasks that have the due date now, also of those that had it before, in the order of the request."`
	Failed  []TaskFailure `json:"failed" nullable:"false" doc:"The others, in the order of the request: tasks that are not overdue, and ids of no task."`
}

// TaskFailure is a task that an action leaves as it is.
type TaskFailure struct {
	TaskID string `json:"task_id"`
	Status int    `json:"status" doc:"The HTTP status that a change of this task alone would have had." example:"404"`
	Detail string `json:"detail" example:"there is no such task"`
}

// Refused returns the failure of a task that stays as it is because of err, an error of this package.
func Refused(id string, err error) TaskFailure {
	reason, _ := errors.AsType[*problem.Error](err)
	return TaskFailure{TaskID: id, Status: reason.Status, Detail: reason.Message}
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
