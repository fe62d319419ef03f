package api

import (
	"context"
	"net/http"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// ErrorResponse is the form of every error.
type ErrorResponse struct {
	Error   string             `json:"error" doc:"What went wrong, and what to do." example:"there is no such attempt"`
	Details []validate.Problem `json:"details,omitempty" nullable:"false" doc:"Of an invalid request: everything that is wrong."`
}

// failures returns the answers to errors.
func failures() httpapi.Errors {
	return httpapi.Errors{
		Known: []httpapi.KnownError{{Match: httpapi.Refused(0), Status: http.StatusBadRequest}},
		Body: func(_ context.Context, f httpapi.Failure) any {
			return ErrorResponse{f.Message, f.Problems()}
		},
		OfBodies: []error{validate.Errorf("scenarioId", validate.RuleRequired, "is missing, but required")},
	}
}
