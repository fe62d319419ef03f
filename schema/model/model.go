// Package model says why a language model came to no result. It imports no client of a model, so that rules can name
// the failures.
package model

import "fmt"

// Failure is why there is no result.
type Failure string

// The failures. A later try may succeed after each.
const (
	// TimedOut: no reply came in time.
	TimedOut Failure = "timed-out"
	// Throttled: the model takes no more requests at the moment, or is not ready.
	Throttled Failure = "throttled"
	// Unusable: the reply is incomplete, or has another form than the request asked for.
	Unusable Failure = "unusable"
	// Declined: a guardrail, a filter or the model itself refused to reply.
	Declined Failure = "declined"
	// Unavailable: any other error of the model's service.
	Unavailable Failure = "unavailable"
)

// Error says that a model, or what stands in for one, came to no result.
type Error struct {
	Failure Failure
	// Err is the cause. Its text is for operators, and quotes neither prompt nor reply.
	Err error
}

// Error says what failed.
func (e *Error) Error() string { return fmt.Sprintf("language model %s: %v", e.Failure, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an [*Error] with a cause of that text; %w wraps.
func Errorf(failure Failure, format string, args ...any) *Error {
	return &Error{Failure: failure, Err: fmt.Errorf(format, args...)}
}
