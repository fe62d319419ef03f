package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
)

// code is an error's code in the wire format.
type code string

// The codes. The wire format lists those of questions and answers; UNAUTHORIZED,
// NOT_FOUND, METHOD_NOT_ALLOWED, SUBSCRIPTION_NOT_FOUND and REQUEST_IN_PROGRESS are
// for what it leaves open.
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
	Code    code                `json:"code" doc:"What went wrong, for programs." example:"VALIDATION_ERROR"`
	Message string              `json:"message" doc:"What went wrong, for people." example:"prompt: has 4 characters; it needs 10 to 2000 characters"`
	Details []askahuman.Problem `json:"details,omitempty" nullable:"false" doc:"With VALIDATION_ERROR: everything that is wrong."`
}

// errUnauthorized is a request on an agent's route without a verified token.
var errUnauthorized = errors.New("there is no verified token with a subject: send Authorization: Bearer with a JWT from the issuer of this platform")

func invalid(field, message string) error {
	return &askahuman.InvalidError{Problems: []askahuman.Problem{{Field: field, Message: message}}}
}

// response is an error as the wire format has it. It is the one place that maps
// errors to codes. What is not known to be the caller's business is SERVER_ERROR
// without a word of what happened.
func response(err error, now time.Time) (status int, headers http.Header, body ErrorResponse) {
	headers = http.Header{}
	answer := func(c code, message string, details ...askahuman.Problem) (int, http.Header, ErrorResponse) {
		return c.status(), headers, ErrorResponse{ErrorBody{Code: c, Message: message, Details: details}}
	}
	if wrong, ok := errors.AsType[*askahuman.InvalidError](err); ok {
		return answer(codeValidation, wrong.Error(), wrong.Problems...)
	}
	if limited, ok := errors.AsType[*askahuman.RateLimitedError](err); ok {
		maps.Copy(headers, rateLimitHeaders(limited.RateLimitState))
		headers.Set("Retry-After", secondsUntil(limited.Reset, now))
		return answer(codeRateLimited, limited.Error())
	}
	if _, running := errors.AsType[*idempotency.RunningError](err); running || errors.Is(err, idempotency.ErrClaimLost) {
		headers.Set("Retry-After", "1")
		return answer(codeRequestInProgress, "an earlier request with this idempotency key has not been answered yet: send this one again, unchanged, in a second")
	}
	if errors.Is(err, idempotency.ErrOtherRequest) {
		const message = "was used for another question in the last 24 hours: repeat that request unchanged, or send a new key"
		return response(invalid("idempotency_key", message), now)
	}
	if request, ok := errors.AsType[*kit.RequestError](err); ok {
		switch request.Status {
		case http.StatusNotFound:
			return answer(codeNotFound, request.Message)
		case http.StatusMethodNotAllowed:
			return answer(codeMethodNotAllowed, request.Message)
		default:
			return answer(codeValidation, request.Message, askahuman.Problem{Field: request.Field, Message: request.Message})
		}
	}
	for _, known := range []struct {
		err  error
		code code
	}{
		{errUnauthorized, codeUnauthorized},
		{askahuman.ErrQuotaExceeded, codeQuotaExceeded},
		{askahuman.ErrQuestionNotFound, codeQuestionNotFound},
		{askahuman.ErrSubscriptionNotFound, codeSubscriptionNotFound},
		{askahuman.ErrAlreadyAnswered, codeAlreadyAnswered},
		{askahuman.ErrQuestionClosed, codeQuestionClosed},
	} {
		if errors.Is(err, known.err) {
			return answer(known.code, known.err.Error())
		}
	}
	if errors.Is(err, dynamo.ErrBusy) || errors.Is(err, askahuman.ErrStale) {
		// Contention or throttling that outlived the retries: nothing was stored.
		headers.Set("Retry-After", "1")
		return answer(codeRateLimited, "too much is going on at once: nothing was stored; try again in a second")
	}
	return answer(codeServerError, "something went wrong on this side: try again; if it lasts, tell the operator when it happened")
}

