package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	service "github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/webhooks"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
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
	a.register(s)
	return s.Handler()
}

// Document returns the OpenAPI 3.1 document of all routes, those of people included, as JSON.
func (a *AgentAPI) Document() ([]byte, error) {
	s := a.server()
	a.register(s)
	(&HumanAPI{Options: a.Options}).register(s)
	if !a.Parts.WithoutModeration {
		(&OperatorAPI{Options: a.Options}).register(s)
	}
	return s.Document()
}

func (a *AgentAPI) server() *httpapi.Server {
	return a.Options.server(a.identity(), Hasher{}, httpapi.Idempotency{Keys: a.Keys, Wait: repeatWait}, workTime)
}

type askInput struct {
	IdempotencyKey string `header:"X-Idempotency-Key" minLength:"1" maxLength:"255" doc:"The same as idempotency_key in the body."`
	Body           askahuman.Ask
}

// Submission is a question that was stored.
type Submission struct {
	QuestionID string           `json:"question_id" format:"uuid"`
	Status     askahuman.Status `json:"status" enum:"OPEN,PARTIAL,CLOSED,EXPIRED" example:"OPEN"`
	PollURL    string           `json:"poll_url" doc:"The path to read the answers at." example:"/agent/questions/6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
	ExpiresAt  wire.Time        `json:"expires_at" format:"date-time" doc:"When answers stop being taken." example:"2026-02-02T10:30:00.000Z"`
	CreatedAt  wire.Time        `json:"created_at" format:"date-time" example:"2026-02-02T09:30:00.000Z"`
}

// AgentQuestionWithResponses is a question with its answers.
type AgentQuestionWithResponses struct {
	service.QuestionWithResponses
	Summary Summary `json:"summary,omitempty" doc:"Of a multiple choice question: how many chose each option, in the order of the options." example:"{\"Submit\":2,\"Send\":0}"`
}

// Summary is an object with the number of votes by the option's text, in the order
// of the options: a map would sort it.
type Summary []service.Votes

// MarshalJSON writes the object.
func (s Summary) MarshalJSON() ([]byte, error) {
	var object bytes.Buffer
	object.WriteByte('{')
	for i, votes := range s {
		if i > 0 {
			object.WriteByte(',')
		}
		if err := httpapi.WriteJSON(&object, votes.Option); err != nil {
			return nil, fmt.Errorf("write the summary: %w", err)
		}
		fmt.Fprintf(&object, ":%d", votes.Count)
	}
	object.WriteByte('}')
	return object.Bytes(), nil
}

// Schema describes the object, for huma.
func (Summary) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeInteger}}
}

type questionInput struct {
	ID string `path:"question_id" doc:"The question's id." example:"6f1ed002-ab5f-4e0c-9c25-2f8f4b1e9d3a"`
}

type agentListInput struct {
	Status string `query:"status" enum:"OPEN,PARTIAL,CLOSED,EXPIRED" doc:"Only questions of this status."`
	pageInput
}

// AgentQuestionList is a page of an agent's questions.
type AgentQuestionList struct {
	Questions  []askahuman.Question `json:"questions" nullable:"false" doc:"Newest first."`
	NextCursor string               `json:"next_cursor,omitempty" doc:"Where the next page begins, if there is one."`
}

// register declares the routes of the function agentapi.
func (a *AgentAPI) register(s *httpapi.Server) {
	questionID := httpapi.Forms{"path.question_id": httpapi.Format("uuid")}
	httpapi.Mutate(s, httpapi.Operation{ID: "askQuestion", Status: http.StatusCreated,
		Form: Submission{}, CountsAlong: true,
		Description: fmt.Sprintf("Stores a question and shows it to people. At most %d questions of one agent are "+
			"open or partial at a time; one whose deadline has passed does not count. Repeated with the same "+
			"idempotency key it answers as it did the first time; while the first request is running, a repeat waits "+
			"for it for 2 seconds.", a.rules().OpenQuestions),
		// At least 10 characters, not counting the white space around them.
		Stricter: httpapi.Forms{"body.prompt": httpapi.Pattern(`\S[^\u0000]{8,}\S`),
			"body.options[0]": httpapi.NotBlank, "body.audience": httpapi.DistinctItems,
			"body.callback_url": a.callbackForm()},
		Variants: []httpapi.Variant{
			{Fields: httpapi.Forms{"type": httpapi.Only(string(askahuman.TypeText)), "options": httpapi.NoItems}},
			{Required: []string{"options"}, Fields: httpapi.Forms{
				"type":    httpapi.Only(string(askahuman.TypeMultipleChoice)),
				"options": httpapi.AtLeast(askahuman.MinOptions)}},
		},
		Errors: []error{askahuman.ErrQuotaExceeded, askahuman.ErrBlocked},
	}, func(ctx context.Context, input *askInput) (askahuman.Question, error) {
		question, err := a.Service.Ask(ctx, caller(ctx), input.Body)
		if err == nil {
			a.Metrics.Emit(ctx, kit.Count("Asked", 1))
		}
		return question, err
	}, func(_ context.Context, _ *askInput, question askahuman.Question) (int, any) {
		return http.StatusCreated, submission(question)
	})

	a.registerRead(s, httpapi.Operation{ID: "readQuestion",
		Description: "Returns one of the agent's own questions with the answers it has so far. Questions are kept " +
			"for 7 days after they close and for 24 hours after they expire; another agent's is not found.",
		Stricter: questionID,
		Errors:   []error{askahuman.ErrQuestionNotFound},
	})

	httpapi.Serve(s, httpapi.Operation{ID: "listQuestions",
		Description: "Returns a page of the agent's own questions, newest first. With a status, a page may have " +
			"fewer questions than its limit, even none, and still a next_cursor.",
	}, func(ctx context.Context, input *agentListInput) (AgentQuestionList, error) {
		questions, next, err := a.Service.List(ctx, caller(ctx), askahuman.Status(input.Status), input.Limit,
			input.Cursor)
		return AgentQuestionList{Questions: questions, NextCursor: next}, err
	})

	httpapi.Serve(s, httpapi.Operation{ID: "closeQuestion",
		Status: http.StatusNoContent,
		Description: "Closes one of the agent's own questions before its deadline. Its answers stay readable. One " +
			"that has ended already stays as it is.",
		Stricter: questionID,
		Errors:   []error{askahuman.ErrQuestionNotFound},
	}, func(ctx context.Context, input *questionInput) (any, error) {
		return nil, a.Service.Close(ctx, caller(ctx), input.ID)
	})

	if !a.Parts.WithoutWebhooks {
		a.registerWebhooks(s)
	}

	if !a.Parts.WithoutModeration {
		a.registerReports(s)
	}

	httpapi.RegisterDocument(s, httpapi.Operation{ID: "readDocument",
		Description: "Returns the description of all routes, those of people included.",
	}, a.Document)
}

// repeatWait is how long a repeat waits for the first request, because published clients know no
// answer for a request that is still running. It is much longer than an ask takes: a first request
// that has not ended by then has most likely died.
const repeatWait = 2 * time.Second

// Key implements [httpapi.IdempotencyKeyer]. It checks the ask, which is refused before it claims a key. The key may
// come in the header, in the body, or in both if equal. The content is the bytes that identify the ask. They are the
// same wherever the key is, and whether or not defaults are spelled out. JSON separates fields of any content. Never
// change the form: keys of the last 24 hours have a digest of these bytes.
func (i *askInput) Key() (key string, content []byte, err error) {
	ask := i.Body.WithDefaults()
	switch {
	case ask.IdempotencyKey != nil && i.IdempotencyKey != "" && *ask.IdempotencyKey != i.IdempotencyKey:
		return "", nil, validate.Errorf("idempotency_key", validate.RuleConflict,
			"differs from the header X-Idempotency-Key; send the key once, or the same in both")
	case ask.IdempotencyKey == nil && i.IdempotencyKey != "":
		ask.IdempotencyKey = &i.IdempotencyKey
	}
	i.Body = ask
	if err := validate.Form(ask); err != nil || ask.IdempotencyKey == nil {
		return "", nil, err
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

func submission(q askahuman.Question) Submission {
	return Submission{QuestionID: q.ID, Status: q.Status, PollURL: askahuman.PollURL(q.ID), ExpiresAt: q.Deadline,
		CreatedAt: q.CreatedAt}
}

func agentQuestionWithResponses(question service.QuestionWithResponses) AgentQuestionWithResponses {
	return AgentQuestionWithResponses{question, question.Summary}
}
