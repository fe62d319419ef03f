package problem

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/validate"
)

// The errors that operations of every platform may return.
var (
	// ErrBusy says that AWS refused a request for load or contention until the
	// retries ran out. The last attempt changed nothing.
	ErrBusy = errors.New("too much is going on at once: try again shortly")
	// ErrUnanswered says that a request had no answer in time, or a broken one. AWS may have carried the request out.
	ErrUnanswered = errors.New("there was no answer in time: try again shortly")
	// ErrStale says that the data behind a write has changed since it was read.
	ErrStale = errors.New("it has changed since it was read: try again shortly")
	// ErrForbidden says that the caller is known, but may not do this.
	ErrForbidden = errors.New("you may not do this: it is for callers of another group")
	// ErrNoToken says that a request lacks a verified token on a route that needs one. It is a [*validate.Error] with
	// status 401.
	ErrNoToken error = validate.Refused(401, "token", validate.Constraint{Rule: validate.RuleRequired},
		"there is no verified token with a subject: send Authorization: Bearer with a JWT from the issuer of this "+
			"platform")
	// ErrOtherRequest says that an idempotency key belongs to another request.
	ErrOtherRequest = errors.New("the idempotency key was used for another request: repeat that one unchanged, or " +
		"send a new key")
	// ErrClaimLost says that another attempt has taken the claim of an idempotency key over, or the key is
	// gone. Nothing was written; the next attempt gets the outcome of the request.
	ErrClaimLost = errors.New("another attempt at the same request has taken over: send it again with the same " +
		"idempotency key to learn its answer")
)

// RunningError says that another attempt at the same request is running.
type RunningError struct {
	// Until is when its claim ends, if it does not finish before.
	Until time.Time
}

// Error implements error.
func (e *RunningError) Error() string {
	return "another attempt at the same request is running: send it again shortly with the same idempotency key"
}

// RetryAt returns when the claim ends.
func (e *RunningError) RetryAt() time.Time { return e.Until }

// LimitedError says that a call is beyond a rate limit.
type LimitedError struct{ State }

// State is how much of a rate limit is used.
type State struct {
	// Limit is how many calls the window allows, Remaining how many are left.
	Limit, Remaining int
	// Reset is when the next window begins.
	Reset time.Time
}

// Header returns the headers that report the state at now: RateLimit-Limit, -Remaining and -Reset, in seconds from now,
// and X-RateLimit-Limit, -Remaining and -Reset, in Unix seconds.
func (s State) Header(now time.Time) map[string][]string {
	limit, remaining := strconv.Itoa(s.Limit), strconv.Itoa(s.Remaining)
	return map[string][]string{
		"Ratelimit-Limit":       {limit},
		"Ratelimit-Remaining":   {remaining},
		"Ratelimit-Reset":       {strconv.Itoa(int(math.Ceil(max(0, s.Reset.Sub(now)).Seconds())))},
		"X-Ratelimit-Limit":     {limit},
		"X-Ratelimit-Remaining": {remaining},
		"X-Ratelimit-Reset":     {strconv.FormatInt(s.Reset.Unix(), 10)},
	}
}

// Error says when to try again.
func (e *LimitedError) Error() string {
	return fmt.Sprintf("more than %d calls in this window: try again after %s", e.Limit,
		e.Reset.UTC().Format(time.RFC3339))
}

// RetryAt returns when the next window begins.
func (e *LimitedError) RetryAt() time.Time { return e.Reset }

// DefaultMaxBodyBytes is the largest body of a request, unless the platform says otherwise: 256 KiB.
const DefaultMaxBodyBytes = 256 << 10

// TooLarge returns the error of a body with more than limit bytes.
func TooLarge(limit int64) error {
	most := int(limit)
	return validate.Refused(413, "body", validate.Constraint{Rule: validate.RuleLength, Max: &most},
		fmt.Sprintf("the body has more than %d bytes, which is the most allowed", most))
}

// GatewayError is the form of Amazon API Gateway's own errors. An HTTP API cannot give these another form ("Choose
// between REST APIs and HTTP APIs", API Gateway developer guide: only REST APIs have custom gateway responses).
type GatewayError struct {
	Message string `json:"message" doc:"What went wrong: the name of the status." example:"Unauthorized"`
}