// failedResponse is an error on its way through huma.
type failedResponse struct {
	ErrorResponse
	status  int
	headers http.Header
}

// Error returns the message.
func (e *failedResponse) Error() string { return e.ErrorResponse.Error.Message }

// GetStatus returns the status, for huma.
func (e *failedResponse) GetStatus() int { return e.status }

// GetHeaders returns the headers, for huma.
func (e *failedResponse) GetHeaders() http.Header { return e.headers }

// failure is err as huma is to write it. What becomes SERVER_ERROR is logged: the
// log is the only place that says what happened.
func (s *server) failure(ctx context.Context, err error) *failedResponse {
	status, headers, body := response(err, s.now())
	if status >= http.StatusInternalServerError {
		s.log.ErrorContext(ctx, "request failed", "error", err.Error())
	}
	return &failedResponse{ErrorResponse: body, status: status, headers: headers}
}

// fail answers a request that reaches no operation.
func (s *server) fail(ctx huma.Context, err error) {
	failed := s.failure(ctx.Context(), err)
	for name, values := range failed.headers {
		ctx.SetHeader(name, values[0])
	}
	ctx.SetHeader("Content-Type", "application/json")
	ctx.SetStatus(failed.status)
	if err := writeJSON(ctx.BodyWriter(), failed.ErrorResponse); err != nil {
		s.log.ErrorContext(ctx.Context(), "an error could not be written", "error", err.Error())
	}
}

// transformError gives errors the form of the wire format: ours, and what huma
// finds wrong with a request.
func transformError(_ huma.Context, _ string, value any) (any, error) {
	switch failed := value.(type) {
	case *failedResponse:
		return failed.ErrorResponse, nil
	case *huma.ErrorModel:
		if failed.Status >= http.StatusInternalServerError {
			_, _, body := response(failed, time.Time{})
			return body, nil
		}
		_, _, body := response(&askahuman.InvalidError{Problems: problems(failed)}, time.Time{})
		return body, nil
	default:
		return value, nil
	}
}

// problems is what huma found wrong, with the wire names of fields.
func problems(model *huma.ErrorModel) []askahuman.Problem {
	if len(model.Errors) == 0 {
		return []askahuman.Problem{{Field: "body", Message: model.Detail}}
	}
	found := make([]askahuman.Problem, len(model.Errors))
	for i, detail := range model.Errors {
		found[i] = problem(detail)
	}
	return found
}

func problem(detail *huma.ErrorDetail) askahuman.Problem {
	where, field, inside := strings.Cut(detail.Location, ".")
	var missing string
	if _, err := fmt.Sscanf(detail.Message, validation.MsgExpectedRequiredProperty, &missing); err == nil {
		return askahuman.Problem{Field: strings.TrimPrefix(field+"."+missing, "."), Message: "is missing, but required"}
	}
	switch {
	case !inside && strings.HasPrefix(detail.Message, huma.ErrUnknownContentType.Error()):
		return askahuman.Problem{Field: "Content-Type", Message: "is not application/json: send JSON with the header Content-Type: application/json"}
	case !inside:
		field = where
	}
	message := detail.Message
	if got := shown(detail.Value); got != "" && inside {
		message += "; got " + got
	}
	return askahuman.Problem{Field: field, Message: message}
}

// shown is a value as a message quotes it: cut, so that the message stays
// readable. Empty: there is nothing to quote.
func shown(value any) string {
	switch v := value.(type) {
	case string:
		const most = 40
		if n := utf8.RuneCountInString(v); n > most {
			return strconv.Quote(string([]rune(v)[:most])) + "… of " + strconv.Itoa(n) + " characters"
		}
		return strconv.Quote(v)
	case float64, int64, int, bool:
		return fmt.Sprint(v)
	case []any:
		return fmt.Sprintf("%d of them", len(v))
	case map[string]any:
		return "an object"
	default:
		return ""
	}
}
