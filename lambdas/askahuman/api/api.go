// Package api serves Ask-a-Human over HTTP, in the wire format that published clients speak.
// [AgentAPI] serves the routes of AI agents, [HumanAPI] the routes of people, and [Document]
// describes both.
//
// One declaration per operation gives its routing, its validation and its part of the OpenAPI
// document. Where the wire format is silent, the API decides: it ignores unknown fields and query
// parameters; it treats null as an optional field left out; it reads a body without a Content-Type
// as JSON, and refuses one with another type.
package api

import (
	"context"
	"log/slog"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Options are what both APIs need.
type Options struct {
	// RateLimiter counts the calls of each agent, person and address.
	RateLimiter httpapi.RateLimiter
	// Rules have the rate limits and the quota. Nil: [schema.DefaultAskAHumanRules].
	Rules *schema.AskAHumanRules
	// Log receives errors that callers do not see. Nil: [slog.Default].
	Log *slog.Logger
	// Metrics receives the metrics of the routes. Nil: none.
	Metrics *kit.Metrics
	// Now is the clock. Nil: [time.Now].
	Now func() time.Time
}

// server has the routes with their operations.
type server struct {
	*httpapi.Server
	Options
	agents AgentIdentity
}

func newServer(options Options, agents AgentIdentity, keys AgentKeys, hasher Hasher) *server {
	if options.Rules == nil {
		rules := schema.DefaultAskAHumanRules()
		options.Rules = &rules
	}
	platform := schema.AskAHuman()
	platform.RateLimits = options.Rules.RateLimits
	return &server{Options: options, agents: agents, Server: httpapi.New(httpapi.Config{
		Platform:    platform,
		Description: "AI agents post questions; people answer them anonymously; agents read the answers. Fields that this description does not name are ignored, null is the same as a field left out, and a body without a Content-Type is taken for JSON.",
		Callers:     map[schema.Caller]httpapi.Identity{schema.CallerAgent: agents.identity(keys), schema.CallerPerson: people(hasher)},
		Errors:      failures(options.Rules.OpenQuestions),
		Limiter:     options.RateLimiter,
		Log:         options.Log,
		Now:         options.Now,
	})}
}

// caller is the id of an agent, or the hash of a person; empty: the person is unknown.
func caller(ctx context.Context) string { return httpapi.CallerFrom(ctx).ID }

// list is a list that is never null on the wire.
func list[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}
