package httpapi

import (
	"context"
	"net/http"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// Failure is the answer to a request that failed.
type Failure struct {
	problem.Failure
	// Header are headers beside Content-Type.
	Header http.Header
	// Body is written as JSON.
	Body any
}

// Failure returns the answer to an error, by [schema.API.Errors].
func (s *Server) Failure(ctx context.Context, err error) Failure {
	answers, now := s.api.Errors, s.config.Clock.Now()
	failure := Failure{Failure: answers.Find(err, now), Header: http.Header{}}
	if limited, ok := failure.Err.(*problem.LimitedError); ok {
		failure.Header = limited.Header(now)
	}
	if failure.RetryAfter > 0 {
		failure.Header.Set("Retry-After", RetryAfter(failure.RetryAfter))
	}
	if failure.Status == http.StatusUnauthorized {
		failure.Header.Set("WWW-Authenticate", "Bearer") // RFC 9110, section 15.5.2
	}
	failure.RequestID = kit.InvocationFrom(ctx).RequestID
	failure.Body = answers.Form(failure.Failure)
	return failure
}
