// Command keeper is the function of the recipe Bucket: it makes a file of each event.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/bucket"
)

func main() {
	kit.StartEvent("todo", func(_ context.Context, e kit.Environment) (func(context.Context,
		events.CloudWatchEvent) error, error) {
		name, err := e.Require("DONE_BUCKET")
		if err != nil {
			return nil, err
		}
		done := bucket.New(e.AWS, name[0], "application/json")
		return func(ctx context.Context, event events.CloudWatchEvent) error {
			var task struct {
				TaskID string `json:"task_id"`
			}
			if err := json.Unmarshal(event.Detail, &task); err != nil {
				return fmt.Errorf("the event %s: %w", event.ID, err)
			}
			// An event that comes twice writes the same file again.
			err := done.Put(ctx, "done/"+task.TaskID+".json", bytes.NewReader(event.Detail))
			if err == nil {
				e.Log.InfoContext(ctx, "kept a task", "task", task.TaskID)
			}
			return err
		}, nil
	})
}
