// Package deadletter makes Amazon SQS queues of failures: runs of a schedule, batches
// of a stream, records that no function could handle.
package deadletter

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// kept is how long messages stay in a queue: the longest that Amazon SQS keeps them ("Amazon SQS
// quotas").
const kept = 14 * 24 * time.Hour

// Props describe a queue. The zero value is valid.
type Props struct {
	// Retain keeps the queue and its messages when the stack is deleted. Default:
	// they go with the stack.
	Retain bool
	// Key is a customer managed key of AWS KMS that encrypts the messages. Default: a
	// key of Amazon SQS.
	Key awskms.IKey
}

// Described returns the props of a queue that is encrypted, takes requests over TLS only, and keeps messages for 14
// days. The key is as in [Props].
func Described(key awskms.IKey) *awssqs.QueueProps {
	encryption := awssqs.QueueEncryption_SQS_MANAGED
	if key != nil {
		encryption = awssqs.QueueEncryption_KMS
	}
	return &awssqs.QueueProps{
		Encryption:          encryption,
		EncryptionMasterKey: key,
		EnforceSSL:          jsii.Bool(true),
		RetentionPeriod:     awscdk.Duration_Seconds(jsii.Number(kept.Seconds())),
	}
}

// NewQueue declares a queue with the props that [Described] returns.
func NewQueue(scope constructs.Construct, id string, p Props) awssqs.Queue {
	described, removal := Described(p.Key), props.RemovalPolicy(!p.Retain)
	described.RemovalPolicy = removal
	queue := awssqs.NewQueue(scope, &id, described)
	if p.Retain {
		// Without its policy the queue would also take requests without TLS.
		queue.Node().FindChild(jsii.String("Policy")).(awssqs.QueuePolicy).ApplyRemovalPolicy(removal)
	}
	return queue
}

// OnFailure lets AWS Lambda send an asynchronous event to the queue if the function still fails after that many
// retries, or when the event has that age. A function has one such queue.
func OnFailure(scope constructs.Construct, f *gofunction.Function, queue awssqs.IQueue, age time.Duration,
	retries int) {
	awslambda.NewCfnEventInvokeConfig(scope, jsii.String("Failures"), &awslambda.CfnEventInvokeConfigProps{
		FunctionName:             f.Resource.FunctionName(),
		Qualifier:                jsii.String("$LATEST"),
		MaximumEventAgeInSeconds: jsii.Number(age.Seconds()),
		MaximumRetryAttempts:     jsii.Number(retries),
		DestinationConfig: &awslambda.CfnEventInvokeConfig_DestinationConfigProperty{
			OnFailure: &awslambda.CfnEventInvokeConfig_OnFailureProperty{Destination: queue.QueueArn()},
		},
	})
	AllowSend(f.Role, queue)
}

// AllowSend lets the grantee put messages into a queue, and use the key that
// encrypts them, if it is a customer managed one.
func AllowSend(grantee awsiam.IGrantable, queue awssqs.IQueue) {
	awsiam.Grant_AddToPrincipal(&awsiam.GrantOnPrincipalOptions{
		Grantee:      grantee,
		Actions:      jsii.Strings("sqs:SendMessage"),
		ResourceArns: jsii.Strings(*queue.QueueArn()),
	})
	key.Allow(queue, grantee, queue.EncryptionMasterKey(), "sqs", key.Write)
}
