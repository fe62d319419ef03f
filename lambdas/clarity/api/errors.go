package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/validate"
)

// ErrorResponse is the form of every error.
type ErrorResponse struct {
	Error   string             `json:"error" doc:"What went wrong, and what to do." example:"there is no such attempt"`
	Details []validate.Problem `json:"details,omitempty" nullable:"false" doc:"Of an invalid request: everything that is wrong."`
}

// failures returns the answers to errors.
func failures() httpapi.Errors {
	return httpapi.Errors{
		Known: []httpapi.KnownError{
			{Match: httpapi.Refused(0), Status: http.StatusBadRequest},
			{Match: httpapi.As[*clarity.VersionError], Status: http.StatusPreconditionFailed},
			{Match: httpapi.Is(clarity.ErrAttemptNotFound, clarity.ErrScenarioNotFound, clarity.ErrNoProfile), Status: http.StatusNotFound},
			{Match: httpapi.Is(clarity.ErrForbidden), Status: http.StatusForbidden},
			{Match: httpapi.Is(clarity.ErrNotInProgress, clarity.ErrNotCompleted, clarity.ErrScenarioInactive), Status: http.StatusConflict},
			{Match: httpapi.As[*clarity.RunningError], Status: http.StatusConflict},
			{Match: httpapi.As[*clarity.LimitError], Status: http.StatusTooManyRequests},
			{
				// Contention or throttling that outlived the retries, or no answer in time.
				Match: httpapi.Is(retry.ErrBusy, retry.ErrUnanswered, clarity.ErrStale, context.DeadlineExceeded), Status: http.StatusServiceUnavailable,
				Message: "too much is going on at once: try again in a second, with the same idempotency key if there was one", RetryAfter: time.Second,
			},
		},
		Body: func(_ context.Context, f httpapi.Failure) any {
			body := ErrorResponse{Error: f.Message}
			if wrong, ok := f.Err.(*validate.Error); ok {
				body.Details = wrong.Problems
			}
			return body
		},
		Always: []error{
			httpapi.Unreadable("query", validate.Constraint{}, `cannot be read: invalid URL escape "%zz"; percent-encode values`),
		},
		OfCallers: []error{retry.ErrBusy},
		OfBodies: []error{
			validate.Errorf("scenarioId", validate.RuleRequired, "is missing, but required"),
			validate.Refused(http.StatusRequestEntityTooLarge, "body", validate.Constraint{}, fmt.Sprintf("the body has more than %d bytes, which is the most allowed", maxBody)),
			&validate.Error{Status: http.StatusUnsupportedMediaType, Problems: []validate.Problem{{Field: "Content-Type", Message: "is not application/json"}}},
		},
	}
}
