// Package queue sends the records that a lake could not convert to Amazon SQS.
package queue

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/onesynth-cdk/onesynth/lambdas/lake"
)

// Queue is a [lake.Failures] in Amazon SQS.
type Queue struct {
	client *sqs.Client
	url    string
}

var _ lake.Failures = (*Queue)(nil)

// New returns the queue of that URL.
func New(config aws.Config, url string) *Queue {
	return &Queue{client: sqs.NewFromConfig(config), url: url}
}

// Send sends a message.
func (q *Queue) Send(ctx context.Context, message string) error {
	if _, err := q.client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q.url, MessageBody: &message}); err != nil {
		return fmt.Errorf("SQS SendMessage: %w", err)
	}
	return nil
}
