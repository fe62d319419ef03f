// Package bucket declares Amazon S3 buckets that are private, encrypted and reached over
// TLS only, and invokes functions when objects come into them.
package bucket

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// formerDays is how long a deleted or replaced object can be brought back.
const formerDays = 7

// Props describe a bucket. LogPrefix is required, unless RemoveWithStack is set.
type Props struct {
	// Results is the prefix of the keys of objects that are deleted after ResultDays. Default: none.
	Results    string
	ResultDays int
	// Objects is the prefix of the keys of objects that are deleted after RetentionDays. Default: all objects.
	Objects string
	// RetentionDays is after how many days Amazon S3 deletes an object. Default: never.
	RetentionDays int
	// Retention has after how many days Amazon S3 deletes the objects of a prefix, by the prefix. Default: none.
	Retention map[string]int
	// LogPrefix is the prefix of the keys of access logs, such as "lake/". Required, unless RemoveWithStack is set.
	LogPrefix string
	// LogRetention is how long access logs are kept. Default: [props.OneMonth].
	LogRetention props.LogRetention
	// RemoveWithStack deletes the bucket with the stack; empty the bucket before. Such a bucket keeps no former
	// versions, and no access logs: they would keep filling it. Default: bucket, objects and logs outlive the stack.
	RemoveWithStack bool
	// Key is a customer managed key of AWS KMS that encrypts the objects. Default: a key of
	// Amazon S3.
	Key awskms.IKey
}

// Bucket is a bucket with the bucket of its access logs.
type Bucket struct {
	// Resource is the bucket.
	Resource awss3.Bucket
	// AccessLogs holds the logs of requests to Resource. It is nil with RemoveWithStack.
	AccessLogs awss3.Bucket
}

// New declares a bucket, with the ids Bucket and AccessLogs below the scope.
func New(scope constructs.Construct, p Props) *Bucket {
	var rules []*awss3.LifecycleRule
	if p.ResultDays > 0 {
		rules = append(rules, expiry(p.Results, p.ResultDays))
	}
	rules = append(rules, &awss3.LifecycleRule{Id: jsii.String("uploads"),
		AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(1))})
	if !p.RemoveWithStack {
		rules = append(rules, former())
	}
	if p.RetentionDays > 0 {
		rules = append(rules, expiry(p.Objects, p.RetentionDays))
	}
	for _, prefix := range slices.Sorted(maps.Keys(p.Retention)) {
		rule := expiry(prefix, p.Retention[prefix])
		rule.Id = &prefix // with its slash, it is none of the ids above
		rules = append(rules, rule)
	}
	encryption := awss3.BucketEncryption_S3_MANAGED
	var cached *bool
	if p.Key != nil {
		// One request for a data key serves many objects.
		encryption, cached = awss3.BucketEncryption_KMS, jsii.Bool(true)
	}
	b := &Bucket{Resource: private(scope, "Bucket", awss3.BucketProps{
		Encryption:       encryption,
		EncryptionKey:    p.Key,
		BucketKeyEnabled: cached,
		Versioned:        jsii.Bool(!p.RemoveWithStack),
		LifecycleRules:   &rules,
		RemovalPolicy:    props.RemovalPolicy(p.RemoveWithStack),
	})}
	if !p.RemoveWithStack {
		b.addAccessLogs(scope, p)
	}
	return b
}

// private declares a bucket that the account alone owns and no one else reaches, over TLS only.
func private(scope constructs.Construct, id string, p awss3.BucketProps) awss3.Bucket {
	p.BlockPublicAccess = awss3.BlockPublicAccess_BLOCK_ALL()
	p.ObjectOwnership = awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED
	p.EnforceSSL = jsii.Bool(true)
	b := awss3.NewBucket(scope, &id, &p)
	// Without its policy the bucket would also take requests without TLS.
	b.Policy().ApplyRemovalPolicy(p.RemovalPolicy)
	return b
}

// expiry returns the rule that deletes the objects below the prefix. Its id is the prefix.
func expiry(prefix string, days int) *awss3.LifecycleRule {
	rule := &awss3.LifecycleRule{Id: jsii.String("objects"), Expiration: awscdk.Duration_Days(jsii.Number(days))}
	if prefix != "" {
		rule.Id, rule.Prefix = jsii.String(strings.TrimSuffix(prefix, "/")), &prefix
	}
	return rule
}

