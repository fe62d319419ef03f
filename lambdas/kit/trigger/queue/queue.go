// Package queue reaches queues of Amazon SQS.
package queue

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/trigger"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Queue is a queue, by its address. It is safe for concurrent use.
type Queue struct {
	client *sqs.Client
	url    string
}

// New returns the queue of that URL.
func New(config aws.Config, url string) *Queue {
	return &Queue{client: sqs.NewFromConfig(config), url: url}
}

// OfFailures returns the queue of failures that the function's mapping to a stream or a queue names.
func OfFailures(environment kit.Environment) (*Queue, error) {
	url, err := environment.Require(schema.FailureQueueVariable)
	if err != nil {
		return nil, err
	}
	return New(environment.AWS, url[0]), nil
}

// Send sends a message. In JSON, it escapes the characters that SQS refuses, which changes no value. The error is
// [trigger.ErrRefusedText] for another text with such a character, and ErrBusy or ErrUnanswered of package retry if
// another attempt may succeed.
func (q *Queue) Send(ctx context.Context, body string) error {
	body, err := trigger.Sendable(body)
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
	body, err := trigger.Sendable(message.Body)
	if err != nil {
		return err
	}
	text := trigger.EscapeRefused(cmp.Or(strings.ToValidUTF8(cause.Error(), ""), "unknown"))
	_, err = q.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q.url, MessageBody: &body,
		MessageAttributes: map[string]types.MessageAttributeValue{
			"Cause": {DataType: aws.String("String"), StringValue: &text},
		}})
	if err != nil {
		return fmt.Errorf("SQS SendMessage: %w", kit.Failure(err))
	}
	return nil
}
