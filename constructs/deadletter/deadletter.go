// Package deadletter makes queues for what could not be done.
package deadletter

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// kept is how long messages can be looked into: the longest that Amazon SQS keeps
// them ("Amazon SQS quotas").
const kept = 14 * 24 * time.Hour

// Props describe a queue. The zero value is right.
type Props struct {
	// Retain keeps the queue and its messages when the stack is deleted. Default:
	// they go with the stack.
	Retain bool
}

// NewQueue declares a queue that is encrypted, takes requests over TLS only, and
// keeps messages for 14 days.
func NewQueue(scope constructs.Construct, id string, p Props) awssqs.Queue {
	removal := awscdk.RemovalPolicy_DESTROY
	if p.Retain {
		removal = awscdk.RemovalPolicy_RETAIN
	}
	return awssqs.NewQueue(scope, &id, &awssqs.QueueProps{
		Encryption:      awssqs.QueueEncryption_SQS_MANAGED,
		EnforceSSL:      jsii.Bool(true),
		RetentionPeriod: awscdk.Duration_Seconds(jsii.Number(kept.Seconds())),
		RemovalPolicy:   removal,
	})
}

// Send is what a function's role needs to be allowed to put a message into a
// queue.
const Send = "sqs:SendMessage"
