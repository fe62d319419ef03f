package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// ErrorResponse is the form of every error.
type ErrorResponse struct {
	Error ErrorBody `json:"error"`
}

// ErrorBody says what went wrong.
type ErrorBody struct {
	Code    string      `json:"code" doc:"What went wrong, for programs." example:"VALIDATION_ERROR"`
	Message string      `json:"message" doc:"What went wrong, for people: a sentence for each problem." example:"prompt has 4 characters; it needs 10 to 2000"`
	Details *Violations `json:"details,omitempty" doc:"With VALIDATION_ERROR: what is wrong."`
	// Decision is that of an [askahuman.DecidedError].
	Decision *askahuman.LastDecision `json:"decision,omitempty" doc:"With DECIDED_MEANWHILE: who has decided what."`
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

// failures returns the answers to the errors of the kit, and to the one whose text says the quota of open questions;
// the platform's others say their own. UNAUTHORIZED, FORBIDDEN, NOT_FOUND, METHOD_NOT_ALLOWED and REQUEST_IN_PROGRESS
// are for cases on which the wire format is silent.
func failures(openQuestions int) httpapi.Errors {
	const inProgress = "an earlier request with this idempotency key has not been answered yet: send this one again, " +
		"unchanged, in a second"
	answer := func(code string, status int, match func(error) error) httpapi.KnownError {
		return httpapi.KnownError{Code: code, Status: status, Match: match}
	}
	return httpapi.Errors{
		Known: []httpapi.KnownError{
			answer("UNAUTHORIZED", http.StatusUnauthorized, httpapi.Refused(http.StatusUnauthorized)),
			answer("NOT_FOUND", http.StatusNotFound, httpapi.Refused(http.StatusNotFound)),
			answer("METHOD_NOT_ALLOWED", http.StatusMethodNotAllowed, httpapi.Refused(http.StatusMethodNotAllowed)),
			answer(invalid, http.StatusBadRequest, httpapi.As[*validate.Error]),
			answer(invalid, http.StatusBadRequest, otherRequest),
			{Code: "AGENT_QUOTA_EXCEEDED", Status: http.StatusForbidden, Match: httpapi.Is(askahuman.ErrQuotaExceeded),
				Message: fmt.Sprintf("you have %d questions that are open or partial, which is the most allowed: "+
					"wait for answers, or close some with DELETE /agent/questions/{question_id}", openQuestions)},
			answer("FORBIDDEN", http.StatusForbidden, httpapi.Is(httpapi.ErrForbidden)),
			{Code: "REQUEST_IN_PROGRESS", Status: http.StatusConflict, Match: httpapi.As[*idempotency.RunningError],
				Message: inProgress, RetryAfter: time.Second},
			{Code: "REQUEST_IN_PROGRESS", Status: http.StatusConflict, Match: httpapi.Is(idempotency.ErrClaimLost),
				Message: inProgress, RetryAfter: time.Second},
			answer("RATE_LIMITED", http.StatusTooManyRequests, httpapi.As[*ratelimit.LimitedError]),
			{
				Code: "SERVER_ERROR", Status: http.StatusServiceUnavailable,
				Match:   httpapi.Is(retry.ErrUnanswered, context.DeadlineExceeded),
				Message: unanswered, RetryAfter: time.Second,
				Description: "SERVER_ERROR: no answer in time, or too much at once",
			},
			{
				// Not RATE_LIMITED: clients take that for their own limit.
				Code: "SERVER_ERROR", Status: http.StatusServiceUnavailable,
				Match:   httpapi.Is(retry.ErrBusy, retry.ErrStale),
				Message: httpapi.TryAgain, RetryAfter: time.Second,
			},
		},
		Unknown: httpapi.KnownError{Code: "SERVER_ERROR"},
		Body:    body,
		Always: []error{&validate.Error{Problems: []validate.Problem{validate.Broken("prompt",
			validate.Constraint{Rule: validate.RuleLength, Min: new(10), Max: new(2000), Got: "Why?"})}}},
		OfCallers: []error{
			&ratelimit.LimitedError{State: ratelimit.State{Limit: 60,
				Reset: time.Date(2026, 2, 2, 10, 0, 0, 0, time.UTC)}},
			retry.ErrUnanswered,
		},
	}
}

// otherRequest names the field of an error that no form states.
func otherRequest(err error) error {
	if !errors.Is(err, idempotency.ErrOtherRequest) {
		return nil
	}
	return validate.Errorf("idempotency_key", validate.RuleConflict,
		"was used for another question in the last 24 hours; repeat that request unchanged, or send a new key")
}

// body returns the body of an error.
func body(_ context.Context, f httpapi.Failure) any {
	body := ErrorBody{Code: f.Code, Message: f.Message}
	if decided, ok := errors.AsType[*askahuman.DecidedError](f.Err); ok {
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
