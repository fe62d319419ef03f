package httpapi

import (
	"context"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// Caller is who sent a request.
type Caller struct {
	// ID identifies the caller: the subject of a token, the member sub of a Lambda authorizer's context, the ID of the
	// [kit.Signer], or the result of [Identity.Identify]. Empty: the caller is unknown. [kit.InvocationFrom] returns
	// what else API Gateway knows of the caller.
	ID string
	// Address is the address by which rate limits count unknown callers, and all callers of one address together.
	// Empty: they count nothing by address.
	Address string
}

// CallerFrom returns the caller of the context's request.
func CallerFrom(ctx context.Context) Caller {
	if request := requestFrom(ctx); request != nil {
		return request.caller
	}
	return Caller{}
}

// Identify returns the caller of a request, or an error that refuses the request.
type Identify func(*Context) (Caller, error)

// ByHeader identifies callers by a header, without proof. check returns an error for a name that no caller can have.
func ByHeader(header string, check func(name string) error) Identify {
	return func(ctx *Context) (Caller, error) {
		name := ctx.Header(header)
		return Caller{ID: name}, check(name)
	}
}

// ByKey identifies callers by a secret key, in a bearer token or else in a header. identify returns the id of a key's
// owner, or the error for any other key, including none.
func ByKey(header string, identify func(ctx context.Context, key string) (id string, err error)) Identify {
	return func(ctx *Context) (caller Caller, err error) {
		key := ctx.Header(header)
		if scheme, token, _ := strings.Cut(ctx.Header("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
			key = strings.TrimSpace(token)
		}
		caller.ID, err = identify(ctx.Context(), key)
		return caller, err
	}
}

// identify finds out who calls, and counts the call towards the limit of the route, so
// that a call that fails validation counts as well.
func (s *Server) identify(ctx *Context) (err error) {
	var caller Caller
	switch identify := s.config.Identify[ctx.Route.Caller]; {
	case identify != nil:
		caller, err = identify(ctx)
	case ctx.Route.Caller.Verified():
		caller.ID = kit.InvocationFrom(ctx.Context()).Subject()
	}
	if err != nil {
		return err
	}
	if group := ctx.Route.Caller.Group; group != "" &&
		!slices.Contains(kit.InvocationFrom(ctx.Context()).Groups, group) {
		return problem.ErrForbidden
	}
	ctx.caller = caller
	return s.count(ctx, caller)
}
