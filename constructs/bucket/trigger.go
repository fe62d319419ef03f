package bucket

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/onesynth-cdk/onesynth/constructs/eventbus"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// TriggerProps describe what invokes a function. Bucket, Prefix and Function are required.
type TriggerProps struct {
	// Bucket is the bucket of the objects.
	Bucket *Bucket
	// Prefix is the prefix of the keys of the objects whose creation invokes the function.
	Prefix string
	// Function gets the event "Object Created" of Amazon S3.
	Function *gofunction.Function
	// Description is shown in the AWS console. Default: none.
	Description string
	// Key is as in the props of a dead-letter queue. Default: a key of Amazon SQS.
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

// NewTrigger declares a rule of Amazon EventBridge that invokes a function for each object that is created in a bucket.
// It lets the bucket send its events there. The CDK's own notifications of buckets would deploy a function that may
// change every bucket. An event that cannot be delivered, or that the function fails to handle three times, ends in the
// dead-letter queue. NewTrigger ends the program, by [props.Fatal], with the error of [TriggerProps.Validate] before
// it declares anything.
func NewTrigger(scope constructs.Construct, id string, p TriggerProps) *eventbus.Rule {
	props.Accept("trigger", scope, id, p.Validate())
	p.Bucket.resource().SetNotificationConfiguration(&awss3.CfnBucket_NotificationConfigurationProperty{
		EventBridgeConfiguration: &awss3.CfnBucket_EventBridgeConfigurationProperty{EventBridgeEnabled: true},
	})
	rule := eventbus.NewRule(scope, id, eventbus.RuleProps{
		Pattern: map[string]any{
			"source":      []any{"aws.s3"},
			"detail-type": []any{"Object Created"},
			"detail": map[string]any{
				"bucket": map[string]any{"name": []any{p.Bucket.Resource.BucketName()}},
				"object": map[string]any{"key": []any{map[string]any{"prefix": p.Prefix}}},
			},
		},
		Description: p.Description, Function: p.Function, Key: p.Key,
	})
	rule.KeepFailures(rule, p.Function)
	return rule
}
