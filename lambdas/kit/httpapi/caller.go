package httpapi

import (
	"context"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
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

// Identity says how the callers of one kind identify themselves. The zero value is for callers who need not do so.
type Identity struct {
	// Identify returns the caller, or an error that refuses the request. Nil: API Gateway identifies the
	// callers with [schema.Caller.Verified], and other callers are unknown. A caller with a token or IAM
	// must have an ID; a Lambda authorizer may admit a caller without one.
	Identify func(*Context) (Caller, error)
	// Schemes are the security schemes of the OpenAPI document, by name. Each alone is enough.
	Schemes map[string]*huma.SecurityScheme
	// Header is the request header that names the caller. Set it to list the header among the document's parameters.
	Header *huma.Param
	// Tag groups the operations of such callers in the document.
	Tag string
	// Errors are examples of errors that all their operations may return.
	Errors []error
}

// ByToken identifies callers by the subject of a JWT that API Gateway has verified. scheme and description name and
// describe the security scheme in the OpenAPI document.
func ByToken(scheme, description string) Identity {
	return Identity{Schemes: map[string]*huma.SecurityScheme{
		scheme: {Type: "http", Scheme: "bearer", BearerFormat: "JWT", Description: description},
	}}
}

// ByHeader identifies callers by a header, without proof. check returns an error for a name that no caller can have.
func ByHeader(header *huma.Param, check func(name string) error) Identity {
	return Identity{Header: header, Identify: func(ctx *Context) (Caller, error) {
		name := ctx.Header(header.Name)
		return Caller{ID: name}, check(name)
	}}
}

// ByKey identifies callers by a secret key, in a bearer token or else in a header. scheme and description name and
// describe the header's security scheme in the OpenAPI document. identify returns the id of a key's owner, or unknown
// for any other key, including none.
func ByKey(scheme, header, description string, identify func(ctx context.Context, key string) (id string, err error),
	unknown error) Identity {
	return Identity{
		Schemes: map[string]*huma.SecurityScheme{
			scheme: {Type: "apiKey", In: "header", Name: header, Description: description},
			scheme + "Bearer": {Type: "http", Scheme: "bearer",
				Description: "The same key. It counts before that of " + header + "."},
		},
		Errors: []error{unknown},
		Identify: func(ctx *Context) (caller Caller, err error) {
			key := ctx.Header(header)
			if scheme, token, _ := strings.Cut(ctx.Header("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
				key = strings.TrimSpace(token)
			}
			caller.ID, err = identify(ctx.Context(), key)
			return caller, err
		},
	}
}

// identify finds out who calls, and counts the call towards the limit of the route, so
// that a call that fails validation counts as well.
func (s *Server) identify(ctx *Context) (err error) {
	var caller Caller
	switch identity := s.config.Callers[ctx.Route.Caller]; {
	case identity.Identify != nil:
		caller, err = identity.Identify(ctx)
	case ctx.Route.Caller.Verified():
		caller.ID = kit.InvocationFrom(ctx.Context()).Subject()
	}
	if err != nil {
		return err
	}
	if group := ctx.Route.Caller.Group; group != "" &&
		!slices.Contains(kit.InvocationFrom(ctx.Context()).Groups, group) {
		return ErrForbidden
	}
	ctx.caller = caller
	return s.count(ctx, caller)
}
