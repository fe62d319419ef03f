// Command clarityapi is the Lambda function that serves all routes of Clarity.
package main

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity/api"
	"github.com/onesynth-cdk/onesynth/lambdas/clarity/setup"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/cursor"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/secret"
)

func main() {
	kit.StartHTTP("clarity", func(ctx context.Context, environment kit.Environment) (*kit.API, error) {
		service, store, err := setup.Service(environment, "clarityapi")
		if err != nil {
			return nil, err
		}
		key, err := secret.Read(ctx, environment, "CURSOR_SECRET_ARN")
		if err != nil {
			return nil, err
		}
		store.CursorKey = cursor.Key(key)
		routes := &api.API{Service: service, Scenarios: service.Scenarios, Profiles: store, Keys: store.Keys(), Log: environment.Log}
		return routes.Handler(), nil
	})
}
