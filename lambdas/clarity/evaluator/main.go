// Command evaluator is the Lambda function that evaluates the attempts whose evaluation failed, was
// put off or died. A schedule invokes it.
package main

import (
	"context"
	"encoding/json"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity/setup"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

func main() {
	kit.StartEvent("clarity", func(_ context.Context,
		environment kit.Environment) (func(context.Context, json.RawMessage) error, error) {
		service, err := setup.Service(environment, "evaluator")
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, _ json.RawMessage) error {
			run, err := service.EvaluatePending(ctx)
			environment.Log.InfoContext(ctx, "evaluator run", "evaluated", run.Evaluated, "failed", run.Failed,
				"skipped", run.Skipped, "unfinished", run.Unfinished)
			return err
		}, nil
	})
}
