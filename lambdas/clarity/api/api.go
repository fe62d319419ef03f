// Package api serves Clarity over HTTP: it binds the operations of the contract to the service.
//
// Where the wire contract is silent, the API decides: it ignores unknown fields and query parameters,
// and treats null as an optional field left out; it reads a body without a Content-Type as JSON, and
// refuses one with another type; an evaluation that fails is no error of the request that stored the
// attempt.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// API serves all routes of the platform.
type API struct {
	// Service carries requests out.
	Service *service.Service
	// Keys are the idempotency keys, each user's a scope of its own.
	Keys idempotency.Claims
	// WorkTime is that of [httpapi.Config]: the leases of keys and evaluations follow from it.
	WorkTime time.Duration
	// Extra is what a team has added to records, for the OpenAPI document.
	Extra []schema.Extra
	// Log receives errors that callers do not see. Nil: [slog.Default].
	Log   *slog.Logger
	Clock wire.Clock
}

// Handler returns the handler of the routes.
func (a *API) Handler() *kit.API { return newServer(a).Handler() }

// server has the routes with their operations.
type server struct {
	*httpapi.Server
	service *service.Service
}

func newServer(a *API) *server {
	s := &server{service: a.Service, Server: httpapi.New(httpapi.Config{
		Platform: a.Service.Platform(),
		Extra:    a.Extra,
		Admit:    a.admit,
		WorkTime: a.WorkTime,
		Idempotency: httpapi.Idempotency{
			Keys: a.Keys, Claim: idempotency.WithWrite,
		},
		Log:   a.Log,
		Clock: a.Clock,
	})}
	s.bindAttempts()
	s.bindOthers()
	return s
}

// admit lets a user who is being deleted change nothing.
func (a *API) admit(ctx *httpapi.Context) (context.Context, error) {
	if id := ctx.Declared().ID; ctx.Request.Method != http.MethodGet && id != clarity.DeleteUser.ID {
		user := httpapi.CallerFrom(ctx.Context()).ID
		ctx.WhileReading(func(ctx context.Context) error { return a.Service.Admit(ctx, user) })
	}
	return ctx.Context(), nil
}
