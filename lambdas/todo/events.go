package todo

import (
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/eventbus"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/stream"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// Happened are the events of a change of the table.
func Happened(change eventbus.Change) ([]eventbus.Event, error) {
	partition := stream.Text(change.Keys, "PK")
	if user, ok := strings.CutPrefix(partition, userPrefix); ok && change.Kind == events.DynamoDBOperationTypeRemove {
		return []eventbus.Event{{Name: todo.UserDeleted, Detail: todo.UserDeletedEvent{UserID: user}}}, nil
	}
	owner, isTask := strings.CutPrefix(partition, taskPrefix)
	if !isTask {
		return nil, nil
	}
	id := strings.TrimPrefix(stream.Text(change.Keys, "SK"), taskPrefix)
	if change.Kind == events.DynamoDBOperationTypeRemove {
		deleted := todo.TaskDeletedEvent{UserID: owner, TaskID: id}
		err := stream.Read(change.OldImage, &deleted)
		return []eventbus.Event{{Name: todo.TaskDeleted, Detail: deleted}}, err
	}
	task := todo.TaskEvent{UserID: owner, TaskID: id}
	if err := stream.Read(change.NewImage, &task); err != nil {
		return nil, err
	}
	name := todo.TaskChanged
	if change.Kind == events.DynamoDBOperationTypeInsert {
		name = todo.TaskCreated
	}
	happened := []eventbus.Event{{Name: name, Detail: task}}
	if task.Status == todo.Completed && stream.Text(change.OldImage, "status") != string(todo.Completed) {
		happened = append(happened, eventbus.Event{Name: todo.TaskCompleted, Detail: task})
	}
	return happened, nil
}

// DeletionOf is the deletion in a change of a user's counts, if there is one.
func DeletionOf(change events.DynamoDBStreamRecord) (Deletion, bool) {
	user, ok := strings.CutPrefix(stream.Text(change.Keys, "PK"), countsPrefix)
	id := stream.Text(change.NewImage, "deletion")
	return Deletion{User: user, ID: id}, ok && id != ""
}
