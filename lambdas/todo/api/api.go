// Package api serves To-Do over HTTP. One declaration per operation gives its
// routing, its validation and its part of the OpenAPI document.
//
// Where the wire contract is silent, the API decides: moments are RFC 3339 text in UTC with whole
// seconds, as the table keeps them; an optional field without a value is null in an answer, and
// null or "" in a request; unknown and repeated fields, and unknown, empty and repeated query
// parameters are refused, since each is a mistake that would otherwise go unnoticed; a body without
// a Content-Type is read as JSON.
package api

import (
	"context"
	"log/slog"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	service "github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// API serves all routes of the platform.
type API struct {
	// Service carries requests out.
	Service *service.Service
	// Keys are the idempotency keys, each user's a scope of its own.
	Keys idempotency.Claims
	// Log receives errors that callers do not see. Nil: [slog.Default].
	Log *slog.Logger
	// Metrics receives the metric TasksCreated; TasksCompleted comes from
	// [CountCompleted]. Nil: none.
	Metrics *kit.Metrics
	// Now is the clock. Nil: [time.Now].
	Now func() time.Time
}

// CountCompleted is for [service.Service]: it emits the metric TasksCompleted for the
// tasks that a write completes.
func CountCompleted(metrics *kit.Metrics) func(context.Context, int) {
	return func(ctx context.Context, tasks int) { metrics.Emit(ctx, kit.Count("TasksCompleted", tasks)) }
}

// Handler returns the handler of the routes.
func (a *API) Handler() *kit.API { return newServer(a).Handler() }

// server has the routes with their operations.
type server struct {
	*httpapi.Server
	service *service.Service
	metrics *kit.Metrics
}

func newServer(a *API) *server {
	s := &server{service: a.Service, metrics: a.Metrics}
	s.Server = httpapi.New(httpapi.Config{
		Platform: todo.Platform(),
		Description: "Users keep tasks of their own. Unknown fields, fields that stand twice, and unknown, empty or " +
			"repeated query parameters are refused. A body without a Content-Type is taken for JSON. Moments are " +
			"whole seconds in UTC.",
		Strict: true,
		Callers: map[schema.Caller]httpapi.Identity{
			schema.CallerUser: httpapi.ByToken("userToken",
				"A token of this platform's issuer. The user is its subject."),
		},
		Errors: failures(),
		Idempotency: httpapi.Idempotency{
			Keys: a.Keys, Claim: idempotency.WhileReading,
			Description: "A key of the caller's choice, in printable ASCII. The same request with the same key is " +
				"carried out once and answered alike for 24 hours; with another request the key is refused. " +
				"Two requests are the same if method, path, If-Match and body are, byte for byte. " +
				"The answer may be a refusal: of a task that is missing, completed or has another version, of a user " +
				"who exists, or of an address that is taken. " +
				"A request that fails validation does not use its key up, nor does one that fails for want of a " +
				"user, or for a reason that passes (409 with Retry-After, 429, 5xx).",
			Passing: []error{todo.ErrUserNotFound, todo.ErrUserBeingDeleted},
		},
		Log: a.Log,
		Now: a.Now,
	})
	s.registerUsers()
	s.registerTasks()
	s.registerBulk()
	s.registerOthers()
	return s
}
