// Package queue lets functions send messages to another by a queue of Amazon SQS, and keeps the messages that
// it could not handle in a queue of failures.
package queue

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/finding"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Limits of Amazon SQS ("SetQueueAttributes") and of AWS Lambda ("Using Lambda with Amazon SQS").
const (
	longestTimeout   = 15 * time.Minute
	mostAttempts     = 1000
	mostMessages     = 10
	leastConcurrency = 2
	mostConcurrency  = 1000
	// kept is how long messages stay: the longest that Amazon SQS keeps them.
	kept = 14 * 24 * time.Hour
	// visible is how many time-outs of its function a message is hidden from others for, as AWS Lambda recommends.
	visible = 6
)

// Props describe a queue. OnFailure and Timeout are required.
type Props struct {
	// OnFailure receives the messages that were given up.
	OnFailure awssqs.IQueue
	// Timeout is that of the function which handles the messages: whole seconds up to 15 minutes.
	Timeout time.Duration
	// Attempts is how often a message is tried before it is given up: 1 to 1,000. An invocation that AWS
	// Lambda could not start counts, too. Default: 1.
	Attempts int
	// Key is a customer managed key of AWS KMS that encrypts the messages. Default: a key of Amazon SQS.
	Key awskms.IKey
}

// Validate returns a [finding.List] with all invalid props, or nil.
func (p Props) Validate() error {
	var f finding.List
	if props.IsNil(p.OnFailure) {
		f.Add("Props.OnFailure", nil, "a queue", "pass a queue of package deadletter: without one, messages that are given up are lost")
	}
	if p.Timeout < time.Second || p.Timeout > longestTimeout || p.Timeout%time.Second != 0 {
		f.Add("Props.Timeout", p.Timeout, "1s to 15m0s in whole seconds", "pass the time-out of the function")
	}
	if p.Attempts < 0 || p.Attempts > mostAttempts {
		f.Add("Props.Attempts", p.Attempts, "1 to 1000", "leave it 0 for 1")
	}
	key.Check(&f, "Props.Key", p.Key, "")
	return f.Err()
}

// Queue is a queue of messages for one function.
type Queue struct {
	constructs.Construct
	// Resource is the queue.
	Resource awssqs.Queue
	// Mapping is what hands the messages over. It is nil before [Queue.Invoke].
	Mapping awslambda.CfnEventSourceMapping

	failures awssqs.IQueue
	key      awskms.IKey
}

// New declares a queue that is encrypted, takes requests over TLS only, and keeps messages for 14 days. It ends
// the program, by [props.Refuse], with the error of [Props.Validate] before it declares anything.
func New(scope constructs.Construct, id string, p Props) *Queue {
	props.Accept("queue", scope, id, p.Validate())
	q := &Queue{failures: p.OnFailure, key: p.Key}
	constructs.NewConstruct_Override(q, scope, &id)
	encryption := awssqs.QueueEncryption_SQS_MANAGED
	if p.Key != nil {
		encryption = awssqs.QueueEncryption_KMS
	}
	q.Resource = awssqs.NewQueue(q, jsii.String("Resource"), &awssqs.QueueProps{
		Encryption:          encryption,
		EncryptionMasterKey: p.Key,
		EnforceSSL:          jsii.Bool(true),
		RetentionPeriod:     awscdk.Duration_Seconds(jsii.Number(kept.Seconds())),
		VisibilityTimeout:   awscdk.Duration_Seconds(jsii.Number((visible * p.Timeout).Seconds())),
		DeadLetterQueue:     &awssqs.DeadLetterQueue{Queue: p.OnFailure, MaxReceiveCount: jsii.Number(max(p.Attempts, 1))},
	})
	return q
}

// AllowSend lets a function send messages, and no more.
func (q *Queue) AllowSend(f *gofunction.Function) { deadletter.AllowSend(f.Role, q.Resource) }

// Invocations say how a function gets the messages. Function is required.
type Invocations struct {
	// Function handles the messages. Its answer says which of a batch failed (events.SQSEventResponse).
	Function *gofunction.Function
	// BatchSize is how many messages one invocation gets at most: 1 to 10. Default: 10.
	BatchSize int
	// MaximumConcurrency is how many invocations run at once at most: 2 to 1,000. Default: as many as the
	// account and the function allow.
	MaximumConcurrency int
}

// Validate returns a [finding.List] with what is invalid, or nil.
func (i Invocations) Validate() error {
	var f finding.List
	i.Function.Check(&f, "Invocations.Function")
	if i.BatchSize < 0 || i.BatchSize > mostMessages {
		f.Add("Invocations.BatchSize", i.BatchSize, "1 to 10", "leave it 0 for 10")
	}
	if i.MaximumConcurrency != 0 && (i.MaximumConcurrency < leastConcurrency || i.MaximumConcurrency > mostConcurrency) {
		f.Add("Invocations.MaximumConcurrency", i.MaximumConcurrency, "2 to 1000", "leave it 0 for no limit")
	}
	return f.Err()
}

// Invoke hands the messages to a function. Its role may receive and delete them, and change when a message that
// failed comes again. The function finds the address of the queue of failures in [schema.FailureQueueVariable], and may send to
// it what no attempt can handle. It ends the program, by [props.Refuse], with the error of [Invocations.Validate].
func (q *Queue) Invoke(i Invocations) {
	if err := i.Validate(); err != nil {
		props.Refuse(err)
	}
	awsiam.Grant_AddToPrincipal(&awsiam.GrantOnPrincipalOptions{
		Grantee:      i.Function.Role,
		Actions:      jsii.Strings("sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"),
		ResourceArns: jsii.Strings(*q.Resource.QueueArn()),
	})
	key.Allow(q, i.Function.Role, q.key, "sqs", key.Read)
	deadletter.AllowSend(i.Function.Role, q.failures)
	i.Function.AddEnvironment(map[string]string{schema.FailureQueueVariable: *q.failures.QueueUrl()})
	described := &awslambda.CfnEventSourceMappingProps{
		FunctionName:          i.Function.Resource.FunctionName(),
		EventSourceArn:        q.Resource.QueueArn(),
		BatchSize:             jsii.Number(mostMessages),
		FunctionResponseTypes: jsii.Strings("ReportBatchItemFailures"),
	}
	if i.BatchSize > 0 {
		described.BatchSize = jsii.Number(i.BatchSize)
	}
	if i.MaximumConcurrency > 0 {
		described.ScalingConfig = &awslambda.CfnEventSourceMapping_ScalingConfigProperty{MaximumConcurrency: jsii.Number(i.MaximumConcurrency)}
	}
	q.Mapping = awslambda.NewCfnEventSourceMapping(q, jsii.String("Mapping"), described)
	// AWS Lambda refuses a mapping whose function may not receive yet.
	q.Mapping.Node().AddDependency(i.Function.Role)
}

// MetricAge is how long the oldest message has been in the queue, in seconds: a maximum over five minutes unless
// options say otherwise; options may be nil. Amazon SQS leaves out messages that were received more than three times.
func (q *Queue) MetricAge(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return q.Resource.MetricApproximateAgeOfOldestMessage(options)
}

// MetricWaiting is how many messages can be received now: a maximum over five minutes unless options say otherwise;
// options may be nil.
func (q *Queue) MetricWaiting(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return q.Resource.MetricApproximateNumberOfMessagesVisible(options)
}
