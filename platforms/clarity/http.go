package clarity

import (
	"net/http"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// ErrorResponse is the form of every error.
type ErrorResponse struct {
	Error   string             `json:"error" doc:"What went wrong, and what to do." example:"there is no such attempt"`
	Details []validate.Problem `json:"details,omitempty" nullable:"false" doc:"Of an invalid request: everything that is wrong."`
}

// overHTTP says how the platform speaks HTTP.
func overHTTP() schema.API {
	return schema.API{
		Description: "People work through a scenario's questions, a rubric of eight dimensions evaluates their " +
			"answers, and a profile shows how they develop. Fields and query parameters that this description does " +
			"not name are ignored, null is the same as an optional field left out, and a body without a Content-Type " +
			"is taken for JSON.",
		// Ten answers of the longest length fit in, also with each character escaped.
		MaxBodyBytes: 640 << 10,
		Credentials: map[schema.Caller]schema.Credential{
			schema.CallerUser: schema.BearerToken("userToken",
				"A token of this platform's issuer. The user is its subject."),
		},
		Errors: problem.Answers{
			Known:    []problem.Answer{{Match: problem.Refused(0), Status: http.StatusBadRequest}},
			Body:     func(f problem.Failure) any { return ErrorResponse{f.Message, f.Problems()} },
			OfBodies: []error{validate.Errorf("scenarioId", validate.RuleRequired, "is missing, but required")},
		},
		Key: "A key of the caller's choice, in printable ASCII; without one the request is carried out " +
			"each time. The same request with the same key is carried out once and answered alike for 24 hours, " +
			"also if it was refused; with another request the key is refused. " +
			"Two requests are the same if method, path, If-Match and body are, byte for byte. " +
			"A body of the wrong form does not use its key up, nor does a request that fails for a reason that " +
			"passes (409 with Retry-After, 5xx).",
		Passing: []error{&RunningError{}, &LimitError{}, ErrBeingDeleted},
	}
}
