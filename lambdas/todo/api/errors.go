package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
)

// ErrorResponse is the form of every error but 422.
type ErrorResponse struct {
	Detail string `json:"detail" doc:"What went wrong, and what to do." example:"there is no such task"`
}

// InvalidResponse is the form of 422: values that are not allowed.
type InvalidResponse struct {
	Detail []httpapi.Problem `json:"detail" nullable:"false" minItems:"1" doc:"Everything that is wrong."`
}

// errUnknown is the caller's view of an error that must not be revealed.
var errUnknown = errors.New("something went wrong on this side: try again with the same idempotency key; if it lasts, tell the operator when it happened")

// failure is an error as the wire format has it. It is the one place that maps
// errors to statuses. An error that is not known to concern the caller is 500, without
// details.
func failure(err error, now time.Time) httpapi.Failure {
	answer := func(status int, message string) httpapi.Failure {
		return httpapi.Failure{Status: status, Header: http.Header{}, Body: ErrorResponse{message}}
	}
	later := func(f httpapi.Failure, after time.Duration) httpapi.Failure {
		f.Header.Set("Retry-After", httpapi.RetryAfter(after))
		return f
	}
	if wrong, ok := errors.AsType[*httpapi.InvalidError](err); ok {
		if wrong.Status == http.StatusUnprocessableEntity {
			return httpapi.Failure{Status: wrong.Status, Body: InvalidResponse{wrong.Problems}}
		}
		return answer(wrong.Status, wrong.Error())
	}
	if wrong, ok := errors.AsType[*todo.InvalidError](err); ok {
		return httpapi.Failure{Status: http.StatusUnprocessableEntity, Body: InvalidResponse{problems(wrong)}}
	}
	if request, ok := errors.AsType[*kit.RequestError](err); ok {
		return answer(request.Status, request.Message)
	}
	if version, ok := errors.AsType[*todo.VersionError](err); ok {
		return answer(http.StatusPreconditionFailed, version.Error())
	}
	if running, ok := errors.AsType[*idempotency.RunningError](err); ok {
		return later(answer(http.StatusConflict, running.Error()), running.Until.Sub(now))
	}
	if errors.Is(err, idempotency.ErrOtherRequest) {
		return failure(httpapi.Invalid(keyHeader, idempotency.ErrOtherRequest.Error()), now)
	}
	for _, known := range []struct {
		err        error
		status     int
		retryAfter time.Duration
	}{
		{err: todo.ErrUserNotFound, status: http.StatusNotFound},
		{err: todo.ErrTaskNotFound, status: http.StatusNotFound},
		{err: todo.ErrUserExists, status: http.StatusConflict},
		{err: todo.ErrEmailTaken, status: http.StatusConflict},
		{err: todo.ErrUserBeingDeleted, status: http.StatusConflict, retryAfter: 5 * time.Second},
		{err: todo.ErrTaskCompleted, status: http.StatusBadRequest},
		{err: idempotency.ErrClaimLost, status: http.StatusConflict, retryAfter: time.Second},
	} {
		if errors.Is(err, known.err) {
			f := answer(known.status, known.err.Error())
			if known.retryAfter > 0 {
				f = later(f, known.retryAfter)
			}
			return f
		}
	}
	// Contention or throttling that outlived the retries, or no answer in time.
	if errors.Is(err, retry.ErrBusy) || errors.Is(err, retry.ErrUnanswered) || errors.Is(err, todo.ErrStale) || errors.Is(err, context.DeadlineExceeded) {
		return later(answer(http.StatusServiceUnavailable, "too much is going on at once: try again in a second, with the same idempotency key"), time.Second)
	}
	return answer(http.StatusInternalServerError, errUnknown.Error())
}

func problems(wrong *todo.InvalidError) []httpapi.Problem {
	found := make([]httpapi.Problem, len(wrong.Fields))
	for i, field := range wrong.Fields {
		found[i] = httpapi.Problem{Field: field.Field, Message: field.Message}
	}
	return found
}

// broken are the problems that the rules find in an input, as a resolver returns them.
func broken(err error) []error {
	wrong, ok := errors.AsType[*todo.InvalidError](err)
	if !ok {
		if err == nil {
			return nil
		}
		return []error{err}
	}
	var found []error
	for _, p := range problems(wrong) {
		found = append(found, p)
	}
	return found
}
