// Command linksapi is the Lambda function that serves all routes.
package main

import (
	"context"

	"example.com/shortener/lambdas/shortener"
	"example.com/shortener/links"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/schema"
)

type codeRequest = httpapi.Request[links.CodeParams, schema.None]

func main() {
	kit.StartHTTP("shortener", func(ctx context.Context, e kit.Environment) (*kit.API, error) {
		db, err := dynamo.Open(e, links.Platform(), "linksapi")
		if err != nil {
			return nil, err
		}
		key, err := dynamo.ReadCursorKey(ctx, e)
		if err != nil {
			return nil, err
		}
		service := &shortener.Service{DB: db, CursorKey: key}
		server := httpapi.New(httpapi.Config{
			Platform: links.Platform(), Log: e.Log, Limiter: ratelimit.New(db, "Requests", nil),
			Idempotency: httpapi.Idempotency{Keys: idempotency.New(db, "Requests", nil)},
		})
		httpapi.Bind(server, links.CreateLink,
			func(ctx context.Context, r httpapi.Request[schema.None, links.Link]) (links.Link, error) {
				return service.Create(ctx, r.Caller.ID, r.Body)
			})
		httpapi.Bind(server, links.ListLinks,
			func(ctx context.Context, r httpapi.Request[links.ListParams, schema.None]) (links.Page, error) {
				return service.List(ctx, r.Caller.ID, r.Params.Cursor, r.Params.Limit)
			})
		httpapi.Bind(server, links.GetLink, func(ctx context.Context, r codeRequest) (links.Link, error) {
			return service.Get(ctx, r.Caller.ID, r.Params.Code)
		})
		httpapi.Bind(server, links.DeleteLink, func(ctx context.Context, r codeRequest) (none schema.None, err error) {
			return none, service.Delete(ctx, r.Caller.ID, r.Params.Code)
		})
		httpapi.Bind(server, links.FollowLink, func(ctx context.Context, r codeRequest) (none schema.None, err error) {
			url, err := service.Follow(ctx, r.Params.Code)
			httpapi.SetHeader(ctx, "Location", url)
			return none, err
		})
		return server.Handler(), nil
	})
}
