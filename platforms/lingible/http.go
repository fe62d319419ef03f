package lingible

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/model"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
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

// overHTTP says how the platform speaks HTTP.
func overHTTP() schema.API {
	user := schema.BearerToken("userToken", "A token of this platform's issuer. The user is its subject.")
	admin := schema.BearerToken("adminToken", "A token of this platform's issuer, of a user in the group admin.")
	user.Errors = []error{ErrUserDeleted}
	admin.Errors = user.Errors
	return schema.API{
		Description: "People translate slang into standard English and back, submit terms to a lexicon and vote on " +
			"them, see what is trending, and take a quiz. Fields and query parameters that this description does not " +
			"name are ignored, null is the same as an optional field left out, and a body without a Content-Type is " +
			"taken for JSON.",
		// A submission of the longest texts fits in, also with each character escaped.
		MaxBodyBytes: 32 << 10,
		Credentials:  map[schema.Caller]schema.Credential{schema.CallerUser: user, CallerAdmin: admin},
		Errors:       answers(),
		Key: "A key of the caller's choice, in printable ASCII; without one the request is carried out " +
			"each time. The same request with the same key is carried out once and answered alike for 24 hours, " +
			"also if it was refused; with another request the key is refused. " +
			"Two requests are the same if method, path and body are, byte for byte. " +
			"A body of the wrong form does not use its key up, nor does a request that is refused for the " +
			"caller's tier, or fails for a reason that passes (409 with Retry-After, 429, 5xx).",
		Passing: []error{&UsageError{}, &SubscriptionError{}, ErrUserDeleted},
	}
}

// answers are those to the errors that every server has; those of this package say their own. The contract names
// AUTH_001, VAL_001, SYS_001 and RATE_001; the other codes are for cases on which it is silent.
func answers() problem.Answers {
	return problem.Answers{
		Known: []problem.Answer{
			problem.Coded("AUTH_001", http.StatusUnauthorized, problem.Refused(http.StatusUnauthorized)),
			problem.Coded("AUTH_002", http.StatusForbidden, problem.Is(problem.ErrForbidden)),
			problem.Coded("RES_001", http.StatusNotFound, problem.Refused(http.StatusNotFound)),
			problem.Coded("RES_003", http.StatusMethodNotAllowed, problem.Refused(http.StatusMethodNotAllowed)),
			problem.Coded("RES_004", http.StatusConflict, problem.As[*problem.RunningError]),
			{Code: "RES_004", Status: http.StatusConflict, Match: problem.Is(problem.ErrClaimLost),
				RetryAfter: time.Second},
			problem.Coded("VAL_001", http.StatusUnprocessableEntity, problem.Refused(0)),
			problem.Coded("VAL_001", http.StatusUnprocessableEntity, problem.Is(problem.ErrOtherRequest)),
			problem.Coded("VAL_002", http.StatusBadRequest, problem.Refused(http.StatusBadRequest)),
			problem.Coded("VAL_003", http.StatusRequestEntityTooLarge,
				problem.Refused(http.StatusRequestEntityTooLarge)),
			problem.Coded("VAL_004", http.StatusUnsupportedMediaType, problem.Refused(http.StatusUnsupportedMediaType)),
			problem.Coded("RATE_001", http.StatusTooManyRequests, problem.As[*problem.LimitedError]),
			{
				Code: "SYS_003", Status: http.StatusServiceUnavailable, Match: problem.As[*model.Error],
				Message:    "the language model gave no answer, and nothing was charged: try again in a few seconds",
				RetryAfter: 5 * time.Second,
			},
			{
				Code: "SYS_002", Status: http.StatusServiceUnavailable,
				Match:   problem.Is(problem.ErrBusy, problem.ErrUnanswered, problem.ErrStale, context.DeadlineExceeded),
				Message: problem.TryAgain, RetryAfter: time.Second,
			},
		},
		Unknown: problem.Answer{Code: "SYS_001"},
		Body: func(f problem.Failure) any {
			return ErrorResponse{
				Message: f.Message, ErrorCode: f.Code, Status: f.Status,
				Details: append([]validate.Problem{}, f.Problems()...), Timestamp: f.At,
				RequestID: cmp.Or(f.RequestID, "none"),
			}
		},
		OfBodies: []error{validate.Errorf("text", validate.RuleRequired, "is missing, but required")},
	}
}
