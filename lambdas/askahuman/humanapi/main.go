// Command humanapi is the Lambda function that serves the routes of people.
package main

import (
	"context"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

func main() {
	kit.StartHTTP("askahuman", func(ctx context.Context, environment kit.Environment) (*kit.API, error) {
		people, err := service.Open(environment, "humanapi")
		if err != nil {
			return nil, err
		}
		arn, err := environment.Require("FINGERPRINT_SECRET_ARN")
		if err != nil {
			return nil, err
		}
		key := kit.NewSecret(environment.AWS, arn[0], 0)
		// The key is read while the function starts, so that the first request need
		// not wait for it. If that fails or takes too long, the request reads it.
		go func() {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			_, _ = key.Value(ctx)
		}()
		people.SharesUnread = func(ctx context.Context, err error) {
			environment.Log.WarnContext(ctx, "the shares of a question's options were not read", "error", err.Error())
		}
		human := &api.HumanAPI{
			Service: people,
			Options: api.Options{Parts: people.Parts, RateLimiter: people.Limiter(), Rules: people.Rules,
				Log: environment.Log, Metrics: environment.Metrics},
			Hasher: api.Hasher{Secret: key.Value},
		}
		return human.Handler(), nil
	})
}
