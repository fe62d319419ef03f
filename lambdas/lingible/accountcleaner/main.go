// Command accountcleaner is the Lambda function that removes everything of users who have deleted
// their accounts. It gets their profiles from the stream of the users.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership/eraser"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

func main() {
	eraser.Start(lingible.Platform(), "accountcleaner", func(db *dynamo.DB) ownership.Eraser[string] {
		return ownership.Eraser[string]{Of: service.DeletedUser, Erase: (&service.Service{DB: db}).CleanAccount}
	})
}
