// Command lexiconseeder is the Lambda function that `onesynth seed lingible` invokes: it loads the
// terms that Lingible begins with, and the wrong answers of its quiz.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/seed"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/lexicons"
)

func main() {
	kit.StartResponder("lingible", func(_ context.Context, environment kit.Environment) (func(context.Context, seed.Request) (seed.Progress, error), error) {
		store, err := dynamodb.Open(environment, "lexiconseeder")
		if err != nil {
			return nil, err
		}
		return lexicons.Load(store)
	})
}
