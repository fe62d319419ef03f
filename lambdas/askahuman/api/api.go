// Package api serves Ask-a-Human over HTTP, in the wire format that published
// clients speak. [AgentAPI] serves the routes of AI agents, [HumanAPI] those of
// people, [Document] describes both.
//
// One declaration per operation gives its routing, its validation and its part
// of the OpenAPI document. Where the wire format is silent, the API decides:
// fields and query parameters that are not known are ignored; null has the effect of
// leaving an optional field out; a body without a Content-Type is taken for JSON,
// one with another type is refused.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/schema"
)

// RateLimiter counts calls.
type RateLimiter interface {
	// CountRequest counts a call of a caller towards a limit, in the window that
	// now is in. It returns an [*askahuman.RateLimitedError] beyond the limit.
	CountRequest(ctx context.Context, limit schema.RateLimit, caller string, now time.Time) (askahuman.RateLimitState, error)
}

// server has the parts that both APIs share.
type server struct {
	*httpapi.Server
	platform schema.Platform // with the limits of rules
	rules    *schema.AskAHumanRules
	limiter  RateLimiter
	identify identify
	agents   AgentIdentity
	log      *slog.Logger
	metrics  *kit.Metrics
	now      func() time.Time
}

// identity identifies a caller.
type identity struct {
	agent   string // the agent's id; empty on people's routes
	person  string // the person's hash; empty when unknown, and on agents' routes
	address string // the hash of the caller's address; empty on agents' routes
}

// identify identifies the caller.
type identify func(ctx *httpapi.Context) (identity, error)

type identityKey struct{}

// caller is the caller of the request that the context belongs to.
func caller(ctx context.Context) identity {
	who, _ := ctx.Value(identityKey{}).(identity)
	return who
}

func newServer(s server) *server {
	if s.rules == nil {
		rules := schema.DefaultAskAHumanRules()
		s.rules = &rules
	}
	s.platform = schema.AskAHuman()
	s.platform.RateLimits = s.rules.RateLimits
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	var open []string
	if s.agents != ByToken {
		open = s.platform.RoutesOf(schema.CallerAgent)
	}
	s.Server = httpapi.New(httpapi.Config{
		Platform:    s.platform,
		OpenRoutes:  open,
		Description: "AI agents post questions; people answer them anonymously; agents read the answers. Fields that this description does not name are ignored, null is the same as a field left out, and a body without a Content-Type is taken for JSON.",
		Admit:       s.admit,
		Failure: func(err error) httpapi.Failure {
			status, headers, body := response(err, s.now(), s.rules.OpenQuestions)
			return httpapi.Failure{Status: status, Header: headers, Body: body}
		},
		Log: s.log,
	})
	return &s
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

// needsPerson is the metadata of an operation that is for known persons only.
const needsPerson = "needsPerson"

// register declares an operation and the function that serves it.
func register[I, O any](s *server, op operation, serve func(context.Context, *I) (*O, error)) {
	httpapi.Register(s.Server, s.describe(op), serve)
}

// admit runs before every operation. It identifies the caller and counts the call
// towards its limit, so that calls that fail validation count as well.
func (s *server) admit(ctx *httpapi.Context) (context.Context, error) {
	who, err := s.identify(ctx)
	if err != nil {
		return nil, err
	}
	if limit, ok := s.platform.RateLimit(ctx.Route.RateLimit); ok {
		state, err := s.count(ctx.Context(), limit, who)
		if err != nil {
			return nil, err
		}
		for name, values := range rateLimitHeaders(state) {
			ctx.SetHeader(name, values[0])
		}
	}
	return context.WithValue(ctx.Context(), identityKey{}, who), nil
}

// count counts a call towards a limit of its caller, and of the caller's address
// where the limit has a further one for that. A call that the caller's own limit
// refuses does not count for the address, which others share. It returns the state of
// the caller's own, unless it is the address that may call no more.
func (s *server) count(ctx context.Context, limit schema.RateLimit, who identity) (askahuman.RateLimitState, error) {
	now := s.now()
	if limit.AddressRequests == 0 || who.person == "" {
		return s.limiter.CountRequest(ctx, limit, who.countedAs(limit.Per), now)
	}
	state, err := s.limiter.CountRequest(ctx, limit, who.person, now)
	if err != nil {
		return state, err
	}
	ofAddress := schema.RateLimit{Name: limit.Name + "-address", Requests: limit.AddressRequests, Window: limit.Window, Per: schema.PerAddress}
	_, err = s.limiter.CountRequest(ctx, ofAddress, who.address, now)
	return state, err
}

// countedAs is the caller as a rate limit counts it: unknown persons by address.
func (i identity) countedAs(per schema.Identity) string {
	switch {
	case per == schema.PerAgent:
		return i.agent
	case per == schema.PerPerson && i.person != "":
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

// timestamp is a moment as the wire format writes it: ISO 8601 in UTC with
// milliseconds.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// list is a list that is never null on the wire.
func list[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}
