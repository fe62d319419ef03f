// Command trendingjob is the Lambda function that scores the trending terms. A schedule invokes it
// daily, and an operator at any time.
package main

import (
	"context"
	"encoding/json"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/dynamodb"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/setup"
)

func main() {
	kit.StartEvent("lingible", func(_ context.Context, environment kit.Environment) (func(context.Context, json.RawMessage) error, error) {
		store, err := dynamodb.Open(environment, "trendingjob")
		if err != nil {
			return nil, err
		}
		language, _, err := setup.Language(environment, store)
		if err != nil {
			return nil, err
		}
		trends := &lingible.Trends{Store: store, Language: language, Log: environment.Log, Count: setup.Count(environment.Metrics)}
		return func(ctx context.Context, _ json.RawMessage) error {
			run, err := trends.Score(ctx)
			environment.Log.InfoContext(ctx, "trending run", "proposed", run.Proposed, "scored", run.Scored)
			return err
		}, nil
	})
}
