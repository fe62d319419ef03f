// Package api serves To-Do over HTTP: it binds the operations of the contract to the service.
//
// Where the wire contract is silent, the API decides: moments are RFC 3339 text in UTC with whole
// seconds, as the table keeps them; an optional field without a value is null in an answer, and
// null or "" in a request; unknown and repeated fields, and unknown, empty and repeated query
// parameters are refused, since each is a mistake that would otherwise go unnoticed; a body without
// a Content-Type is read as JSON.
package api

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// Handler returns the handler of all routes of the platform. s carries requests out. config has the idempotency keys,
// each user's a scope of its own; its other fields are optional.
func Handler(s *service.Service, config httpapi.Config) *kit.API {
	config.Platform, config.Idempotency.Claim = s.Platform(), idempotency.WithWrite
	server := httpapi.New(config)
	bindUsers(server, s)
	bindTasks(server, s)
	httpapi.BindDocument(server, todo.ReadDocument)
	httpapi.BindHealth(server, todo.ReadHealth)
	return server.Handler()
}
