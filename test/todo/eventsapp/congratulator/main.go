// Command congratulator is a function that gets events: it logs the title of each completed task.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

func main() {
	kit.StartEvent("todo", func(_ context.Context, environment kit.Environment) (func(context.Context,
		events.CloudWatchEvent) error, error) {
		return func(ctx context.Context, event events.CloudWatchEvent) error {
			environment.Log.InfoContext(ctx, "congratulations", "to", event.DetailType+" "+string(event.Detail))
			return nil
		}, nil
	})
}
