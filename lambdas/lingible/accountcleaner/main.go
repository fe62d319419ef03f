// Command accountcleaner is the Lambda function that removes everything of users who have deleted
// their accounts. It gets their profiles from the stream of the users.
package main

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

func main() {
	trigger.StartStream("lingible", func(environment kit.Environment, batch *trigger.Stream) (trigger.Function, error) {
		db, err := dynamo.Open(environment, lingible.Platform(), "accountcleaner")
		if err != nil {
			return nil, err
		}
		f := &function{clean: (&service.Service{DB: db}).CleanAccount, batch: batch, metrics: environment.Metrics}
		return f.handle, nil
	})
}
