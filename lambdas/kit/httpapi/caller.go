package httpapi

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// Caller is who sent a request.
type Caller struct {
	// ID identifies the caller: the subject of a token, or the result of [Identity.Identify].
	// Empty: the caller is unknown.
	ID string
	// Address is what rate limits count unknown callers by, and all callers of one address
	// together. Empty: nothing is counted by address.
	Address string
}

// CallerFrom returns the caller of the request that the context belongs to.
func CallerFrom(ctx context.Context) Caller {
	if request := requestFrom(ctx); request != nil {
		return request.caller
	}
	return Caller{}
}

// Identity says how the callers of one kind identify themselves. The zero value is for callers who
// need not.
type Identity struct {
	// Identify returns the caller, or an error that refuses the request. Nil: callers with
	// [schema.Caller.Authenticated] are the subject of the verified token, which they must have;
	// other callers are unknown.
	Identify func(*Context) (Caller, error)
	// Schemes are the security schemes of the OpenAPI document, by name. Each alone is enough.
	Schemes map[string]*huma.SecurityScheme
	// Header is the request header that names the caller, if the document is to have it
	// among the parameters.
	Header *huma.Param
	// Tag groups the operations of such callers in the document.
	Tag string
	// Errors are examples of the errors that all their operations have.
	Errors []error
}

// ByToken identifies callers by the subject of a JWT that API Gateway has verified. scheme is the
// name of the security scheme in the OpenAPI document, and description its description.
func ByToken(scheme, description string) Identity {
	return Identity{Schemes: map[string]*huma.SecurityScheme{
		scheme: {Type: "http", Scheme: "bearer", BearerFormat: "JWT", Description: description},
	}}
}

// ByHeader identifies callers by a header, without proof. check refuses what is not a caller's
// name.
func ByHeader(header *huma.Param, check func(name string) error) Identity {
	return Identity{Header: header, Identify: func(ctx *Context) (Caller, error) {
		name := ctx.Header(header.Name)
		return Caller{ID: name}, check(name)
	}}
}

// ByKey identifies callers by a secret key, which is a bearer token or else in a header. scheme is
// the name of the header's security scheme in the OpenAPI document, and description its
// description. identify returns the id of a key's owner; for any other key, including none, it
// returns unknown.
func ByKey(scheme, header, description string, identify func(ctx context.Context, key string) (id string, err error), unknown error) Identity {
	return Identity{
		Schemes: map[string]*huma.SecurityScheme{
			scheme:            {Type: "apiKey", In: "header", Name: header, Description: description},
			scheme + "Bearer": {Type: "http", Scheme: "bearer", Description: "The same key. It counts before that of " + header + "."},
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

// ByFingerprint distinguishes anonymous people by a browser fingerprint in a header, at most as
// long as the MaxLength of its Schema. Caller.ID is the fingerprint's keyed hash, and
// Caller.Address the IP address's. A missing fingerprint is refused where an operation needs the
// caller.
func ByFingerprint(header *huma.Param, hasher Hasher) Identity {
	longest := *header.Schema.MaxLength
	return Identity{Header: header, Identify: func(ctx *Context) (Caller, error) {
		fingerprint := ctx.Header(header.Name)
		switch length := utf8.RuneCountInString(fingerprint); {
		case fingerprint == "" && ctx.Declared().NeedsCaller:
			return Caller{}, Unreadable(header.Name, validate.Constraint{Rule: validate.RuleRequired}, fmt.Sprintf("is missing; send the header with a fingerprint of the browser, 1 to %d characters; only a keyed hash of it is stored", longest))
		case length > longest:
			least := 1
			return Caller{}, Unreadable(header.Name, validate.Constraint{Rule: validate.RuleLength, Min: &least, Max: &longest, Got: fingerprint}, fmt.Sprintf("has %d characters; it needs 1 to %d", length, longest))
		case containsControl(fingerprint):
			return Caller{}, Unreadable(header.Name, validate.Constraint{}, "holds control characters; send printable ones")
		}
		return hasher.caller(ctx.Context(), fingerprint)
	}}
}

// Hasher makes people and addresses anonymous: only an HMAC of either is ever
// stored.
type Hasher struct {
	// Secret returns the key of the HMAC.
	Secret func(context.Context) (string, error)
}

// Person is the HMAC-SHA-256 of a fingerprint, in hexadecimal.
func (h Hasher) Person(ctx context.Context, fingerprint string) (string, error) {
	return h.sum(ctx, fingerprint)
}

// Address is the HMAC-SHA-256 of an IP address, in hexadecimal. No fingerprint has the same hash:
// none begins with the character NUL.
func (h Hasher) Address(ctx context.Context, address string) (string, error) {
	return h.sum(ctx, "\x00address\x00"+address)
}

func (h Hasher) caller(ctx context.Context, fingerprint string) (caller Caller, err error) {
	if fingerprint != "" {
		if caller.ID, err = h.Person(ctx, fingerprint); err != nil {
			return Caller{}, err
		}
	}
	caller.Address, err = h.Address(ctx, kit.InvocationFrom(ctx).SourceAddress)
	return caller, err
}

func (h Hasher) sum(ctx context.Context, text string) (string, error) {
	key, err := h.Secret(ctx)
	if err != nil {
		return "", fmt.Errorf("hashing who calls: %w", err)
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// identify finds out who calls, and counts the call towards the limit of the route, so
// that a call that fails validation counts as well.
func (s *Server) identify(ctx *Context) (err error) {
	var caller Caller
	switch identity := s.config.Callers[ctx.Route.Caller]; {
	case identity.Identify != nil:
		caller, err = identity.Identify(ctx)
	case ctx.Route.Caller.Authenticated():
		caller.ID = kit.InvocationFrom(ctx.Context()).Subject()
	}
	if err != nil {
		return err
	}
	if group := ctx.Route.Caller.Group; group != "" && !slices.Contains(kit.InvocationFrom(ctx.Context()).Groups, group) {
		return ErrForbidden
	}
	ctx.caller = caller
	return s.count(ctx, caller)
}

func containsControl(text string) bool { return strings.ContainsFunc(text, unicode.IsControl) }
