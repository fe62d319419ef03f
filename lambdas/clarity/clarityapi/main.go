// Command clarityapi is the Lambda function that serves all routes of Clarity.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity/api"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/setup"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/cursor"
)

func main() {
	kit.StartHTTP("clarity", func(ctx context.Context, environment kit.Environment) (*kit.API, error) {
		service, store, err := setup.Service(environment, "clarityapi")
		if err != nil {
			return nil, err
		}
		if store.CursorKey, err = cursor.ReadKey(ctx, environment); err != nil {
			return nil, err
		}
		routes := &api.API{
			Service: service, Scenarios: service.Scenarios, Profiles: store, Keys: store.Keys(), WorkTime: service.WorkTime(), Log: environment.Log,
		}
		return routes.Handler(), nil
	})
}
