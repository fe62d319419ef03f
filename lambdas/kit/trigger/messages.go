package trigger

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// ErrHopeless says that no attempt at a message can succeed, as when it cannot be read.
var ErrHopeless = errors.New("no further attempt can succeed")

// LaterError is a failure after which the next attempt must not come too soon.
type LaterError struct {
	// After is the shortest time to the next attempt. A longer time of the plan stays.
	After time.Duration
	// Err is the failure.
	Err error
}

func (e *LaterError) Error() string { return e.Err.Error() }
func (e *LaterError) Unwrap() error { return e.Err }

// Attempt describes a failed attempt at a message.
type Attempt struct {
	// Number counts attempts from 1 on.
	Number int
	// Wait is the time to the next attempt. It is 0 after the last one: the message goes to the queue of failures.
	Wait time.Duration
	// Last says that there is no further attempt.
	Last bool
}

const (
	// spread is by how much a wait is longer or shorter at random, as a share of it: messages that failed together do
	// not come again together.
	spread = 0.05
	// longestWait is within what SQS allows, with the spread.
	longestWait = 11 * time.Hour
)

// Messages handles the messages of a batch. Plan and Defer are required.
type Messages struct {
	// Plan are the delays between attempts, as Retries of schema.OnQueue.
	Plan []time.Duration
	// Defer makes a received message come again after that time, as Queue.Defer of package queue does.
	Defer func(ctx context.Context, receipt string, wait time.Duration) error
	// GiveUp puts a message whose error matches [ErrHopeless] into the queue of failures at once, as Queue.GiveUp of
	// package queue does. Nil: such a message comes again by the plan.
	GiveUp func(ctx context.Context, message events.SQSMessage, cause error) error
	// Failed is called for each failed message, possibly by several goroutines at once. Nil: nothing is called.
	Failed func(ctx context.Context, message events.SQSMessage, attempt Attempt, err error)
	// Undeferred is called for each failure of Defer: the message comes again when the queue's visibility time-out
	// ends. Nil: nothing is called.
	Undeferred func(ctx context.Context, message events.SQSMessage, err error)
	// Random returns a number from 0 up to 1. Nil: [rand.Float64].
	Random func() float64
}

// Each handles all messages of a batch at once, so that a slow one delays no other. It answers with those for which
// handle returned an error, so that they come again ("Implementing partial batch responses", AWS Lambda) by the plan.
func (b Messages) Each(ctx context.Context, event events.SQSEvent,
	handle func(context.Context, events.SQSMessage) error) (response events.SQSEventResponse, _ error) {
	failed := make([]error, len(event.Records))
	var all sync.WaitGroup
	for i, message := range event.Records {
		all.Go(func() {
			if failed[i] = handle(ctx, message); failed[i] == nil {
				return
			}
			attempt := b.attempt(message, failed[i])
			givenUp := b.GiveUp != nil && errors.Is(failed[i], ErrHopeless) && b.GiveUp(ctx, message, failed[i]) == nil
			if givenUp {
				attempt.Wait, attempt.Last = 0, true
			}
			if b.Failed != nil {
				b.Failed(ctx, message, attempt, failed[i])
			}
			if givenUp {
				failed[i] = nil
				return
			}
			if err := b.Defer(ctx, message.ReceiptHandle, attempt.Wait); err != nil && b.Undeferred != nil {
				b.Undeferred(ctx, message, err)
			}
		})
	}
	all.Wait()
	for i, message := range event.Records {
		if failed[i] != nil {
			response.BatchItemFailures = append(response.BatchItemFailures,
				events.SQSBatchItemFailure{ItemIdentifier: message.MessageId})
		}
	}
	return response, nil
}

// AttemptNumber returns which attempt at a message this is, from 1 on.
func AttemptNumber(message events.SQSMessage) int {
	number, err := strconv.Atoi(message.Attributes["ApproximateReceiveCount"])
	if err != nil {
		return 1
	}
	return max(1, number)
}

// attempt says which attempt failed, and when the next one follows.
func (b Messages) attempt(message events.SQSMessage, err error) Attempt {
	number := AttemptNumber(message)
	if number > len(b.Plan) {
		return Attempt{Number: number, Last: true}
	}
	random := rand.Float64
	if b.Random != nil {
		random = b.Random
	}
	planned := b.Plan[number-1]
	wait := time.Duration(float64(planned) * (1 + spread*(2*random()-1)))
	if later, ok := errors.AsType[*LaterError](err); ok {
		wait = max(wait, later.After)
	}
	return Attempt{Number: number, Wait: min(wait, longestWait).Round(time.Second)}
}