// former returns the rule that deletes the versions of deleted and replaced objects.
func former() *awss3.LifecycleRule {
	return &awss3.LifecycleRule{Id: jsii.String("former"),
		NoncurrentVersionExpiration: awscdk.Duration_Days(jsii.Number(formerDays)),
		ExpiredObjectDeleteMarker:   jsii.Bool(true)}
}

// addAccessLogs lets Amazon S3 log the requests to the bucket, in a second one: in
// the same one, it would log the writing of each log.
//
// The CDK's own way gives the right by access control list, which buckets owned
// by the account alone refuse, unless the app has a feature flag set. This is what
// it does with the flag ("Enabling Amazon S3 server access logging", user guide).
func (b *Bucket) addAccessLogs(scope constructs.Construct, p Props) {
	b.AccessLogs = private(scope, "AccessLogs", awss3.BucketProps{
		// Amazon S3 delivers to no bucket whose default is a key of AWS KMS that its
		// logging service may not use.
		Encryption:     awss3.BucketEncryption_S3_MANAGED,
		Versioned:      jsii.Bool(true),
		LifecycleRules: logRules(p.LogRetention),
		RemovalPolicy:  awscdk.RemovalPolicy_RETAIN,
	})
	b.AccessLogs.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(jsii.String("logging.s3.amazonaws.com"), nil)},
		Actions:    jsii.Strings("s3:PutObject"),
		Resources:  jsii.Strings(*b.AccessLogs.BucketArn() + "/" + p.LogPrefix + "*"),
		Conditions: &map[string]any{
			"ArnLike":      map[string]any{"aws:SourceArn": b.Resource.BucketArn()},
			"StringEquals": map[string]any{"aws:SourceAccount": awscdk.Stack_Of(scope).Account()},
		},
	}))
	b.resource().SetLoggingConfiguration(&awss3.CfnBucket_LoggingConfigurationProperty{
		DestinationBucketName: b.AccessLogs.BucketName(),
		LogFilePrefix:         &p.LogPrefix,
	})
}

// logRules returns the rules by which access logs are deleted.
func logRules(kept props.LogRetention) *[]*awss3.LifecycleRule {
	rules := []*awss3.LifecycleRule{former()}
	if kept != props.Forever {
		rules = slices.Insert(rules, 0, &awss3.LifecycleRule{Id: jsii.String("logs"),
			Expiration: awscdk.Duration_Days(jsii.Number(kept.Number()))})
	}
	return &rules
}

// pagesMaxAge is how long, in seconds, a browser need not ask again whether it may send a request.
const pagesMaxAge = 300

// AllowPages lets pages of these origins send requests with presigned URLs: GET and PUT, with the header Content-Type
// ("Elements of a CORS configuration", Amazon S3 user guide).
func (b *Bucket) AllowPages(origins ...string) {
	b.Resource.AddCorsRule(&awss3.CorsRule{
		AllowedMethods: &[]awss3.HttpMethods{awss3.HttpMethods_GET, awss3.HttpMethods_PUT},
		AllowedOrigins: jsii.Strings(origins...), AllowedHeaders: jsii.Strings("content-type"),
		ExposedHeaders: jsii.Strings("ETag"), MaxAge: jsii.Number(pagesMaxAge),
	})
}

func (b *Bucket) resource() awss3.CfnBucket {
	return b.Resource.Node().DefaultChild().(awss3.CfnBucket)
}

// Objects returns the ARN of all objects below the prefix. Amazon S3 offers nothing narrower for objects that do not
// exist yet.
func (b *Bucket) Objects(prefix string) string { return *b.Resource.BucketArn() + "/" + prefix + "*" }

// AllowPut lets the function put objects below the prefix, and use the key that encrypts them, if
// it is a customer managed one.
func (b *Bucket) AllowPut(f *gofunction.Function, prefix string) {
	f.Allow([]string{"s3:PutObject"}, b.Objects(prefix))
	key.Allow(b.Resource, f.Role, b.Resource.EncryptionKey(), "s3", key.Write)
}

// AllowGet lets the function read objects below the prefix, and use the key that encrypts them. The
// function may not list them, so Amazon S3 refuses a missing object like a forbidden one.
func (b *Bucket) AllowGet(f *gofunction.Function, prefix string) {
	f.Allow([]string{"s3:GetObject"}, b.Objects(prefix))
	key.Allow(b.Resource, f.Role, b.Resource.EncryptionKey(), "s3", key.Read)
}
