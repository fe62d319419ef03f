// Package api serves Clarity over HTTP: it binds the operations of the contract to the service.
//
// Where the wire contract is silent, the API decides: it ignores unknown fields and query parameters,
// and treats null as an optional field left out; it reads a body without a Content-Type as JSON, and
// refuses one with another type; an evaluation that fails is no error of the request that stored the
// attempt.
package api

import (
	"context"
	"net/http"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// Handler returns the handler of all routes of the platform. s carries requests out. config has the idempotency keys,
// each user's a scope of its own, and a WorkTime from which the leases of keys and evaluations follow; its other fields
// are optional.
func Handler(s *service.Service, config httpapi.Config) *kit.API {
	config.Platform, config.Admit, config.Idempotency.Claim = s.Platform(), admit(s), idempotency.WithWrite
	server := httpapi.New(config)
	bindAttempts(server, s)
	bindOthers(server, s)
	httpapi.BindDocument(server, clarity.ReadDocument)
	return server.Handler()
}

// admit lets a user who is being deleted change nothing.
func admit(s *service.Service) func(*httpapi.Context) (context.Context, error) {
	return func(ctx *httpapi.Context) (context.Context, error) {
		if id := ctx.Declared().ID; ctx.Request.Method != http.MethodGet && id != clarity.DeleteUser.ID {
			user := httpapi.CallerFrom(ctx.Context()).ID
			ctx.WhileReading(func(ctx context.Context) error { return s.Admit(ctx, user) })
		}
		return ctx.Context(), nil
	}
}
