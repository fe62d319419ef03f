package trigger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Queue is a queue, by its address. It is safe for concurrent use.
type Queue struct {
	client *sqs.Client
	url    string
}

// NewQueue returns the queue of that URL.
func NewQueue(config aws.Config, url string) *Queue {
	return &Queue{client: sqs.NewFromConfig(config), url: url}
}

// FailureQueue returns the queue of failures that the function's mapping to a stream or a queue names.
func FailureQueue(environment kit.Environment) (*Queue, error) {
	url, err := environment.Require(schema.FailureQueueVariable)
	if err != nil {
		return nil, err
	}
	return NewQueue(environment.AWS, url[0]), nil
}

// Send sends a message. In JSON, it escapes the characters that SQS refuses, which changes no value. The error is
// [ErrRefusedText] for another text with such a character, and ErrBusy or ErrUnanswered of package retry if another
// attempt may succeed.
func (q *Queue) Send(ctx context.Context, body string) error {
	body, err := sendable(body)
	if err != nil {
		return err
	}
	if _, err := q.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q.url, MessageBody: &body}); err != nil {
		return fmt.Errorf("SQS SendMessage: %w", kit.Failure(err))
	}
	return nil
}

// Defer makes a received message come again after that time, in whole seconds up to 12 hours.
func (q *Queue) Defer(ctx context.Context, receipt string, wait time.Duration) error {
	_, err := q.client.ChangeMessageVisibility(ctx,
		&sqs.ChangeMessageVisibilityInput{QueueUrl: &q.url, ReceiptHandle: &receipt,
			VisibilityTimeout: int32(wait / time.Second)})
	if err != nil {
		return fmt.Errorf("SQS ChangeMessageVisibility: %w", kit.Failure(err))
	}
	return nil
}

// GiveUp puts a message into this queue, a queue of failures, with the cause as its attribute Cause. The attribute has
// an escape, such as \u0000, for each character that SQS refuses. Its errors are those of [Queue.Send].
func (q *Queue) GiveUp(ctx context.Context, message events.SQSMessage, cause error) error {
	body, err := sendable(message.Body)
	if err != nil {
		return err
	}
	text := escapeRefused(cmp.Or(strings.ToValidUTF8(cause.Error(), ""), "unknown"))
	_, err = q.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q.url, MessageBody: &body,
		MessageAttributes: map[string]types.MessageAttributeValue{
			"Cause": {DataType: aws.String("String"), StringValue: &text},
		}})
	if err != nil {
		return fmt.Errorf("SQS SendMessage: %w", kit.Failure(err))
	}
	return nil
}

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
	// Defer makes a received message come again after that time, as [Queue.Defer] does.
	Defer func(ctx context.Context, receipt string, wait time.Duration) error
	// GiveUp puts a message whose error matches [ErrHopeless] into the queue of failures at once, as [Queue.GiveUp]
	// does. Nil: such a message comes again by the plan.
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
