// Command lexiconseeder is the Lambda function that `onesynth seed lingible` invokes: it loads the
// terms that Lingible begins with, and the wrong answers of its quiz.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lexicons"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

func main() {
	kit.StartResponder("lingible", func(_ context.Context, environment kit.Environment) (seed.Handler, error) {
		db, err := dynamo.Open(environment, lingible.Platform(), "lexiconseeder")
		if err != nil {
			return nil, err
		}
		return lexicons.Load(&service.Service{DB: db})
	})
}
