package todo

import (
	"context"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// ErrorResponse is the form of every error but 422.
type ErrorResponse struct {
	Detail string `json:"detail" doc:"What went wrong, and what to do." example:"there is no such task"`
}

// InvalidResponse is the form of 422: values that are not allowed.
type InvalidResponse struct {
	Detail []validate.Problem `json:"detail" nullable:"false" minItems:"1" doc:"Everything that is wrong."`
}

// overHTTP says how the platform speaks HTTP.
func overHTTP() schema.API {
	return schema.API{
		Description: "Users keep tasks of their own. Unknown fields, fields that stand twice, and unknown, empty or " +
			"repeated query parameters are refused. A body without a Content-Type is taken for JSON. Moments are " +
			"whole seconds in UTC.",
		Strict: true,
		Credentials: map[schema.Caller]schema.Credential{
			schema.CallerUser: schema.BearerToken("userToken",
				"A token of this platform's issuer. The user is its subject."),
		},
		Errors: problem.Answers{
			Known: []problem.Answer{
				{
					Match: problem.Is(problem.ErrBusy, problem.ErrUnanswered, problem.ErrStale,
						context.DeadlineExceeded),
					Status:     http.StatusServiceUnavailable,
					Message:    "too much is going on at once: try again in a second, with the same idempotency key",
					RetryAfter: time.Second,
				},
			},
			Unknown: problem.Answer{Message: "something went wrong on this side: try again with the same idempotency " +
				"key; if it lasts, tell the operator when it happened"},
			Body: func(f problem.Failure) any {
				if problems := f.Problems(); problems != nil && f.Status == http.StatusUnprocessableEntity {
					return InvalidResponse{problems}
				}
				return ErrorResponse{Detail: f.Message}
			},
			Always: []error{validate.Errorf("title", validate.RuleRequired, "is missing, but required")},
		},
		Key: "A key of the caller's choice, in printable ASCII. The same request with the same key is " +
			"carried out once and answered alike for 24 hours; with another request the key is refused. " +
			"Two requests are the same if method, path, If-Match and body are, byte for byte. " +
			"The answer may be a refusal: of a task that is missing, completed or has another version, of a user " +
			"who exists, or of an address that is taken. " +
			"A request that fails validation does not use its key up, nor does one that fails for want of a " +
			"user, or for a reason that passes (409 with Retry-After, 429, 5xx).",
		Passing: []error{ErrUserNotFound, ErrUserBeingDeleted},
	}
}
