// Package api serves Lingible over HTTP: it binds the operations of the contract to the service.
//
// Where the wire contract is silent, the API decides: it ignores unknown fields and query parameters,
// and treats null as an optional field left out; it reads a body without a Content-Type as JSON, and
// refuses one with another type.
package api

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	service "github.com/onesynth-cdk/onesynth/lambdas/lingible"
	"github.com/onesynth-cdk/onesynth/platforms/lingible"
)

// Handler returns the handler of all routes of the platform. s carries requests out. config has the idempotency keys,
// each user's a scope of its own, the limiter, and a WorkTime from which the leases of keys follow; its other fields
// are optional.
func Handler(s *service.Service, config httpapi.Config) *kit.API {
	config.Platform, config.Admit = s.Platform(), admit(s)
	config.Idempotency.Keys, config.Idempotency.Claim = userKeys{config.Idempotency.Keys}, idempotency.WithWrite
	// The operations read and write tables, ask models, and read the lexicon of Amazon S3.
	config.CountWhileReading = true
	server := httpapi.New(config)
	bindUsers(server, s)
	bindTranslations(server, s)
	bindSlang(server, s)
	bindQuiz(server, s)
	httpapi.BindHealth(server, lingible.ReadHealth)
	httpapi.BindDocument(server, lingible.ReadDocument)
	return server.Handler()
}

type callerKey struct{}

// admit refuses every request of a deleted account but one for its deletion: its answer may have been lost.
func admit(s *service.Service) func(*httpapi.Context) (context.Context, error) {
	return func(ctx *httpapi.Context) (context.Context, error) {
		caller := callerFrom(ctx.Context())
		if ctx.Route.Caller.Authenticated() && ctx.Declared().ID != lingible.DeleteUser.ID {
			var check func(context.Context) error
			caller, check = s.Admit(caller)
			ctx.WhileReading(check)
		}
		return context.WithValue(ctx.Context(), callerKey{}, caller), nil
	}
}

// callerFrom is the caller of a request.
func callerFrom(ctx context.Context) service.Caller {
	if admitted, ok := ctx.Value(callerKey{}).(service.Caller); ok {
		return admitted
	}
	invocation := kit.InvocationFrom(ctx)
	caller := service.Caller{ID: invocation.Subject(), Email: invocation.Claims["email"]}
	// Not every issuer says when the user signed in ("ID Token", OpenID Connect Core 1.0). Then each token counts as a
	// sign-in.
	since := cmp.Or(invocation.Claims["auth_time"], invocation.Claims["iat"])
	if seconds, err := strconv.ParseFloat(since, 64); err == nil {
		caller.SignedIn = time.Unix(int64(seconds), 0)
	}
	return caller
}

// userKeys are the idempotency keys of users alone: nothing is written for a caller whose account is
// deleted. The account cleaner begins when the requests that were admitted before have ended.
type userKeys struct{ idempotency.Claims }

// Begin implements [idempotency.Claims].
func (k userKeys) Begin(ctx context.Context, user, key string, request []byte, lease time.Duration) (*idempotency.Claim,
	*idempotency.Response, error) {
	if err := callerFrom(ctx).Admitted(ctx); err != nil {
		return nil, nil, err
	}
	return k.Claims.Begin(ctx, user, key, request, lease)
}
