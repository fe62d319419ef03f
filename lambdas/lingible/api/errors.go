package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/model"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema/validate"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// ErrorResponse is the form of every error.
type ErrorResponse struct {
	Success   bool               `json:"success" enum:"false"`
	Message   string             `json:"message" doc:"What went wrong, and what to do." example:"there is no such translation"`
	ErrorCode string             `json:"error_code" doc:"What went wrong, for programs." example:"RES_001"`
	Status    int                `json:"status_code" doc:"The status of the answer." example:"404"`
	Details   []validate.Problem `json:"details" nullable:"false" doc:"Of an invalid request: everything that is wrong; else empty."`
	Timestamp time.Time          `json:"timestamp" doc:"When it went wrong."`
	RequestID string             `json:"request_id" doc:"Names the request in the operator's logs."`
}

// failures returns the answers to the kit's errors; those of package lingible say their own. The contract names
// AUTH_001, VAL_001, SYS_001 and RATE_001; the other codes are for cases on which it is silent.
func failures(clock wire.Clock) httpapi.Errors {
	answer := func(code string, status int, match func(error) error) httpapi.KnownError {
		return httpapi.KnownError{Code: code, Status: status, Match: match}
	}
	return httpapi.Errors{
		Known: []httpapi.KnownError{
			answer("AUTH_001", http.StatusUnauthorized, httpapi.Refused(http.StatusUnauthorized)),
			answer("AUTH_002", http.StatusForbidden, httpapi.Is(httpapi.ErrForbidden)),
			answer("RES_001", http.StatusNotFound, httpapi.Refused(http.StatusNotFound)),
			answer("RES_003", http.StatusMethodNotAllowed, httpapi.Refused(http.StatusMethodNotAllowed)),
			answer("RES_004", http.StatusConflict, httpapi.As[*idempotency.RunningError]),
			{Code: "RES_004", Status: http.StatusConflict, Match: httpapi.Is(idempotency.ErrClaimLost),
				RetryAfter: time.Second},
			answer("VAL_001", http.StatusUnprocessableEntity, httpapi.Refused(0)),
			answer("VAL_001", http.StatusUnprocessableEntity, httpapi.Is(idempotency.ErrOtherRequest)),
			answer("VAL_002", http.StatusBadRequest, httpapi.Refused(http.StatusBadRequest)),
			answer("VAL_003", http.StatusRequestEntityTooLarge, httpapi.Refused(http.StatusRequestEntityTooLarge)),
			answer("VAL_004", http.StatusUnsupportedMediaType, httpapi.Refused(http.StatusUnsupportedMediaType)),
			answer("RATE_001", http.StatusTooManyRequests, httpapi.As[*ratelimit.LimitedError]),
			{
				Code: "SYS_003", Status: http.StatusServiceUnavailable, Match: httpapi.As[*model.Error],
				Message:    "the language model gave no answer, and nothing was charged: try again in a few seconds",
				RetryAfter: 5 * time.Second,
			},
			{
				Code: "SYS_002", Status: http.StatusServiceUnavailable,
				Match:   httpapi.Is(retry.ErrBusy, retry.ErrUnanswered, retry.ErrStale, context.DeadlineExceeded),
				Message: httpapi.TryAgain, RetryAfter: time.Second,
			},
		},
		Unknown: httpapi.KnownError{Code: "SYS_001"},
		Body: func(ctx context.Context, f httpapi.Failure) any {
			return ErrorResponse{
				Message: f.Message, ErrorCode: f.Code, Status: f.Status,
				Details: append([]validate.Problem{}, f.Problems()...), Timestamp: clock.Now(),
				RequestID: cmp.Or(kit.InvocationFrom(ctx).RequestID, "none"),
			}
		},
		OfBodies: []error{validate.Errorf("text", validate.RuleRequired, "is missing, but required")},
	}
}
