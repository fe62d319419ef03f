package lake

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"
)

// accessPrefix begins the keys of access logs.
const accessPrefix = "lake/"

// addAccessLogs lets Amazon S3 log the requests to the lake, in a second bucket: in
// the same one, it would log the writing of each log.
//
// The CDK's own way gives the right by access control list, which buckets owned
// by the account alone refuse, unless the app has a feature flag set. This is what
// it does with the flag ("Enabling Amazon S3 server access logging", user guide).
func (l *Lake) addAccessLogs(p Props) {
	age := p.LogRetention.Number()
	l.AccessLogs = awss3.NewBucket(l, jsii.String("AccessLogs"), &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		// Amazon S3 delivers to no bucket whose default is a key of AWS KMS that its
		// logging service may not use.
		Encryption: awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL: jsii.Bool(true),
		Versioned:  jsii.Bool(true),
		LifecycleRules: &[]*awss3.LifecycleRule{
			{Id: jsii.String("logs"), Expiration: awscdk.Duration_Days(jsii.Number(age))},
			{Id: jsii.String("former"), NoncurrentVersionExpiration: awscdk.Duration_Days(jsii.Number(formerDays)), ExpiredObjectDeleteMarker: jsii.Bool(true)},
		},
		RemovalPolicy: awscdk.RemovalPolicy_RETAIN,
	})
	l.AccessLogs.Policy().ApplyRemovalPolicy(awscdk.RemovalPolicy_RETAIN)
	l.AccessLogs.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("logging.s3.amazonaws.com"), nil)},
		Actions:    jsii.Strings("s3:PutObject"),
		Resources:  jsii.Strings(*l.AccessLogs.BucketArn() + "/" + accessPrefix + "*"),
		Conditions: &map[string]any{
			"ArnLike":      map[string]any{"aws:SourceArn": l.Bucket.BucketArn()},
			"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Stack_Of(l).Account()},
		},
	}))
	l.Bucket.Node().DefaultChild().(awss3.CfnBucket).SetLoggingConfiguration(&awss3.CfnBucket_LoggingConfigurationProperty{
		DestinationBucketName: l.AccessLogs.BucketName(),
		LogFilePrefix:         jsii.String(accessPrefix),
	})
}
