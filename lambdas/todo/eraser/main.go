// Command eraser is the Lambda function that finishes deletions of users whose
// request died or ran out of time. From the table's stream, or from the publisher of
// events, it gets the counts of users who are being deleted.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

func main() {
	trigger.StartStream("todo", func(environment kit.Environment, batch *trigger.Stream) (trigger.Function, error) {
		db, err := dynamo.Open(environment, todo.Platform(), "eraser")
		if err != nil {
			return nil, err
		}
		// Where events are published, the publisher passes deletions on by a queue.
		passed := trigger.NewQueue(environment.AWS, environment.Getenv(schema.PassedQueueVariable("eraser")))
		batch.Defer = passed.Defer
		f := &function{erase: (&service.Service{DB: db}).Erase, batch: batch, metrics: environment.Metrics}
		return f.handle, nil
	})
}
