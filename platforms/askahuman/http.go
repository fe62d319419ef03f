package askahuman

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Under returns the platform with these parts, under these rules. With openAgents, agents name themselves, without
// proof.
func Under(parts Parts, rules Rules, openAgents bool) schema.Platform {
	p := With(parts)
	ruled(&p, parts, rules, openAgents)
	return p
}

// ruled sets what of a platform with these parts follows from its rules.
func ruled(p *schema.Platform, parts Parts, rules Rules, openAgents bool) {
	p.RateLimits = rules.RateLimits
	ask := slices.IndexFunc(p.Routes, func(r schema.Route) bool { return r.ID == AskQuestion.ID })
	p.Routes[ask] = schema.Routes(AskUnder(parts, rules))[0]
	p.API = overHTTP(parts, rules, openAgents)
}

// agentCredential is how agents identify themselves. Published clients send X-Agent-Id alone, as a name or as a key.
func agentCredential(parts Parts, open bool) schema.Credential {
	switch {
	case open:
		return schema.Credential{Group: "agents", Header: &schema.HeaderParameter{Name: AgentHeader, Required: true,
			MaxLength: MaxAgentIDLength, Description: "Who asks: an id of the agent's own choice.",
			Example: "my-agent"}}
	case parts.AgentKeys:
		return schema.Credential{Group: "agents", Key: "agentKey", KeyHeader: AgentHeader,
			Description: "A key that was issued to the agent.", Errors: []error{ErrUnknownAgentKey}}
	}
	return schema.Credential{Group: "agents", Token: "agentToken",
		Description: "A token of this platform's issuer. The agent is its subject."}
}

// overHTTP says how the platform speaks HTTP.
func overHTTP(parts Parts, rules Rules, openAgents bool) schema.API {
	groups := []schema.Group{
		{Name: "agents", Description: "What AI agents call."},
		{Name: "people", Description: "What people's apps call."},
	}
	if !parts.WithoutModeration {
		groups = append(groups, schema.Group{Name: "operators", Description: "What those call who moderate."})
	}
	return schema.API{
		Description: "AI agents post questions; people answer them anonymously; agents read the answers. Fields that " +
			"this description does not name are ignored, null is the same as a field left out, and a body without a " +
			"Content-Type is taken for JSON.",
		Credentials: map[schema.Caller]schema.Credential{
			CallerAgent: agentCredential(parts, openAgents),
			CallerPerson: {Group: "people", Header: &schema.HeaderParameter{Name: FingerprintHeader,
				MaxLength: MaxFingerprintLength, Example: "c1b9e0c5a2",
				Description: "Tells anonymous people apart. Only a keyed hash of it is stored."}},
			CallerOperator: {Group: "operators", Token: "operatorToken",
				Description: "A token of a user who is in the group " + OperatorsGroup +
					" of this platform's issuer of people's tokens."},
		},
		Groups: groups,
		Forms: map[string]string{
			"Ask": "AskBody", "Question": "AgentQuestion", "Response": "AgentResponse", "Answer": "AnswerBody",
			"ResponseReport": "ResponseReportBody", "PersonReport": "QuestionReportBody", "Handle": "HandleBody",
			"Standing": "Stats", "QuestionWithResponses": "AgentQuestionWithResponses", "Subscribed": "Subscription",
			"NewSubscription": "SubscribeBody", "SubscriptionChange": "ChangeBody", "SubscriptionRenewal": "RenewBody",
			"OfAgent": "OpenQuestionList",
		},
		Errors: answers(rules.OpenQuestions),
	}
}

// ErrorResponse is the form of every error.
type ErrorResponse struct {
	Error ErrorBody `json:"error"`
}

// ErrorBody says what went wrong.
type ErrorBody struct {
	Code    string      `json:"code" doc:"What went wrong, for programs." example:"VALIDATION_ERROR"`
	Message string      `json:"message" doc:"What went wrong, for people: a sentence for each problem." example:"prompt has 4 characters; it needs 10 to 2000"`
	Details *Violations `json:"details,omitempty" doc:"With VALIDATION_ERROR: what is wrong."`
	// Decision is that of an [DecidedError].
	Decision *LastDecision `json:"decision,omitempty" doc:"With DECIDED_MEANWHILE: who has decided what."`
}

// Violations say what is wrong with a request: the first problem, as published
// clients read it, and all of them.
type Violations struct {
	Violation
	Problems []Problem `json:"problems" nullable:"false" minItems:"1" doc:"Everything that is wrong; the first is the one above."`
}

// Violation is the rule that a field breaks.
type Violation struct {
	Field string `json:"field" doc:"The field, parameter or header; body or query for the whole of these." example:"prompt"`
	Index *int   `json:"index,omitempty" doc:"Of an entry of a list: which one, from 0."`
	validate.Constraint
}

