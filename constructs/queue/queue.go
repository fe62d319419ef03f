// Package queue lets functions send messages to another function through a queue of Amazon SQS. A queue of failures
// keeps the messages that it could not handle: see examples/recipes/queue.go.
package queue

import (
	"cmp"
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
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

const (
	// maxMessages is how many one invocation gets by default ("Using Lambda with Amazon SQS").
	maxMessages = 10
	// visible is how many time-outs of its function a message is hidden from others for, as AWS Lambda recommends.
	visible = 6
)

// Props describe a queue. OnFailure and Timeout are required.
type Props struct {
	// OnFailure receives the messages that failed every attempt.
	OnFailure awssqs.IQueue
	// Timeout is the time-out of the function that handles the messages: whole seconds up to 15 minutes.
	Timeout time.Duration `min:"1s" max:"15m" step:"1s"`
	// On says how often a message is tried, and how the function gets the messages. Its ID, Variable, Messages, After
	// and Failures are ignored. An invocation that AWS Lambda could not start counts as an attempt. Default: a message
	// is tried once.
	On schema.OnQueue
	// Key is a customer managed key of AWS KMS that encrypts the messages. Default: a key of Amazon SQS.
	Key awskms.IKey
}

// Validate returns a [finding.List] with all invalid props, or nil.
func (p Props) Validate() error {
	var f finding.List
	if props.IsNil(p.OnFailure) {
		f.Add("Props.OnFailure", nil, "a queue",
			"pass a queue of package deadletter: without one, messages that are given up are lost")
	}
	f.Limits("Props", p)
	p.On.Check(&f, "Props.On")
	key.Check(&f, "Props.Key", p.Key, "")
	return f.Err()
}

// Queue is a queue of messages for one function.
type Queue struct {
	constructs.Construct
	// Resource is the queue.
	Resource awssqs.Queue
	// Mapping hands the messages over. It is nil before [Queue.Invoke].
	Mapping awslambda.CfnEventSourceMapping

	props Props
}

// New declares a queue that is encrypted, takes requests over TLS only, and keeps messages for 14 days. It ends
// the program, by [props.Fatal], with the error of [Props.Validate] before it declares anything.
func New(scope constructs.Construct, id string, p Props) *Queue {
	props.Accept("queue", scope, id, p.Validate())
	q := &Queue{props: p}
	constructs.NewConstruct_Override(q, scope, &id)
	described := deadletter.Described(p.Key)
	described.VisibilityTimeout = awscdk.Duration_Seconds(jsii.Number((visible * p.Timeout).Seconds()))
	described.DeadLetterQueue = &awssqs.DeadLetterQueue{Queue: p.OnFailure,
		MaxReceiveCount: jsii.Number(p.On.Attempts())}
	if p.On.Delay > 0 {
		described.DeliveryDelay = awscdk.Duration_Seconds(jsii.Number(p.On.Delay.Seconds()))
	}
	q.Resource = awssqs.NewQueue(q, jsii.String("Resource"), described)
	return q
}

// AllowSend lets a function send messages, and no more.
func (q *Queue) AllowSend(f *gofunction.Function) { deadletter.AllowSend(f.Role, q.Resource) }

// Invoke hands the messages to a function. The function's role may receive and delete them, and change when a failed
// message comes again. The function finds the address of the queue of failures in [schema.FailureQueueVariable], and
// may send to it what no attempt can handle. Its answer says which messages of a batch failed
// (events.SQSEventResponse). Invoke ends the program, by [props.Fatal], if there is no such function.
func (q *Queue) Invoke(function *gofunction.Function) {
	var f finding.List
	function.Check(&f, "Invoke")
	if err := f.Err(); err != nil {
		props.Fatal(err)
	}
	awsiam.Grant_AddToPrincipal(&awsiam.GrantOnPrincipalOptions{
		Grantee: function.Role,
		Actions: jsii.Strings("sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes",
			"sqs:ReceiveMessage"),
		ResourceArns: jsii.Strings(*q.Resource.QueueArn()),
	})
	key.Allow(q, function.Role, q.props.Key, "sqs", key.Read)
	deadletter.AllowSend(function.Role, q.props.OnFailure)
	function.AddEnvironment(map[string]string{schema.FailureQueueVariable: *q.props.OnFailure.QueueUrl()})
	described := &awslambda.CfnEventSourceMappingProps{
		FunctionName:          function.Resource.FunctionName(),
		EventSourceArn:        q.Resource.QueueArn(),
		BatchSize:             jsii.Number(cmp.Or(q.props.On.BatchSize, maxMessages)),
		FunctionResponseTypes: jsii.Strings("ReportBatchItemFailures"),
	}
	if q.props.On.MaximumConcurrency > 0 {
		described.ScalingConfig = &awslambda.CfnEventSourceMapping_ScalingConfigProperty{
			MaximumConcurrency: jsii.Number(q.props.On.MaximumConcurrency)}
	}
	q.Mapping = awslambda.NewCfnEventSourceMapping(q, jsii.String("Mapping"), described)
	// AWS Lambda refuses a mapping whose function may not receive yet.
	q.Mapping.Node().AddDependency(function.Role)
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
