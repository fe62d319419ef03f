// Command trendingjob is the Lambda function that scores the trending terms. A schedule invokes it
// daily, and an operator at any time.
package main

import (
	"context"
	"encoding/json"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/setup"
)

func main() {
	kit.StartEvent("lingible", func(_ context.Context,
		environment kit.Environment) (func(context.Context, json.RawMessage) error, error) {
		s, err := setup.Speaking(environment, "trendingjob")
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, _ json.RawMessage) error {
			run, err := s.ScoreTrends(ctx)
			environment.Log.InfoContext(ctx, "trending run", "proposed", run.Proposed, "scored", run.Scored)
			return err
		}, nil
	})
}
