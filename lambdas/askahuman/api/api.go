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
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/schema"
)

// server has the parts that both APIs share.
type server struct {
	*httpapi.Server
	rules   *schema.AskAHumanRules
	limiter httpapi.RateLimiter
	agents  AgentIdentity
	keys    AgentKeys
	hasher  Hasher
	log     *slog.Logger
	metrics *kit.Metrics
	now     func() time.Time
}

func newServer(s server) *server {
	if s.rules == nil {
		rules := schema.DefaultAskAHumanRules()
		s.rules = &rules
	}
	platform := schema.AskAHuman()
	platform.RateLimits = s.rules.RateLimits
	s.Server = httpapi.New(httpapi.Config{
		Platform:    platform,
		Description: "AI agents post questions; people answer them anonymously; agents read the answers. Fields that this description does not name are ignored, null is the same as a field left out, and a body without a Content-Type is taken for JSON.",
		Callers:     map[schema.Caller]httpapi.Identity{schema.CallerAgent: s.agents.identity(s.keys), schema.CallerPerson: people(s.hasher)},
		Errors:      failures(s.rules.OpenQuestions),
		Limiter:     s.limiter,
		Log:         s.log,
		Now:         s.now,
	})
	return &s
}

// caller is the id of an agent, or the hash of a person; empty: the person is unknown.
func caller(ctx context.Context) string { return httpapi.CallerFrom(ctx).ID }

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
