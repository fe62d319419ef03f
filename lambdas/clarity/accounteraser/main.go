// Command accounteraser is the Lambda function that deletes what is kept of users who have asked for it. It gets the
// deletions from the stream of the guards.
package main

import (
	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership/eraser"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

func main() {
	eraser.Start(clarity.Platform(), "accounteraser", func(db *dynamo.DB) ownership.Eraser[service.Deletion] {
		return ownership.Eraser[service.Deletion]{Of: service.DeletionIn, Erase: (&service.Service{DB: db}).Erase}
	})
}
