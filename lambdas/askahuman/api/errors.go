package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

// code is an error's code in the wire format.
type code string

// The codes. The wire format lists those of questions and answers; UNAUTHORIZED,
// NOT_FOUND, METHOD_NOT_ALLOWED, SUBSCRIPTION_NOT_FOUND and REQUEST_IN_PROGRESS are
// for cases on which it is silent.
const (
	codeValidation           code = "VALIDATION_ERROR"
	codeUnauthorized         code = "UNAUTHORIZED"
	codeQuotaExceeded        code = "AGENT_QUOTA_EXCEEDED"
	codeQuestionNotFound     code = "QUESTION_NOT_FOUND"
	codeSubscriptionNotFound code = "SUBSCRIPTION_NOT_FOUND"
	codeNotFound             code = "NOT_FOUND"
	codeMethodNotAllowed     code = "METHOD_NOT_ALLOWED"
	codeAlreadyAnswered      code = "ALREADY_ANSWERED"
	codeRequestInProgress    code = "REQUEST_IN_PROGRESS"
	codeQuestionClosed       code = "QUESTION_CLOSED"
	codeRateLimited          code = "RATE_LIMITED"
	codeServerError          code = "SERVER_ERROR"
)

// status is the HTTP status of a code.
func (c code) status() int {
	switch c {
	case codeValidation:
		return http.StatusBadRequest
	case codeUnauthorized:
		return http.StatusUnauthorized
	case codeQuotaExceeded:
		return http.StatusForbidden
	case codeQuestionNotFound, codeSubscriptionNotFound, codeNotFound:
		return http.StatusNotFound
	case codeMethodNotAllowed:
		return http.StatusMethodNotAllowed
	case codeAlreadyAnswered, codeRequestInProgress:
		return http.StatusConflict
	case codeQuestionClosed:
		return http.StatusGone
	case codeRateLimited:
		return http.StatusTooManyRequests
	default:
		return http.StatusInternalServerError
	}
}

// ErrorResponse is the form of every error.
type ErrorResponse struct {
	Error ErrorBody `json:"error"`
}

// ErrorBody says what went wrong.
type ErrorBody struct {
	Code    code        `json:"code" doc:"What went wrong, for programs." example:"VALIDATION_ERROR"`
	Message string      `json:"message" doc:"What went wrong, for people: a sentence for each problem." example:"prompt has 4 characters; it needs 10 to 2000"`
	Details *Violations `json:"details,omitempty" doc:"With VALIDATION_ERROR: what is wrong."`
}

// quotaExceeded says how many questions an agent may have.
func quotaExceeded(openQuestions int) string {
	return fmt.Sprintf("you have %d questions that are open or partial, which is the most allowed: wait for answers, or close some with DELETE /agent/questions/{question_id}", openQuestions)
}

// response is an error as the wire format has it. It is the one place that maps
// errors to codes. An error that is not known to concern the caller is SERVER_ERROR,
// without details.
func response(err error, now time.Time, openQuestions int) (status int, headers http.Header, body ErrorResponse) {
	headers = http.Header{}
	answer := func(c code, message string) (int, http.Header, ErrorResponse) {
		if c == codeUnauthorized {
			headers.Set("WWW-Authenticate", "Bearer") // RFC 9110, section 15.5.2
		}
		return c.status(), headers, ErrorResponse{ErrorBody{Code: c, Message: message}}
	}
	if wrong, ok := errors.AsType[*askahuman.InvalidError](err); ok {
		return codeValidation.status(), headers, ErrorResponse{ErrorBody{Code: codeValidation, Message: wrong.Error(), Details: details(wrong.Problems)}}
	}
	if wrong, ok := errors.AsType[*httpapi.InvalidError](err); ok {
		return response(malformed(wrong.Problems...), now, openQuestions)
	}
	if wrong, ok := errors.AsType[httpapi.Problem](err); ok {
		return response(malformed(wrong), now, openQuestions)
	}
	if limited, ok := errors.AsType[*askahuman.RateLimitedError](err); ok {
		maps.Copy(headers, rateLimitHeaders(limited.RateLimitState))
		headers.Set("Retry-After", httpapi.RetryAfter(limited.Reset.Sub(now)))
		return answer(codeRateLimited, limited.Error())
	}
	if _, running := errors.AsType[*idempotency.RunningError](err); running || errors.Is(err, idempotency.ErrClaimLost) {
		headers.Set("Retry-After", "1")
		return answer(codeRequestInProgress, "an earlier request with this idempotency key has not been answered yet: send this one again, unchanged, in a second")
	}
	if errors.Is(err, idempotency.ErrOtherRequest) {
		const message = "was used for another question in the last 24 hours; repeat that request unchanged, or send a new key"
		return response(invalid("idempotency_key", askahuman.ConstraintConflict, message), now, openQuestions)
	}
	if request, ok := errors.AsType[*kit.RequestError](err); ok {
		switch request.Status {
		case http.StatusUnauthorized:
			return answer(codeUnauthorized, request.Message)
		case http.StatusNotFound:
			return answer(codeNotFound, request.Message)
		case http.StatusMethodNotAllowed:
			return answer(codeMethodNotAllowed, request.Message)
		default:
			return response(unreadable(request), now, openQuestions)
		}
	}
	if errors.Is(err, askahuman.ErrQuotaExceeded) {
		return answer(codeQuotaExceeded, quotaExceeded(openQuestions))
	}
	for _, known := range []struct {
		err  error
		code code
	}{
		{askahuman.ErrUnknownAgentKey, codeUnauthorized},
		{askahuman.ErrQuestionNotFound, codeQuestionNotFound},
		{askahuman.ErrSubscriptionNotFound, codeSubscriptionNotFound},
		{askahuman.ErrAlreadyAnswered, codeAlreadyAnswered},
		{askahuman.ErrQuestionClosed, codeQuestionClosed},
	} {
		if errors.Is(err, known.err) {
			return answer(known.code, known.err.Error())
		}
	}
	if errors.Is(err, retry.ErrUnanswered) || errors.Is(err, context.DeadlineExceeded) {
		headers.Set("Retry-After", "1")
		return http.StatusServiceUnavailable, headers, ErrorResponse{ErrorBody{Code: codeServerError, Message: unanswered}}
	}
	if errors.Is(err, retry.ErrBusy) || errors.Is(err, askahuman.ErrStale) {
		headers.Set("Retry-After", "1")
		return answer(codeRateLimited, "too much is going on at once: try again in a second")
	}
	return answer(codeServerError, "something went wrong on this side: try again; if it lasts, tell the operator when it happened")
}

// unanswered is what a caller is told whose request met no answer of AWS in time. It
// is the one SERVER_ERROR with another status than 500: to come again helps.
const unanswered = "this took too long, and may have been done or not: look, or send the same again in a second, with its idempotency key if it has one"
