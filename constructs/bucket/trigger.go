package bucket

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/finding"
)

// Delivery of an event is retried for as long as AWS Lambda keeps an event ("How Lambda handles
// errors and retries with asynchronous invocation").
const (
	longest = 6 * time.Hour
	retries = 2
)

// TriggerProps describe what invokes a function. Bucket, Prefix and Function are required.
type TriggerProps struct {
	// Bucket is the bucket of the objects.
	Bucket *Bucket
	// Prefix begins the keys of the objects whose creation invokes the function.
	Prefix string
	// Function gets the event "Object Created" of Amazon S3.
	Function *gofunction.Function
	// Description is shown in the AWS console. Default: none.
	Description string
	// Key is as in [deadletter.Props]. Default: a key of Amazon SQS.
	Key awskms.IKey
}

// Validate returns a [finding.List] with all invalid props, or nil.
func (p TriggerProps) Validate() error {
	var f finding.List
	if p.Bucket == nil || p.Bucket.Resource == nil {
		f.Add("TriggerProps.Bucket", nil, "a bucket", "pass a bucket of package bucket")
	}
	if p.Prefix == "" {
		f.Add("TriggerProps.Prefix", p.Prefix, `what keys begin with, such as "exports/"`,
			"say which objects invoke the function")
	}
	p.Function.Check(&f, "TriggerProps.Function")
	key.Check(&f, "TriggerProps.Key", p.Key, "")
	return f.Err()
}

// Trigger invokes a function for each object that is created in a bucket, by Amazon EventBridge:
// the CDK's own notifications of buckets would deploy a function that may change every bucket.
// An event that cannot be delivered, or that the function fails to handle three times, ends
// in the dead-letter queue.
type Trigger struct {
	constructs.Construct
	// Resource is the rule that lets the events of the objects through.
	Resource awsevents.CfnRule
	// DeadLetters receives the events that the function did not handle.
	DeadLetters awssqs.Queue
}

// NewTrigger declares a trigger, and lets the bucket send its events to Amazon EventBridge. It
// ends the program, by [props.Refuse], with the error of [TriggerProps.Validate] before it
// declares anything.
func NewTrigger(scope constructs.Construct, id string, p TriggerProps) *Trigger {
	props.Accept("trigger", scope, id, p.Validate())
	t := &Trigger{}
	constructs.NewConstruct_Override(t, scope, &id)
	p.Bucket.resource().SetNotificationConfiguration(&awss3.CfnBucket_NotificationConfigurationProperty{
		EventBridgeConfiguration: &awss3.CfnBucket_EventBridgeConfigurationProperty{EventBridgeEnabled: true},
	})
	t.DeadLetters = deadletter.NewQueue(t, "DeadLetters", deadletter.Props{Key: p.Key})
	key.AllowRules(t, p.Key)
	deadletter.OnFailure(t, p.Function, t.DeadLetters, longest, retries)
	description := &awsevents.CfnRuleProps{
		State: jsii.String("ENABLED"),
		EventPattern: map[string]any{
			"source":      []any{"aws.s3"},
			"detail-type": []any{"Object Created"},
			"detail": map[string]any{
				"bucket": map[string]any{"name": []any{p.Bucket.Resource.BucketName()}},
				"object": map[string]any{"key": []any{map[string]any{"prefix": p.Prefix}}},
			},
		},
		Targets: []any{&awsevents.CfnRule_TargetProperty{
			Id:               jsii.String("Function"),
			Arn:              p.Function.Resource.FunctionArn(),
			DeadLetterConfig: &awsevents.CfnRule_DeadLetterConfigProperty{Arn: t.DeadLetters.QueueArn()},
		}},
	}
	if p.Description != "" {
		description.Description = &p.Description
	}
	t.Resource = awsevents.NewCfnRule(t, jsii.String("Resource"), description)
	awslambda.NewCfnPermission(t, jsii.String("Permission"), &awslambda.CfnPermissionProps{
		Action: jsii.String("lambda:InvokeFunction"), FunctionName: p.Function.Resource.FunctionArn(),
		Principal: jsii.String("events.amazonaws.com"), SourceArn: t.Resource.AttrArn(),
	})
	t.DeadLetters.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("events.amazonaws.com"), nil)},
		Actions:    jsii.Strings("sqs:SendMessage"),
		Resources:  jsii.Strings(*t.DeadLetters.QueueArn()),
		Conditions: &map[string]any{"ArnEquals": map[string]any{"aws:SourceArn": t.Resource.AttrArn()}},
	}))
	return t
}

// MetricDeadLetters is how many events wait in the queue: a maximum over five minutes unless
// options say otherwise; options may be nil.
func (t *Trigger) MetricDeadLetters(options *awscloudwatch.MetricOptions) awscloudwatch.Metric {
	return t.DeadLetters.MetricApproximateNumberOfMessagesVisible(options)
}
