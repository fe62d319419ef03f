// Package problem declares errors that an API returns to its callers, each with its status, its code and its text.
// Package httpapi answers with them, and documents them.
package problem

import "time"

// Error is an error that an API returns to its callers. Declare one with [New], return it as it is or wrapped, and
// match it by [errors.Is].
type Error struct {
	// Status is the HTTP status, 400 or above.
	Status int
	// Code is the platform's name of the error, for programs. Empty: the error has no code. A form of Errors.Body of
	// package httpapi can show it; the default, the form of Amazon API Gateway, does not.
	Code string
	// Message is the text for people: what is wrong, and what to do.
	Message string
	// RetryAfter is when to try again. Zero: the answer does not say.
	RetryAfter time.Duration
}

// New returns an [*Error] with a status, a code for programs ("" for none) and a text for people.
func New(status int, code, message string) error {
	return &Error{Status: status, Code: code, Message: message}
}

// Error returns the text for people.
func (e *Error) Error() string { return e.Message }

// Problem implements [Problem].
func (e *Error) Problem() *Error { return e }

// Problem is an error with values of its own, such as an item's current version. The API answers with the status, code
// and RetryAfter that its method Problem returns, and with the error's own text.
type Problem interface {
	error
	Problem() *Error
}
