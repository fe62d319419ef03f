// Package api serves To-Do over HTTP: it binds the operations of the contract to the service.
//
// Where the wire contract is silent, the API decides: moments are RFC 3339 text in UTC with whole
// seconds, as the table keeps them; an optional field without a value is null in an answer, and
// null or "" in a request; unknown and repeated fields, and unknown, empty and repeated query
// parameters are refused, since each is a mistake that would otherwise go unnoticed; a body without
// a Content-Type is read as JSON.
package api

import (
	"log/slog"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// API serves all routes of the platform.
type API struct {
	// Service carries requests out.
	Service *service.Service
	// Keys are the idempotency keys, each user's a scope of its own.
	Keys idempotency.Claims
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
		Platform:    a.Service.Platform(),
		Extra:       a.Extra,
		Idempotency: httpapi.Idempotency{Keys: a.Keys, Claim: idempotency.WithWrite},
		Log:         a.Log,
		Clock:       a.Clock,
	})}
	s.bindUsers()
	s.bindTasks()
	httpapi.BindDocument(s.Server, todo.ReadDocument)
	httpapi.BindHealth(s.Server, todo.ReadHealth)
	return s
}
