// Package api serves Ask-a-Human over HTTP, in the wire format that published clients speak.
// [AgentAPI] serves the routes of AI agents and describes all, [HumanAPI] the routes of people,
// [OperatorAPI] those of operators.
//
// They bind the operations of the contract to the service. Where the wire format is silent, the API decides: it ignores
// unknown fields and query parameters; it treats null as an optional field left out; it reads a body without a
// Content-Type as JSON, and refuses one with another type.
package api

import (
	"log/slog"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Options are what all APIs need.
type Options struct {
	// RateLimiter counts the calls of each agent, person and address.
	RateLimiter httpapi.RateLimiter
	// Parts says which parts the platform has. The zero value: those of [askahuman.Platform].
	Parts askahuman.Parts
	// Rules have the rate limits and the quota. Nil: [askahuman.DefaultRules].
	Rules *askahuman.Rules
	// Extra is what a team has added to records, for the OpenAPI document.
	Extra []schema.Extra
	// Log receives errors that callers do not see. Nil: [slog.Default].
	Log *slog.Logger
	// Metrics receives the metrics of the routes. Nil: none.
	Metrics *kit.Metrics
	Clock   wire.Clock
}

// rules returns the rules.
func (o Options) rules() askahuman.Rules {
	return askahuman.Or(o.Rules, askahuman.DefaultRules())
}

// server returns a server of the platform without operations. identify says who calls, and workTime is that of
// [httpapi.Config].
func (o Options) server(platform schema.Platform, identify map[schema.Caller]httpapi.Identify,
	keys httpapi.Idempotency, workTime time.Duration) *httpapi.Server {
	return httpapi.New(httpapi.Config{
		Platform:    platform,
		Extra:       o.Extra,
		Identify:    identify,
		Idempotency: keys,
		WorkTime:    workTime,
		Limiter:     o.RateLimiter,
		// The operations read and write tables, and nothing else.
		CountWhileReading: true,
		Log:               o.Log,
		Clock:             o.Clock,
	})
}

// platform is the one that the APIs serve.
func (o Options) platform(openAgents bool) schema.Platform {
	return askahuman.Under(o.Parts, o.rules(), openAgents)
}
