package askahuman

import (
	"errors"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// PushMessage is a notification for one device.
type PushMessage struct {
	Token, Title, Body string
	// Link is the place to answer the question: a URL, or a path of the page that
	// subscribed.
	Link string
	// QuestionID and Type are of the question, for pages that show it themselves.
	QuestionID string
	Type       askahuman.QuestionType
}

// ErrDeadToken says that a device's token is no longer registered.
var ErrDeadToken = errors.New("the push token is no longer registered")

// PushUnavailableError says that a push service limits the rate or is down: try
// again later.
type PushUnavailableError struct {
	// RetryAfter is how long the service asked to wait; zero: it did not say.
	RetryAfter time.Duration
	// Err is what it answered.
	Err error
}

// Error says so.
func (e *PushUnavailableError) Error() string { return "push service unavailable: " + e.Err.Error() }

// Unwrap returns what the service answered.
func (e *PushUnavailableError) Unwrap() error { return e.Err }
