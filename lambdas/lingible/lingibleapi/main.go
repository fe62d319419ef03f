// Command lingibleapi is the Lambda function that serves all routes of Lingible.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/api"
	"github.com/onesynth-cdk/onesynth/lambdas/lingible/setup"
)

func main() {
	kit.StartHTTP("lingible", func(ctx context.Context, environment kit.Environment) (*kit.API, error) {
		s, err := setup.Speaking(environment, "lingibleapi")
		if err != nil {
			return nil, err
		}
		if s.CursorKey, err = dynamo.ReadCursorKey(ctx, environment); err != nil {
			return nil, err
		}
		return api.Handler(s, httpapi.Config{Idempotency: httpapi.Idempotency{Keys: s.Keys()}, Limiter: s.Limiter(),
			WorkTime: setup.WorkTime(environment), Extra: s.DB.Extra(), Log: environment.Log}), nil
	})
}
