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

	"github.com/danielgtaylor/huma/v2"

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

// maxBody is how many bytes a body has at most: ten answers of the longest length fit in, also with
// each character escaped.
const maxBody = 640 << 10

// Handler returns the handler of the routes.
func (a *API) Handler() *kit.API { return newServer(a).Handler() }

// Document returns the OpenAPI 3.1 document of all routes, as JSON.
func Document() ([]byte, error) { return newServer(&API{}).Document() }

// server has the routes with their operations.
type server struct {
	*httpapi.Server
	service *service.Service
}

func newServer(a *API) *server {
	s := &server{service: a.Service, Server: httpapi.New(httpapi.Config{
		Platform: clarity.Platform(),
		Extra:    a.Extra,
		Description: "People work through a scenario's questions, a rubric of eight dimensions evaluates their " +
			"answers, and a profile shows how they develop. Fields and query parameters that this description does " +
			"not name are ignored, null is the same as an optional field left out, and a body without a Content-Type " +
			"is taken for JSON.",
		Complete: allowNoEvaluation,
		Callers: map[schema.Caller]httpapi.Identity{
			schema.CallerUser: httpapi.ByToken("userToken",
				"A token of this platform's issuer. The user is its subject."),
		},
		Admit:        a.admit,
		MaxBodyBytes: maxBody,
		WorkTime:     a.WorkTime,
		Errors:       failures(),
		Idempotency: httpapi.Idempotency{
			Keys: a.Keys, Claim: idempotency.WithWrite,
			Description: "A key of the caller's choice, in printable ASCII; without one the request is carried out " +
				"each time. The same request with the same key is carried out once and answered alike for 24 hours, " +
				"also if it was refused; with another request the key is refused. " +
				"Two requests are the same if method, path, If-Match and body are, byte for byte. " +
				"A body of the wrong form does not use its key up, nor does a request that fails for a reason that " +
				"passes (409 with Retry-After, 5xx).",
			Passing: []error{&clarity.RunningError{}, &clarity.LimitError{}, clarity.ErrBeingDeleted},
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

// allowNoEvaluation says that an attempt without evaluation has null.
func allowNoEvaluation(document *huma.OpenAPI) {
	httpapi.OrNull(document, "Attempt", "evaluation", "Null unless evaluationStatus is done.")
}
