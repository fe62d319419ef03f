// Command eraser is the Lambda function that finishes deletions of users whose
// request died or ran out of time. From the table's stream, or from the publisher of
// events, it gets the counts of users who are being deleted.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership/eraser"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

func main() {
	eraser.Start(todo.Platform(), "eraser", func(db *dynamo.DB) ownership.Eraser[service.Deletion] {
		return ownership.Eraser[service.Deletion]{Of: service.DeletionOf, Erase: (&service.Service{DB: db}).Erase}
	})
}
