// Command eventpublisher is the Lambda function that publishes what happened to users and tasks, and passes deletions
// of users on to the eraser.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit/events"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

func main() {
	events.StartPublisher(todo.Platform(), service.Happened, events.Pass{
		"eraser": func(change events.Change) bool {
			_, deletion := service.DeletionOf(change.DynamoDBStreamRecord)
			return deletion
		},
	})
}
