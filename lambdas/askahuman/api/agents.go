package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// AgentAPI serves the routes of AI agents, and the OpenAPI document of the whole
// platform.
type AgentAPI struct {
	// Service carries requests out.
	Service *service.Service
	// Options are the options of both APIs. Metrics receives the metric Asked; [CountEnded] emits
	// the metrics of ended questions.
	Options
	// Keys remember which asks with an idempotency key were answered, and how. An ask
	// with a key fails without them.
	Keys idempotency.Claims
	// OpenAgents trusts the X-Agent-Id header. Otherwise AgentKeys identify the agent, and
	// without these the subject of the JWT that API Gateway has verified.
	OpenAgents bool
	AgentKeys  *service.AgentKeys
	// Webhooks are the secrets of agents' webhooks. They are needed unless Parts leave webhooks out.
	Webhooks *webhooks.Secrets
	// WebhookTests try endpoints. They are needed unless Parts leave webhooks out.
	WebhookTests *webhooks.Tester
}

// CountEnded is for [service.Service]: it emits the metric ClosedByAgent or
// Expired for each question that a request of an agent ends.
func CountEnded(metrics *kit.Metrics) func(context.Context, askahuman.Status) {
	return func(ctx context.Context, status askahuman.Status) {
		name := "ClosedByAgent"
		if status == askahuman.StatusExpired {
			name = "Expired"
		}
		metrics.Emit(ctx, kit.Count(name, 1))
	}
}

// Handler returns the handler of the routes.
func (a *AgentAPI) Handler() *kit.API {
	s := a.server()
	a.bind(s)
	return s.Handler()
}

func (a *AgentAPI) server() *httpapi.Server {
	a.Parts.AgentKeys = a.AgentKeys != nil
	return a.Options.server(a.platform(a.OpenAgents), a.identify(),
		httpapi.Idempotency{Keys: a.Keys, Wait: repeatWait}, workTime)
}

// Requests by their parameters and their bodies.
type (
	request            = httpapi.Request[schema.None, schema.None]
	requestBy[P any]   = httpapi.Request[P, schema.None]
	requestWith[B any] = httpapi.Request[schema.None, B]
	askRequest         = httpapi.Request[askahuman.AskParams, askahuman.Ask]
	none               = schema.None
)

// bind serves the routes of the function agentapi.
func (a *AgentAPI) bind(s *httpapi.Server) {
	httpapi.BindWork(s, askahuman.AskUnder(a.Parts, a.rules()),
		httpapi.Work[askahuman.AskParams, askahuman.Ask, askahuman.Question]{
			Do: func(ctx context.Context, r askRequest) (askahuman.Question, error) {
				question, err := a.Service.Ask(ctx, r.Caller.ID, r.Body)
				if err == nil {
					a.Metrics.Emit(ctx, kit.Count("Asked", 1))
				}
				return question, err
			},
			Answer: func(question askahuman.Question) (int, any) {
				return http.StatusCreated, submission(question)
			},
			Key: func(r *askRequest) (key string, content []byte, err error) {
				// What is refused for its content claims no key.
				if err := a.Service.CheckAsk(r.Body); err != nil {
					return "", nil, err
				}
				return askKey(r)
			},
		})
	a.bindRead(s)
	httpapi.Bind(s, askahuman.ListQuestions,
		func(ctx context.Context, r requestBy[askahuman.AgentListParams]) (askahuman.AgentQuestionList, error) {
			questions, next, err := a.Service.List(ctx, r.Caller.ID, askahuman.Status(r.Params.Status), r.Params.Limit,
				r.Params.Cursor)
			return askahuman.AgentQuestionList{Questions: questions, NextCursor: next}, err
		})
	httpapi.Bind(s, askahuman.CloseQuestion,
		func(ctx context.Context, r requestBy[askahuman.QuestionParams]) (none, error) {
			return none{}, a.Service.Close(ctx, r.Caller.ID, r.Params.ID)
		})
	if !a.Parts.WithoutWebhooks {
		a.bindWebhooks(s)
	}
	if !a.Parts.WithoutModeration {
		httpapi.Bind(s, askahuman.ReportAnswer,
			func(ctx context.Context, r requestWith[askahuman.ResponseReport]) (askahuman.Reported, error) {
				reported, err := a.Service.ReportResponse(ctx, r.Caller.ID, r.Body)
				if err == nil {
					a.Metrics.Emit(ctx, kit.Count("Reported", 1))
				}
				return reported, err
			})
	}
	httpapi.BindDocument(s, askahuman.ReadDocument)
}

// repeatWait is how long a repeat waits for the first request, because published clients know no
// answer for a request that is still running. It is much longer than an ask takes: a first request
// that has not ended by then has most likely died.
const repeatWait = 2 * time.Second

// askKey is the key of an ask. The key may come in the header, in the body, or in both if equal. The content is the
// bytes that identify the ask. They are the same wherever the key is, and whether or not defaults are spelled out. JSON
// separates fields of any content. Never change the form: keys of the last 24 hours have a digest of these bytes.
func askKey(r *askRequest) (key string, content []byte, err error) {
	ask := r.Body.WithDefaults()
	switch {
	case ask.IdempotencyKey != nil && r.Params.IdempotencyKey != "" && *ask.IdempotencyKey != r.Params.IdempotencyKey:
		return "", nil, validate.Errorf("idempotency_key", validate.RuleConflict,
			"differs from the header X-Idempotency-Key; send the key once, or the same in both")
	case ask.IdempotencyKey == nil && r.Params.IdempotencyKey != "":
		ask.IdempotencyKey = &r.Params.IdempotencyKey
	}
	r.Body = ask
	if ask.IdempotencyKey == nil {
		return "", nil, nil
	}
	content, err = json.Marshal(struct {
		Prompt            string
		Type              askahuman.QuestionType
		Options, Audience []string
		Responses         int
		Timeout           time.Duration
		IdempotencyKey    string
		CallbackURL       *string `json:",omitempty"`
	}{ask.Prompt, ask.Type, ask.Options, ask.Audience, *ask.MinResponses,
		time.Duration(*ask.TimeoutSeconds) * time.Second, "", ask.CallbackURL})
	return *ask.IdempotencyKey, content, err
}

func submission(q askahuman.Question) askahuman.Submission {
	return askahuman.Submission{QuestionID: q.ID, Status: q.Status, PollURL: askahuman.PollURL(q.ID),
		ExpiresAt: q.Deadline, CreatedAt: q.CreatedAt}
}
