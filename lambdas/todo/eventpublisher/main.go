// Command eventpublisher is the Lambda function that publishes what happened to users and tasks, and passes deletions
// of users on to the eraser.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit/eventbus"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

func main() {
	eventbus.Start(todo.Platform(), service.Happened, eventbus.Pass{
		"eraser": func(change eventbus.Change) bool {
			_, deletion := service.DeletionOf(change.DynamoDBStreamRecord)
			return deletion
		},
	})
}
