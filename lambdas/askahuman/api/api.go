// Package api serves Ask-a-Human over HTTP, in the wire format that published
// clients speak. [AgentAPI] serves the routes of AI agents, [HumanAPI] those of
// people, [Document] describes both.
//
// One declaration per operation gives its routing, its validation and its part
// of the OpenAPI document. What the wire format leaves open is decided thus:
// fields and query parameters that are not known are ignored; null is as good as
// leaving an optional field out; a body without a Content-Type is taken for JSON,
// one with another type is refused.
package api

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema"
)

// RateLimiter counts calls.
type RateLimiter interface {
	// CountRequest counts a call of a caller towards a limit, in the window that
	// now is in. It returns an [*askahuman.RateLimitedError] beyond the limit.
	CountRequest(ctx context.Context, limit schema.RateLimit, caller string, now time.Time) (askahuman.RateLimitState, error)
}

// server is what both APIs share.
type server struct {
	platform schema.Platform
	mux      *http.ServeMux
	api      huma.API
	limiter  RateLimiter
	identify identify
	open     bool // agents are who X-Agent-Id says
	log      *slog.Logger
	metrics  *kit.Metrics
	now      func() time.Time
}

// identity is who calls.
type identity struct {
	agent   string // the agent's id; empty on people's routes
	person  string // the person's hash; empty when unknown, and on agents' routes
	address string // the hash of the caller's address; empty on agents' routes
}

// identify finds out who calls.
type identify func(ctx huma.Context) (identity, error)

type identityKey struct{}

// caller is who makes the request that the context belongs to.
func caller(ctx context.Context) identity {
	who, _ := ctx.Value(identityKey{}).(identity)
	return who
}

func newServer(s server) *server {
	s.platform = schema.AskAHuman()
	s.mux = http.NewServeMux()
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title:       s.platform.Title,
				Version:     "1.0.0",
				Description: "AI agents post questions; people answer them anonymously; agents read the answers.",
			},
			Components: &huma.Components{Schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)},
		},
		Formats:       map[string]huma.Format{"application/json": jsonFormat(), "json": jsonFormat()},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{transformError},
	}
	config.AllowAdditionalPropertiesByDefault = true
	s.api = humago.New(s.mux, config)
	s.api.UseMiddleware(s.admit)
	return &s
}

// handler is the API ready to be served.
func (s *server) handler() *kit.API {
	return &kit.API{
		Routes: s.mux,
		Error: func(err error) (int, any) {
			status, _, body := response(err, s.now())
			return status, body
		},
		Log: s.log,
	}
}

// operation declares one route.
type operation struct {
	// method and path are those of a route of the schema.
	method, path string
	id           string
	description  string
	// status is that of success.
	status int
	// needsPerson says that it is for known persons only: without a fingerprint it
	// is refused.
	needsPerson bool
	// codes are the errors that only this operation has.
	codes []code
	// content is the success response's content, where its type does not tell.
	content map[string]*huma.MediaType
}

// declaredRoute is what an operation's metadata holds.
type declaredRoute struct {
	schema.Route
	needsPerson bool
}

const routeMetadata = "route"

// routeOf is the route that a request has matched.
func routeOf(ctx huma.Context) declaredRoute {
	route, _ := ctx.Operation().Metadata[routeMetadata].(declaredRoute)
	return route
}

// register declares an operation and what serves it.
func register[I, O any](s *server, op operation, serve func(context.Context, *I) (*O, error)) {
	route, _ := s.route(op.method, op.path)
	huma.Register(s.api, s.describe(op, route), func(ctx context.Context, input *I) (*O, error) {
		output, err := serve(ctx, input)
		if err != nil {
			return nil, s.failure(ctx, err)
		}
		return output, nil
	})
}

// route is the schema's route of that method and path.
func (s *server) route(method, path string) (schema.Route, bool) {
	for _, route := range s.platform.Routes {
		if route.Method == method && route.Path == path {
			return route, true
		}
	}
	return schema.Route{Method: method, Path: path}, false
}

// admit comes before every operation: it finds out who calls and counts the call
// towards its limit, so that calls which fail validation are counted as well.
func (s *server) admit(ctx huma.Context, next func(huma.Context)) {
	wire := &wireContext{humaContext: ctx}
	address := ctx.URL()
	query, err := url.ParseQuery(address.RawQuery)
	if err != nil {
		s.fail(wire, invalid("query", "cannot be read: "+err.Error()+"; percent-encode values"))
		return
	}
	wire.query = query
	who, err := s.identify(wire)
	if err != nil {
		s.fail(wire, err)
		return
	}
	if limit, ok := s.platform.RateLimit(routeOf(ctx).RateLimit); ok {
		state, err := s.limiter.CountRequest(ctx.Context(), limit, who.countedAs(limit.Per), s.now())
		if err != nil {
			s.fail(wire, err)
			return
		}
		for name, values := range rateLimitHeaders(state) {
			wire.SetHeader(name, values[0])
		}
	}
	wire.humaContext = huma.WithValue(ctx, identityKey{}, who)
	next(wire)
}

// countedAs is the caller as a rate limit counts it.
func (i identity) countedAs(per schema.Identity) string {
	switch per {
	case schema.PerAgent:
		return i.agent
	case schema.PerPerson:
		return i.person
	default:
		return i.address
	}
}

func rateLimitHeaders(state askahuman.RateLimitState) http.Header {
	return http.Header{
		"X-Ratelimit-Limit":     {strconv.Itoa(state.Limit)},
		"X-Ratelimit-Remaining": {strconv.Itoa(state.Remaining)},
		"X-Ratelimit-Reset":     {strconv.FormatInt(state.Reset.Unix(), 10)},
	}
}

// secondsUntil is what Retry-After says: whole seconds, at least one.
func secondsUntil(moment, now time.Time) string {
	return strconv.Itoa(max(1, int(math.Ceil(moment.Sub(now).Seconds()))))
}
