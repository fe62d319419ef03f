package todo

import (
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// EventsOf returns the events of a change of the table.
func EventsOf(change trigger.Change) ([]trigger.Event, error) {
	partition := trigger.Text(change.Keys, "PK")
	if user, ok := strings.CutPrefix(partition, userPrefix); ok &&
		change.Kind == events.DynamoDBOperationTypeRemove {
		return []trigger.Event{{Name: todo.UserDeleted, Detail: todo.UserDeletedEvent{UserID: user}}}, nil
	}
	owner, isTask := strings.CutPrefix(partition, taskPrefix)
	if !isTask {
		return nil, nil
	}
	id := strings.TrimPrefix(trigger.Text(change.Keys, "SK"), taskPrefix)
	if change.Kind == events.DynamoDBOperationTypeRemove {
		deleted := todo.TaskDeletedEvent{UserID: owner, TaskID: id}
		err := trigger.Read(change.OldImage, &deleted)
		return []trigger.Event{{Name: todo.TaskDeleted, Detail: deleted}}, err
	}
	task := todo.TaskEvent{UserID: owner, TaskID: id}
	if err := trigger.Read(change.NewImage, &task); err != nil {
		return nil, err
	}
	name := todo.TaskChanged
	if change.Kind == events.DynamoDBOperationTypeInsert {
		name = todo.TaskCreated
	}
	happened := []trigger.Event{{Name: name, Detail: task}}
	if task.Status == todo.Completed && trigger.Text(change.OldImage, "status") != string(todo.Completed) {
		happened = append(happened, trigger.Event{Name: todo.TaskCompleted, Detail: task})
	}
	return happened, nil
}

// DeletionOf returns the deletion that a change of a user's counts tells of. Any other change gives the zero value.
func DeletionOf(change events.DynamoDBStreamRecord) (Deletion, error) {
	user, ok := strings.CutPrefix(trigger.Text(change.Keys, "PK"), countsPrefix)
	id := trigger.Text(change.NewImage, "deletion")
	if !ok || id == "" {
		return Deletion{}, nil
	}
	return Deletion{User: user, ID: id}, nil
}
