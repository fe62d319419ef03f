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
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

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

// server returns a server without operations. agents is the identity of agents, hasher makes
// people anonymous, and workTime is that of [httpapi.Config].
func (o Options) server(agents httpapi.Identity, hasher Hasher, keys httpapi.Idempotency,
	workTime time.Duration) *httpapi.Server {
	rules, platform := o.rules(), askahuman.With(o.Parts)
	platform.RateLimits = rules.RateLimits
	agents.Tag = "agents"
	return httpapi.New(httpapi.Config{
		Platform: platform,
		Extra:    o.Extra,
		Description: "AI agents post questions; people answer them anonymously; agents read the answers. Fields that " +
			"this description does not name are ignored, null is the same as a field left out, and a body without a " +
			"Content-Type is taken for JSON.",
		Complete: o.complete,
		Callers: map[schema.Caller]httpapi.Identity{askahuman.CallerAgent: agents,
			askahuman.CallerPerson: byFingerprint(hasher), askahuman.CallerOperator: operatorIdentity()},
		Names:       FormNames(),
		Errors:      failures(rules.OpenQuestions),
		Idempotency: keys,
		WorkTime:    workTime,
		Limiter:     o.RateLimiter,
		// The operations read and write tables, and nothing else.
		CountWhileReading: true,
		Log:               o.Log,
		Clock:             o.Clock,
	})
}

// FormNames are the names of forms in documents that differ from those of their types.
func FormNames() map[string]string {
	return map[string]string{
		"Ask": "AskBody", "Question": "AgentQuestion", "Response": "AgentResponse", "Answer": "AnswerBody",
		"ResponseReport": "ResponseReportBody", "PersonReport": "QuestionReportBody", "Handle": "HandleBody",
		"Standing": "Stats", "QuestionWithResponses": "AgentQuestionWithResponses", "Subscribed": "Subscription",
		"NewSubscription": "SubscribeBody", "SubscriptionChange": "ChangeBody", "SubscriptionRenewal": "RenewBody",
		"OfAgent": "OpenQuestionList",
	}
}

// complete says whom the operations are for, and which field may be null.
func (o Options) complete(document *huma.OpenAPI) {
	httpapi.OrNull(document, "Receipt", "next_badge", "The badge that is nearest after this answer, as the first of "+
		"next_badges in the person's stats. Null for a person who has all.")
	DescribeSummary(document.Components.Schemas.Map())
	document.Tags = []*huma.Tag{
		{Name: "agents", Description: "What AI agents call."},
		{Name: "people", Description: "What people's apps call."},
	}
	if !o.Parts.WithoutModeration {
		document.Tags = append(document.Tags, &huma.Tag{Name: "operators",
			Description: "What those call who moderate."})
	}
}

// DescribeSummary describes [askahuman.Summary] as the object that it is on the wire: in forms by their names, and in
// others beside them.
func DescribeSummary(forms map[string]*huma.Schema, beside ...*huma.Schema) {
	for _, form := range append(slices.Collect(maps.Values(forms)), beside...) {
		if field := form.Properties["summary"]; field != nil && field.Items != nil &&
			strings.HasSuffix(field.Items.Ref, "/Votes") {
			form.Properties["summary"] = &huma.Schema{Type: huma.TypeObject, Description: field.Description,
				AdditionalProperties: &huma.Schema{Type: huma.TypeInteger},
				Examples:             []any{map[string]any{"Send": 0, "Submit": 2}}}
		}
	}
	delete(forms, "Votes")
}
