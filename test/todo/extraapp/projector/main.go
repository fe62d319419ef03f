// Command projector is a function of a team's own: it makes the category of a new task its project.
package main

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/test/todo/extraapp/own"
)

func main() {
	kit.StartEvent("todo", func(_ context.Context, e kit.Environment) (func(context.Context,
		events.CloudWatchEvent) error, error) {
		db, err := dynamo.Open(e, todo.Platform().Join(own.Own()), "projector")
		return func(ctx context.Context, event events.CloudWatchEvent) error {
			var task struct {
				UserID   string  `json:"user_id"`
				TaskID   string  `json:"task_id"`
				Category *string `json:"category"`
			}
			if err := json.Unmarshal(event.Detail, &task); err != nil || task.Category == nil {
				return err
			}
			set := expression.Set(dynamo.Name("project"), expression.Value(*task.Category))
			_, err := dynamo.Satisfied(db.Update(ctx, "SetProject",
				[]any{"TASK#" + task.UserID, "TASK#" + task.TaskID}, set, dynamo.Absent("project"), nil))
			return err
		}, err
	})
}
