// Command linksapi is the Lambda function that serves all routes.
package main

import (
	"context"
	"net/http"

	"example.com/shortener/lambdas/shortener"
	"example.com/shortener/links"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/schema"
)

type (
	createInput struct{ Body links.Link }
	codeInput   struct {
		Code string `path:"code"`
	}
	listInput struct {
		Cursor string `query:"cursor"`
		Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
	}
)

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
			Platform: links.Platform(), Log: e.Log, Limiter: ratelimit.New(db, "Requests", nil), Strict: true,
			Callers: map[schema.Caller]httpapi.Identity{
				schema.CallerUser: httpapi.ByToken("userToken", "The user is the token's subject.")},
			Idempotency: httpapi.Idempotency{Keys: idempotency.New(db, "Requests", nil),
				Description: "A key of the caller's choice: a repeat with it makes no second link."},
		})
		user := func(ctx context.Context) string { return httpapi.CallerFrom(ctx).ID }
		httpapi.Mutate(server, httpapi.Operation{ID: "createLink",
			Status: http.StatusCreated, Errors: []error{links.ErrTaken}},
			func(ctx context.Context, in *createInput) (links.Link, error) {
				return service.Create(ctx, user(ctx), in.Body)
			}, nil)
		httpapi.Serve(server, httpapi.Operation{ID: "listLinks"},
			func(ctx context.Context, in *listInput) (shortener.Page, error) {
				return service.List(ctx, user(ctx), in.Cursor, in.Limit)
			})
		httpapi.Serve(server, httpapi.Operation{ID: "getLink",
			Errors: []error{links.ErrNotFound}},
			func(ctx context.Context, in *codeInput) (links.Link, error) {
				return service.Get(ctx, user(ctx), in.Code)
			})
		httpapi.Serve(server, httpapi.Operation{ID: "deleteLink",
			Status: http.StatusNoContent, Errors: []error{links.ErrNotFound}},
			func(ctx context.Context, in *codeInput) (any, error) {
				return nil, service.Delete(ctx, user(ctx), in.Code)
			})
		httpapi.Serve(server, httpapi.Operation{ID: "followLink",
			Status: http.StatusFound, Errors: []error{links.ErrNotFound}},
			func(ctx context.Context, in *codeInput) (any, error) {
				url, err := service.Follow(ctx, in.Code)
				httpapi.SetHeader(ctx, "Location", url)
				return nil, err
			})
		return server.Handler(), nil
	})
}
