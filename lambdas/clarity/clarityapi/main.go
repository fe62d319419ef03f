// Command clarityapi is the Lambda function that serves all routes of Clarity.
package main

import (
	"context"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/api"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/setup"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
)

func main() {
	kit.StartHTTP("clarity", func(ctx context.Context, environment kit.Environment) (*kit.API, error) {
		s, err := setup.Service(environment, "clarityapi")
		if err != nil {
			return nil, err
		}
		if s.CursorKey, err = dynamo.ReadCursorKey(ctx, environment); err != nil {
			return nil, err
		}
		return api.Handler(s, httpapi.Config{Idempotency: httpapi.Idempotency{Keys: service.Keys(s.DB)},
			WorkTime: s.WorkTime(), Extra: s.DB.Extra(), Log: environment.Log}), nil
	})
}
