// Command mailer is the function of the recipe Queue: it gets a message for each new task.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/queue"
)

func main() {
	kit.StartResponder("todo", func(_ context.Context, e kit.Environment) (
		func(context.Context, events.SQSEvent) (events.SQSEventResponse, error), error) {
		url, err := e.Require("MAILS_QUEUE_URL")
		if err != nil {
			return nil, err
		}
		failures, err := queue.OfFailures(e)
		if err != nil {
			return nil, err
		}
		batch := trigger.Messages{Plan: []time.Duration{time.Minute, time.Hour},
			Defer: queue.New(e.AWS, url[0]).Defer, GiveUp: failures.GiveUp}
		return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
			return batch.Each(ctx, event, func(ctx context.Context, message events.SQSMessage) error {
				var created struct {
					Detail struct {
						TaskID string `json:"task_id"`
					}
				}
				if err := json.Unmarshal([]byte(message.Body), &created); err != nil {
					return errors.Join(trigger.ErrHopeless, err)
				}
				// Here the email would be sent. An error makes the message come again.
				e.Log.InfoContext(ctx, "told of a task", "task", created.Detail.TaskID)
				return nil
			})
		}, nil
	})
}
