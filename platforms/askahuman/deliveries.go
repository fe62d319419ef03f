package askahuman

import "github.com/onesynth-cdk/onesynth/schema/wire"

// DeliveryState is the state of the webhook of a question.
type DeliveryState string

// The states.
const (
	// DeliveryWaiting: the question has not ended, or another attempt follows.
	DeliveryWaiting DeliveryState = "waiting"
	// DeliveryDone: the endpoint has taken it.
	DeliveryDone DeliveryState = "delivered"
	// DeliveryGivenUp: the last attempt has failed, the endpoint wants no more webhooks, or the agent is blocked.
	DeliveryGivenUp DeliveryState = "given_up"
)

// Delivery is the progress of the webhook of a question, on the wire, too. It leaves out the endpoint's answer, which
// concerns only its owner.
type Delivery struct {
	State DeliveryState `json:"state" dynamodbav:"delivery" enum:"waiting,delivered,given_up" doc:"waiting: the question has not ended, or another attempt follows. delivered: the endpoint has taken it. given_up: the last attempt failed, the endpoint answered 410, or an operator has blocked the agent." attribute:"DELIVERY#: how far the webhook of the question is: waiting, delivered or given_up"`
	// Attempts counts the ended attempts at the webhook that was queued last.
	Attempts int `json:"attempts" dynamodbav:"attempts" doc:"How many attempts were made." example:"1" attribute:"DELIVERY#: attempts at the webhook"`
	// AttemptedAt is when the last attempt ended. Zero: none has ended.
	AttemptedAt wire.Time `json:"attempted_at,omitzero" dynamodbav:"attempted_at,omitempty" format:"date-time" doc:"When the last one was made." example:"2026-02-02T09:45:01.000Z" attributetype:"String" attribute:"DELIVERY#: when the last one was made: {time}"`
	// NextAttemptAt is when, at the soonest, the next attempt follows a failed one. Zero: none follows.
	NextAttemptAt wire.Time `json:"next_attempt_at,omitzero" dynamodbav:"next_attempt_at,omitempty" format:"date-time" doc:"When the next one follows." example:"2026-02-02T09:50:01.000Z" attributetype:"String" attribute:"DELIVERY#: when the next one follows; absent if none does: {time}"`
}
