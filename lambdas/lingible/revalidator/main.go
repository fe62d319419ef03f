// Command revalidator is the Lambda function that validates the submissions whose validation failed
// or died. A schedule invokes it.
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
		s, err := setup.Speaking(environment, "revalidator")
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, _ json.RawMessage) error {
			run, err := s.Revalidate(ctx)
			environment.Log.InfoContext(ctx, "revalidator run", "validated", run.Validated, "failed", run.Failed,
				"unfinished", run.Unfinished)
			return err
		}, nil
	})
}
