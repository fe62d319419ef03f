package api

import (
	"context"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// InvalidResponse is the form of 422: values that are not allowed.
type InvalidResponse struct {
	Detail []validate.Problem `json:"detail" nullable:"false" minItems:"1" doc:"Everything that is wrong."`
}

// failures returns the answers to errors.
func failures() httpapi.Errors {
	return httpapi.Errors{
		Known: []httpapi.KnownError{
			{
				Match:      httpapi.Is(retry.ErrBusy, retry.ErrUnanswered, retry.ErrStale, context.DeadlineExceeded),
				Status:     http.StatusServiceUnavailable,
				Message:    "too much is going on at once: try again in a second, with the same idempotency key",
				RetryAfter: time.Second,
			},
		},
		Unknown: httpapi.KnownError{Message: "something went wrong on this side: try again with the same idempotency " +
			"key; if it lasts, tell the operator when it happened"},
		Body: func(_ context.Context, f httpapi.Failure) any {
			if problems := f.Problems(); problems != nil && f.Status == http.StatusUnprocessableEntity {
				return InvalidResponse{problems}
			}
			return todo.ErrorResponse{Detail: f.Message}
		},
		Always: []error{validate.Errorf("title", validate.RuleRequired, "is missing, but required")},
	}
}
