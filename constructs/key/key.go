// Package key grants the use of a customer managed key of AWS KMS, only through the
// service that encrypts with the key.
package key

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Check adds a finding at path if the key cannot encrypt resources in the region, which is "" while it is not known. A
// nil key is valid.
func Check(f *finding.List, path string, key awskms.IKey, region string) {
	if !props.CheckResource(f, path, key, region) {
		return
	}
	if _, ok := key.(awskms.IAlias); ok {
		f.Add(path, "an alias", "a key", "pass the key behind the alias: neither roles nor log groups can name "+
			"an alias")
	}
}

// The actions on a key that a caller needs to use services with it.
var (
	// Read is to read encrypted data.
	Read = []string{"kms:Decrypt"}
	// Write is to write encrypted data: Amazon S3 and Amazon SQS also check whether the
	// writer could read it ("Protecting data with server-side encryption using AWS KMS
	// keys", "Key management" of Amazon SQS).
	Write = []string{"kms:Decrypt", "kms:GenerateDataKey"}
)

// Allow lets the grantee do the actions with the key, through the service, such as "sqs", in the region of scope
// ("kms:ViaService", AWS KMS developer guide). With a nil key it allows nothing and returns nil.
func Allow(scope constructs.IConstruct, grantee awsiam.IGrantable, key awskms.IKey, service string,
	actions []string) awsiam.Grant {
	if key == nil {
		return nil
	}
	return awsiam.Grant_AddToPrincipal(&awsiam.GrantOnPrincipalOptions{
		Grantee:      grantee,
		Actions:      jsii.Strings(actions...),
		ResourceArns: jsii.Strings(*key.KeyArn()),
		Conditions: &map[string]*map[string]any{"StringEquals": {
			"kms:ViaService": service + "." + *awscdk.Stack_Of(scope).Region() + ".amazonaws.com",
		}},
	})
}

// AllowLogs lets Amazon CloudWatch Logs encrypt the log groups of the account and region of scope with the key
// ("Encrypt log data in CloudWatch Logs using AWS Key Management Service"). It adds to the policy of a key that the app
// declares; the policy of any other key has to allow it already. With a nil key it does nothing.
func AllowLogs(scope constructs.IConstruct, key awskms.IKey) {
	if key == nil {
		return
	}
	actions := []string{"kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey",
		"kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo"}
	allowService(scope, key, "logs."+*awscdk.Stack_Of(scope).Region()+".amazonaws.com", actions,
		"kms:EncryptionContext:aws:logs:arn", "logs", "log-group:*")
}

// AllowAlarms lets the alarms of the account and region of scope notify a topic that is encrypted with the key
// ("Encrypting Amazon SNS topics", compatibility with event sources): without it they notify no one. It adds to the
// same policies as [AllowLogs]. With a nil key it does nothing.
func AllowAlarms(scope constructs.IConstruct, key awskms.IKey) {
	if key == nil {
		return
	}
	allowService(scope, key, "cloudwatch.amazonaws.com", Write, "aws:SourceArn", "cloudwatch", "alarm:*")
}

// AllowRules lets the rules of Amazon EventBridge in the account and region of scope send what they cannot deliver to a
// queue that is encrypted with the key ("Encrypting Amazon EventBridge DLQs"). It adds to the same policies as
// [AllowLogs]. With a nil key it does nothing.
func AllowRules(scope constructs.IConstruct, key awskms.IKey) {
	if key == nil {
		return
	}
	allowService(scope, key, "events.amazonaws.com", Write, "aws:SourceArn", "events", "rule/*")
}

// allowService lets a service of AWS use a key for its own resources in the account and region of
// scope, which a condition key restricts it to.
func allowService(scope constructs.IConstruct, key awskms.IKey, principal string, actions []string, condition, service,
	resources string) {
	key.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(&principal, nil)},
		Actions:    jsii.Strings(actions...),
		// In the policy of a key this is the key.
		Resources:  jsii.Strings("*"),
		Conditions: &map[string]any{"ArnLike": map[string]any{condition: props.ARN(scope, service, resources)}},
	}), jsii.Bool(true))
}
