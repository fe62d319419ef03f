package httpapi

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema/problem"
	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Errors configure how a platform answers errors. One table gives both the answers to requests and the responses of the
// OpenAPI document, with their examples. The zero value answers in the form of Amazon API Gateway, [GatewayError].
type Errors struct {
	// Known are errors that this API answers in its own way, by the first that matches. If none matches, the error
	// itself says how:
	//
	//   - a [problem.Problem], as [problem.New] declares one, with its status and code,
	//   - [*validate.Error] with its own status,
	//   - [*idempotency.RunningError] and [idempotency.ErrClaimLost] with 409,
	//   - [ErrForbidden] with 403,
	//   - [retry.ErrBusy], [retry.ErrUnanswered], [retry.ErrStale] and [context.DeadlineExceeded]
	//     with 503,
	//   - [ratelimit.LimitedError] with 429.
	Known []KnownError
	// Unknown answers every other error, without revealing it. By default, its status is 500 and its text says so.
	Unknown KnownError
	// Body returns the form of an error: the value to write as JSON. Nil: [GatewayError].
	Body func(context.Context, Failure) any
	// Always, OfBodies and OfCallers are examples of errors in the document: of every operation, of operations with a
	// body, and of operations that are not for [schema.CallerAnyone]. Nil: [retry.ErrBusy]. The document adds the kit's
	// own errors: an unreadable query and an unknown error to all operations, a body that is too large or of another
	// type to those with a body, and kit.ErrNoToken where a token is required.
	Always, OfBodies, OfCallers []error
}

// KnownError is an error, or a kind of errors, that the API reveals to callers.
type KnownError struct {
	// Match returns the error to answer: err or one that it wraps, or nil if none matches. [Is], [As] and [Refused]
	// return such functions.
	Match func(err error) error
	// Status is 400 or above.
	Status int
	// Code is the platform's name of the error, for programs. Empty: the error has no code.
	Code string
	// Message is the text for callers. Empty: the text of the error.
	Message string
	// RetryAfter is when to try again. Zero: the [time.Time] that the error's method RetryAt
	// returns, if it has one.
	RetryAfter time.Duration
	// Description is the error's description in the document. Empty: the code, or the name of the status.
	Description string
}

// Is matches errors by [errors.Is].
func Is(targets ...error) func(error) error {
	return func(err error) error {
		for _, target := range targets {
			if errors.Is(err, target) {
				return target
			}
		}
		return nil
	}
}

// As matches errors of a type by [errors.As].
func As[T error](err error) error {
	if found, ok := errors.AsType[T](err); ok {
		return found
	}
	return nil
}

// Refused matches a [*validate.Error] with that status.
func Refused(status int) func(error) error {
	return func(err error) error {
		if found, ok := errors.AsType[*validate.Error](err); ok && found.Status == status {
			return found
		}
		return nil
	}
}

// ErrForbidden says that the caller is known, but may not do this.
var ErrForbidden = errors.New("you may not do this: it is for callers of another group")

// errUnknown stands for an error that must not be revealed.
var errUnknown = errors.New("an unknown error")

// known are the errors of the kit.
func known() []KnownError {
	return []KnownError{
		{Match: As[*idempotency.RunningError], Status: http.StatusConflict},
		// Of an operation with a key of its own ([schema.KeyOwn]); for others it names the header.
		{Match: Is(idempotency.ErrOtherRequest), Status: http.StatusUnprocessableEntity},
		{Match: Is(idempotency.ErrClaimLost), Status: http.StatusConflict, RetryAfter: time.Second},
		{Match: As[*ratelimit.LimitedError], Status: http.StatusTooManyRequests},
		{Match: Is(ErrForbidden), Status: http.StatusForbidden},
		{
			// Contention or throttling that outlived the retries, or no answer in time.
			Match:  Is(retry.ErrBusy, retry.ErrUnanswered, retry.ErrStale, context.DeadlineExceeded),
			Status: http.StatusServiceUnavailable, RetryAfter: time.Second,
			Message: TryAgain,
		},
	}
}

// TryAgain is the message of the kit to callers who may succeed in a second.
const TryAgain = "too much is going on at once: try again in a second, with the same idempotency key if there was one"

