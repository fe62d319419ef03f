// Command webhookqueuer is the Lambda function that puts a webhook into the queue when a question has ended whose agent
// wants one. It gets the changes of questions from the table's stream.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/queue"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger/stream"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

func main() {
	stream.Start("askahuman", func(environment kit.Environment, batch *trigger.Stream) (trigger.Function,
		error) {
		url, err := environment.Require(askahuman.WebhookQueueVariable)
		if err != nil {
			return nil, err
		}
		batch.Parallel = true
		f := &function{
			send:    queue.New(environment.AWS, url[0]).Send,
			batch:   batch,
			metrics: environment.Metrics,
		}
		return f.handle, nil
	})
}
