package todo

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// What happens to tasks comes to a function and to a queue, by rules that narrow it, and a deletion of a user that its
// request did not finish comes to the eraser through the publisher.
func TestEvents(t *testing.T) {
	t.Parallel()
	events := onesynthtest.Suite{Platform: todo.Platform().Publishing(), Construct: "Todo", App: "eventsapp"}
	t.Cleanup(func() { events.Close() })
	on := events.OwnRun(t, run.Options{})
	id := onesynthtest.Unique("user")
	user := platform.Caller{Client: on.As(t, id), Email: "ann@example.com"}
	join(t, user)
	urgent := platform.Post(t, user, todo.CreateTask,
		todo.TaskBody{Title: "a task that is urgent", Priority: todo.Urgent})
	low := platform.Post(t, user, todo.CreateTask, todo.TaskBody{Title: "a task that is low", Priority: todo.Low})
	onesynthtest.Call(t, user, todo.ChangeTask, todo.TaskParams{ID: low.ID},
		todo.TaskChangeBody{Status: new(todo.Completed)})

	on.Event(t, todo.TaskCreated, map[string]any{"task_id": urgent.ID, "priority": "urgent", "version": 1})
	completed := on.Event(t, todo.TaskCompleted, map[string]any{"task_id": low.ID, "version": 2})
	wait.Until(t, "the function gets the completed task", func() (any, bool) {
		lines := runtest.Of(on.Run).Lines("congratulator")
		return lines, slices.ContainsFunc(lines, func(line string) bool {
			return strings.Contains(line, completed["event_id"].(string)) && strings.Contains(line, "TaskCompleted")
		})
	}, wait.On(on))
	wait.Until(t, "the queue gets the urgent task alone", func() (any, bool) {
		messages := must.Get(runtest.Of(on.Run).Messages("urgent"))(t)
		for _, message := range messages {
			if !strings.Contains(message.Body, urgent.ID) {
				t.Fatalf("the queue got %s", message.Body)
			}
		}
		return messages, len(messages) > 0
	}, wait.On(on))

	// As a request leaves it that has died.
	deletion := map[string]types.AttributeValue{":d": &types.AttributeValueMemberS{Value: low.ID}}
	must.Get(on.Database.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(on.Tables["AppData"]), UpdateExpression: aws.String("SET deletion = :d"),
		Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "COUNTS#" + id},
			"SK": &types.AttributeValueMemberS{Value: "METADATA"}}, ExpressionAttributeValues: deletion,
	}))(t)
	on.Event(t, todo.TaskDeleted, map[string]any{"user_id": id, "task_id": urgent.ID})
	wait.Until(t, "the eraser finishes the deletion", func() (any, bool) {
		counts := on.Item(t, "AppData", "PK", "COUNTS#"+id, "SK", "METADATA")
		return counts, counts == nil
	}, wait.On(on))
	if refused := runtest.Of(on.Run).Refused(); len(refused) > 0 {
		t.Errorf("roles refused %v", refused)
	}
}
