// Command expirer is the Lambda function that deletes expired links every night.
package main

import (
	"context"

	"example.com/shortener/lambdas/shortener"
	"example.com/shortener/links"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
)

func main() {
	kit.StartEvent("shortener", func(_ context.Context, e kit.Environment) (func(context.Context, struct{}) error,
		error) {
		db, err := dynamo.Open(e, links.Platform(), "expirer")
		service := &shortener.Service{DB: db}
		return func(ctx context.Context, _ struct{}) error {
			expired, err := service.Expire(ctx)
			e.Metrics.Emit(ctx, kit.Count("LinksExpired", expired))
			return err
		}, err
	})
}
