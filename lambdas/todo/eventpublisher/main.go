// Command eventpublisher is the Lambda function that publishes what happened to users and tasks, and passes deletions
// of users on to the eraser.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/publisher"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

func main() {
	publisher.Start(todo.Platform(), service.EventsOf, publisher.Filters{
		"eraser": func(change trigger.Change) bool {
			deletion, err := service.DeletionOf(change.DynamoDBStreamRecord)
			return err == nil && deletion != (service.Deletion{})
		},
	})
}