// Failure is the answer to a request that failed.
type Failure struct {
	KnownError
	// Err is the error that matched.
	Err error
	// Header are headers beside Content-Type.
	Header http.Header
	// Body is written as JSON.
	Body any
}

// Problems returns what is wrong with an invalid request, as the answer has it, or nil if the request failed otherwise.
func (f Failure) Problems() []validate.Problem {
	if wrong, ok := f.Err.(*validate.Error); ok {
		return wrong.Wire()
	}
	return nil
}

// Failure returns the answer to an error.
func (s *Server) Failure(ctx context.Context, err error) Failure {
	failure := s.known(err)
	if failure.Message == "" {
		failure.Message = failure.Err.Error()
	}
	failure.Header = http.Header{}
	if limited, ok := failure.Err.(*ratelimit.LimitedError); ok {
		failure.Header = limited.Header(s.config.Clock.Now())
	}
	if at, ok := failure.Err.(interface{ RetryAt() time.Time }); ok && failure.RetryAfter == 0 {
		failure.RetryAfter = max(1, at.RetryAt().Sub(s.config.Clock.Now()))
	}
	if failure.RetryAfter > 0 {
		failure.Header.Set("Retry-After", RetryAfter(failure.RetryAfter))
	}
	if failure.Status == http.StatusUnauthorized {
		failure.Header.Set("WWW-Authenticate", "Bearer") // RFC 9110, section 15.5.2
	}
	failure.Body = GatewayError{Message: failure.Message}
	if s.config.Errors.Body != nil {
		failure.Body = s.config.Errors.Body(ctx, failure)
	}
	return failure
}

// known is the entry of the table that err matches.
func (s *Server) known(err error) Failure {
	for _, entry := range s.config.Errors.Known {
		if found := entry.Match(err); found != nil {
			return Failure{KnownError: entry, Err: found}
		}
	}
	if told, ok := errors.AsType[problem.Problem](err); ok {
		p := told.Problem()
		return Failure{KnownError: KnownError{Status: p.Status, Code: p.Code, RetryAfter: p.RetryAfter}, Err: told}
	}
	if wrong, ok := errors.AsType[*validate.Error](err); ok {
		return Failure{KnownError: KnownError{Status: cmp.Or(wrong.Status, http.StatusUnprocessableEntity)}, Err: wrong}
	}
	for _, entry := range known() {
		if found := entry.Match(err); found != nil {
			return Failure{KnownError: entry, Err: found}
		}
	}
	unknown := s.config.Errors.Unknown
	unknown.Status = cmp.Or(unknown.Status, http.StatusInternalServerError)
	unknown.Message = cmp.Or(unknown.Message,
		"something went wrong on this side: try again; if it lasts, tell the operator when it happened")
	return Failure{KnownError: unknown, Err: err}
}

// describeErrors adds to an operation a response for each status of the errors, with an example of
// each. headers are the headers of every answer. A response of one error has that error's code or
// description; several errors are numbered.
func (s *operations) describeErrors(described *huma.Operation, errs []error, headers map[string]*huma.Header) {
	failures := map[int][]Failure{}
	for _, err := range errs {
		failure := s.Failure(context.Background(), err)
		failures[failure.Status] = append(failures[failure.Status], failure)
	}
	for status, failures := range failures {
		response := &huma.Response{Headers: maps.Clone(headers), Content: JSON(s.form(failures[0].Body), nil)}
		content := response.Content["application/json"]
		var names []string
		for i, failure := range failures {
			if name := cmp.Or(failure.Description, failure.Code, http.StatusText(status)); !slices.Contains(names,
				name) {
				names = append(names, name)
			}
			if failure.Header.Get("Retry-After") != "" {
				if response.Headers == nil {
					response.Headers = map[string]*huma.Header{}
				}
				response.Headers["Retry-After"] = ResponseHeader(huma.TypeInteger, "When to try again, in seconds.")
			}
			if len(failures) == 1 && cmp.Or(failure.Description, failure.Code) != "" {
				content.Example = failure.Body
				break
			}
			if content.Examples == nil {
				content.Examples = map[string]*huma.Example{}
			}
			content.Examples[strconv.Itoa(i+1)] = &huma.Example{Value: failure.Body}
		}
		response.Description = strings.Join(names, ", ")
		described.Responses[strconv.Itoa(status)] = response
	}
}
