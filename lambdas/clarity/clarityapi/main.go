// Command clarityapi is the Lambda function that serves all routes of Clarity.
package main

import (
	"context"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/api"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/setup"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
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
		routes := &api.API{Service: s, Keys: service.Keys(s.DB), WorkTime: s.WorkTime(), Extra: s.DB.Extra(),
			Log: environment.Log}
		return routes.Handler(), nil
	})
}
