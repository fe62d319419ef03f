package askahuman

import (
	"time"
)

// DeliveryState says whether an endpoint has the webhook of a question.
type DeliveryState string

// The states.
const (
	// DeliveryWaiting: the question has not ended, or another attempt follows.
	DeliveryWaiting DeliveryState = "waiting"
	// DeliveryDone: the endpoint has taken it.
	DeliveryDone DeliveryState = "delivered"
	// DeliveryGivenUp: the last attempt has failed, or the endpoint wants no more of it.
	DeliveryGivenUp DeliveryState = "given_up"
)

// Delivery says how far the webhook of a question is. It says nothing of what the endpoint answered, which
// is the business of whoever runs it.
type Delivery struct {
	State DeliveryState `dynamodbav:"delivery"`
	// Attempts counts those that have ended, of the webhook that was queued last.
	Attempts int `dynamodbav:"attempts"`
	// AttemptedAt is when the last one ended; zero: none has.
	AttemptedAt time.Time `dynamodbav:"attempted_at,omitempty"`
	// NextAttemptAt is when the next one follows a failed one, at the soonest; zero: none does.
	NextAttemptAt time.Time `dynamodbav:"next_attempt_at,omitempty"`
}
