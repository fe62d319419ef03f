package problem

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// Answers configure how a platform answers errors. One table gives both the answers to requests and the responses of
// the OpenAPI document, with their examples. The zero value answers in the form of Amazon API Gateway, [GatewayError].
type Answers struct {
	// Known are errors that this API answers in its own way, by the first that matches. If none matches, the error
	// itself says how:
	//
	//   - a [Problem], as [New] declares one, with its status and code,
	//   - [*validate.Error] with its own status,
	//   - [*RunningError] and [ErrClaimLost] with 409,
	//   - [ErrForbidden] with 403,
	//   - [ErrBusy], [ErrUnanswered], [ErrStale] and [context.DeadlineExceeded] with 503,
	//   - [*LimitedError] with 429.
	Known []Answer
	// Unknown answers every other error, without revealing it. By default, its status is 500 and its text says so.
	Unknown Answer
	// Body returns the form of an error: the value to write as JSON. Nil: [GatewayError].
	Body func(Failure) any
	// Always, OfBodies and OfCallers are examples of errors in the document: of every operation, of operations with a
	// body, and of operations that are not for everyone. Nil: [ErrBusy]. The document adds the errors of every server:
	// an unreadable query and an unknown error to all operations, a body that is too large or of another type to those
	// with a body, and [ErrNoToken] where a token is required.
	Always, OfBodies, OfCallers []error
}

// Answer is an error, or a kind of errors, that the API reveals to callers.
type Answer struct {
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

// Coded returns the answer to what match matches, with a code and a status, and the text of the error.
func Coded(code string, status int, match func(error) error) Answer {
	return Answer{Match: match, Status: status, Code: code}
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

// shared are the errors that every server has.
func shared() []Answer {
	return []Answer{
		{Match: As[*RunningError], Status: 409},
		// Of an operation that finds its key itself; for others it names the header.
		{Match: Is(ErrOtherRequest), Status: 422},
		{Match: Is(ErrClaimLost), Status: 409, RetryAfter: time.Second},
		{Match: As[*LimitedError], Status: 429},
		{Match: Is(ErrForbidden), Status: 403},
		{
			// Contention or throttling that outlived the retries, or no answer in time.
			Match:  Is(ErrBusy, ErrUnanswered, ErrStale, context.DeadlineExceeded),
			Status: 503, RetryAfter: time.Second,
			Message: TryAgain,
		},
	}
}

// TryAgain is the message to callers who may succeed in a second.
const TryAgain = "too much is going on at once: try again in a second, with the same idempotency key if there was one"

// Failure is the answer to a request that failed.
type Failure struct {
	Answer
	// Err is the error that matched.
	Err error
	// At is when the request failed, and RequestID its ID in the logs; both are of the example's making in the
	// document.
	At        time.Time
	RequestID string
}

// Problems returns what is wrong with an invalid request, as the answer has it, or nil if the request failed otherwise.
func (f Failure) Problems() []validate.Problem {
	if wrong, ok := f.Err.(*validate.Error); ok {
		return wrong.Wire()
	}
	return nil
}

// Find returns the answer to an error, but for its body, at a moment.
func (a Answers) Find(err error, at time.Time) Failure {
	failure := a.find(err)
	failure.At, failure.Message = at, cmp.Or(failure.Message, failure.Err.Error())
	if retry, ok := failure.Err.(interface{ RetryAt() time.Time }); ok && failure.RetryAfter == 0 {
		failure.RetryAfter = max(1, retry.RetryAt().Sub(at))
	}
	return failure
}

// Form returns the body of an answer.
func (a Answers) Form(f Failure) any {
	if a.Body == nil {
		return GatewayError{Message: f.Message}
	}
	return a.Body(f)
}

// find is the entry of the table that err matches.
func (a Answers) find(err error) Failure {
	for _, entry := range a.Known {
		if found := entry.Match(err); found != nil {
			return Failure{Answer: entry, Err: found}
		}
	}
	if told, ok := errors.AsType[Problem](err); ok {
		p := told.Problem()
		return Failure{Answer: Answer{Status: p.Status, Code: p.Code, RetryAfter: p.RetryAfter}, Err: told}
	}
	if wrong, ok := errors.AsType[*validate.Error](err); ok {
		return Failure{Answer: Answer{Status: cmp.Or(wrong.Status, 422)}, Err: wrong}
	}
	for _, entry := range shared() {
		if found := entry.Match(err); found != nil {
			return Failure{Answer: entry, Err: found}
		}
	}
	unknown := a.Unknown
	unknown.Status = cmp.Or(unknown.Status, 500)
	unknown.Message = cmp.Or(unknown.Message,
		"something went wrong on this side: try again; if it lasts, tell the operator when it happened")
	return Failure{Answer: unknown, Err: err}
}

// IsFinal reports whether a request that failed with err would fail again, so that an idempotency key keeps the answer.
// passing are errors of the platform that a later attempt may not meet.
func (a Answers) IsFinal(err error, passing []error) bool {
	if _, limited := errors.AsType[*LimitedError](err); limited || errors.Is(err, ErrClaimLost) {
		return false
	}
	passes := slices.ContainsFunc(passing, func(each error) bool { return errors.Is(err, each) })
	return !passes && a.find(err).Status < 500
}