// Problem is one thing wrong with a request.
type Problem struct {
	Violation
	Message string `json:"message" doc:"What was got and what is allowed, in a sentence." example:"prompt has 4 characters; it needs 10 to 2000"`
}

// invalid is the code of a request whose content is not allowed.
const invalid = "VALIDATION_ERROR"

// answers are those to the errors that every server has, and to the one whose text says the quota of open questions;
// the platform's others say their own. UNAUTHORIZED, FORBIDDEN, NOT_FOUND, METHOD_NOT_ALLOWED and REQUEST_IN_PROGRESS
// are for cases on which the wire format is silent.
func answers(openQuestions int) problem.Answers {
	const inProgress = "an earlier request with this idempotency key has not been answered yet: send this one again, " +
		"unchanged, in a second"
	return problem.Answers{
		Known: []problem.Answer{
			problem.Coded("UNAUTHORIZED", http.StatusUnauthorized, problem.Refused(http.StatusUnauthorized)),
			problem.Coded("NOT_FOUND", http.StatusNotFound, problem.Refused(http.StatusNotFound)),
			problem.Coded("METHOD_NOT_ALLOWED", http.StatusMethodNotAllowed,
				problem.Refused(http.StatusMethodNotAllowed)),
			problem.Coded(invalid, http.StatusBadRequest, problem.As[*validate.Error]),
			problem.Coded(invalid, http.StatusBadRequest, otherRequest),
			{Code: "AGENT_QUOTA_EXCEEDED", Status: http.StatusForbidden, Match: problem.Is(ErrQuotaExceeded),
				Message: fmt.Sprintf("you have %d questions that are open or partial, which is the most allowed: "+
					"wait for answers, or close some with DELETE /agent/questions/{question_id}", openQuestions)},
			problem.Coded("FORBIDDEN", http.StatusForbidden, problem.Is(problem.ErrForbidden)),
			{Code: "REQUEST_IN_PROGRESS", Status: http.StatusConflict, Match: problem.As[*problem.RunningError],
				Message: inProgress, RetryAfter: time.Second},
			{Code: "REQUEST_IN_PROGRESS", Status: http.StatusConflict, Match: problem.Is(problem.ErrClaimLost),
				Message: inProgress, RetryAfter: time.Second},
			problem.Coded("RATE_LIMITED", http.StatusTooManyRequests, problem.As[*problem.LimitedError]),
			{
				Code: "SERVER_ERROR", Status: http.StatusServiceUnavailable,
				Match:   problem.Is(problem.ErrUnanswered, context.DeadlineExceeded),
				Message: unanswered, RetryAfter: time.Second,
				Description: "SERVER_ERROR: no answer in time, or too much at once",
			},
			{
				// Not RATE_LIMITED: clients take that for their own limit.
				Code: "SERVER_ERROR", Status: http.StatusServiceUnavailable,
				Match:   problem.Is(problem.ErrBusy, problem.ErrStale),
				Message: problem.TryAgain, RetryAfter: time.Second,
			},
		},
		Unknown: problem.Answer{Code: "SERVER_ERROR"},
		Body:    errorBody,
		Always: []error{&validate.Error{Problems: []validate.Problem{validate.Broken("prompt",
			validate.Constraint{Rule: validate.RuleLength, Min: new(10), Max: new(2000), Got: "Why?"})}}},
		OfCallers: []error{
			&problem.LimitedError{State: problem.State{Limit: 60,
				Reset: time.Date(2026, 2, 2, 10, 0, 0, 0, time.UTC)}},
			problem.ErrUnanswered,
		},
	}
}

// otherRequest names the field of an error that no form states.
func otherRequest(err error) error {
	if !errors.Is(err, problem.ErrOtherRequest) {
		return nil
	}
	return validate.Errorf("idempotency_key", validate.RuleConflict,
		"was used for another question in the last 24 hours; repeat that request unchanged, or send a new key")
}

// errorBody returns the body of an error.
func errorBody(f problem.Failure) any {
	body := ErrorBody{Code: f.Code, Message: f.Message}
	if decided, ok := errors.AsType[*DecidedError](f.Err); ok {
		body.Decision = &decided.LastDecision
	}
	if f.Code != invalid {
		return ErrorResponse{body}
	}
	var sentences []string
	var problems []Problem
	for _, p := range f.Err.(*validate.Error).Problems {
		wire := p.Wire()
		problem := Problem{Violation{wire.Field, wire.Index, p.Constraint}, p.Sentence()}
		if problem.Rule == "" || problem.Rule == validate.RulePattern {
			problem.Rule = validate.RuleFormat
		}
		problems, sentences = append(problems, problem), append(sentences, problem.Message)
	}
	body.Details, body.Message = &Violations{problems[0].Violation, problems}, strings.Join(sentences, ". ")
	return ErrorResponse{body}
}

// unanswered is the message to a caller whose request got no answer of AWS in time.
const unanswered = "this took too long, and may have been done or not: look, or send the same again in a second, " +
	"with its idempotency key if it has one"
