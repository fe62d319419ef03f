package platform_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// declareExporting declares a platform whose function is invoked by uploads to a bucket, reads them
// and puts exports, all encrypted with a key of the app.
func declareExporting(app awscdk.App, build *gofunction.Build) {
	described := own()
	described.Lakes = nil
	described.Routes = []schema.Route{{
		Method: "GET", Path: "/export", Function: "hello",
		Caller: schema.Caller{Name: "exporter", Token: schema.TokenOfProgram, Scope: "own/export"}, Summary: "Export",
	}}
	described.Buckets = []schema.Bucket{{Name: "Exports", Description: "exports", Variable: "EXPORTS_BUCKET",
		RetentionDays: 30}}
	uploads := schema.Objects{Bucket: "Exports", Prefix: "uploads/"}
	hello := &described.Functions[0]
	hello.Trigger, hello.Gets, hello.Puts = schema.OnObjects{Objects: uploads}, []schema.Objects{uploads},
		[]schema.Objects{{Bucket: "Exports", Prefix: "lexicon/"}}
	stack := awscdk.NewStack(app, jsii.String("exporting"), nil)
	platform.Declare(&others{}, stack, "Own", described, platform.Declaration{
		Props:  platform.Props{Build: build, Key: awskms.NewKey(stack, jsii.String("Key"), nil)},
		Agents: []string{"exporter", "reader"}, AgentScopes: map[string][]string{"reader": {}},
	})
}

// A bucket is as safe as a lake's. A function may only put and read below its prefixes.
func TestDeclareBucket(t *testing.T) {
	t.Parallel()
	bucket, resource := exporting.One(t, "AWS::S3::Bucket", "OwnExportsBucket")
	logs, _ := exporting.One(t, "AWS::S3::Bucket", "OwnExportsAccessLogs")
	_, function := exporting.One(t, "AWS::Lambda::Function", "OwnHello")
	got := map[string]any{
		"encryption": synthtest.At(resource.Properties, "BucketEncryption", "ServerSideEncryptionConfiguration", 0,
			"ServerSideEncryptionByDefault", "SSEAlgorithm"),
		"versions": synthtest.At(resource.Properties, "VersioningConfiguration", "Status"),
		"public":   synthtest.At(resource.Properties, "PublicAccessBlockConfiguration", "RestrictPublicBuckets"),
		"logs":     synthtest.At(resource.Properties, "LoggingConfiguration", "DestinationBucketName", "Ref"),
		"removal":  resource.DeletionPolicy,
		"events":   synthtest.At(resource.Properties, "NotificationConfiguration"),
		"variable": synthtest.At(function.Properties, "Environment", "Variables", "EXPORTS_BUCKET", "Ref"),
		"output":   synthtest.At(exporting.Outputs["OwnExportsBucketName"].Value, "Ref"),
	}
	want := map[string]any{
		"encryption": "aws:kms", "versions": "Enabled", "public": true, "logs": logs, "removal": "Retain",
		"variable": bucket, "output": bucket,
		"events": map[string]any{"EventBridgeConfiguration": map[string]any{"EventBridgeEnabled": true}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bucket (-want +got):\n%s", diff)
	}
	days := map[string]any{}
	for _, rule := range synthtest.List(synthtest.At(resource.Properties, "LifecycleConfiguration", "Rules")) {
		days[synthtest.Text(synthtest.At(rule, "Id"))] = synthtest.At(rule, "ExpirationInDays")
	}
	if diff := cmp.Diff(map[string]any{"uploads": nil, "former": nil, "objects": 30.0}, days); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if policies := exporting.OfType("AWS::S3::BucketPolicy"); len(policies) != 2 {
		t.Errorf("got %d policies of buckets, want one that refuses requests without TLS for each", len(policies))
	}
	var allowed []string
	for _, line := range exporting.Allowed(t, "OwnHelloRole") {
		if !strings.HasPrefix(line, "logs:") {
			allowed = append(allowed, line)
		}
	}
	if diff := cmp.Diff([]string{
		"kms:Decrypt Key.Arn", "kms:GenerateDataKey Key.Arn", "s3:GetObject OwnExportsBucket.Arn/uploads/*",
		"s3:PutObject OwnExportsBucket.Arn/lexicon/*", "sqs:SendMessage OwnHelloObjectsDeadLetters.Arn",
	}, slices.Compact(allowed)); diff != "" {
		t.Errorf("the role may (-want +got):\n%s", diff)
	}
}

// New objects reach the function by a rule of Amazon EventBridge, which nothing else may use.
// Failed events are in a queue with an alarm. The CDK adds no function of its own.
func TestDeclareObjects(t *testing.T) {
	t.Parallel()
	bucket, _ := exporting.One(t, "AWS::S3::Bucket", "OwnExportsBucket")
	rule, resource := exporting.One(t, "AWS::Events::Rule", "OwnHelloObjects")
	queue, _ := exporting.One(t, "AWS::SQS::Queue", "OwnHelloObjectsDeadLetters")
	function, _ := exporting.One(t, "AWS::Lambda::Function", "OwnHello")
	arn := func(of string) any { return map[string]any{"Fn::GetAtt": []any{of, "Arn"}} }
	_, permission := exporting.One(t, "AWS::Lambda::Permission", "OwnHelloObjectsPermission")
	_, failures := exporting.One(t, "AWS::Lambda::EventInvokeConfig", "OwnHelloObjectsFailures")
	got := map[string]any{
		"pattern": resource.Properties["EventPattern"], "targets": resource.Properties["Targets"],
		"permission": permission.Properties,
		"failures":   synthtest.At(failures.Properties, "DestinationConfig", "OnFailure", "Destination"),
		"retries":    failures.Properties["MaximumRetryAttempts"],
	}
	want := map[string]any{
		"pattern": map[string]any{"source": []any{"aws.s3"}, "detail-type": []any{"Object Created"},
			"detail": map[string]any{
				"bucket": map[string]any{"name": []any{map[string]any{"Ref": bucket}}},
				"object": map[string]any{"key": []any{map[string]any{"prefix": "uploads/"}}},
			}},
		"targets": []any{map[string]any{"Id": "Function", "Arn": arn(function),
			"DeadLetterConfig": map[string]any{"Arn": arn(queue)}}},
		"permission": map[string]any{"Action": "lambda:InvokeFunction", "FunctionName": arn(function),
			"Principal": "events.amazonaws.com", "SourceArn": arn(rule)},
		"failures": arn(queue), "retries": 2.0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trigger (-want +got):\n%s", diff)
	}
	_, policy := exporting.One(t, "AWS::SQS::QueuePolicy", "OwnHelloObjectsDeadLetters")
	sends := regexp.MustCompile(`"aws:SourceArn":\{"Fn::GetAtt":\["` + rule +
		`","Arn"\]\}.*"Service":"events.amazonaws.com"`)
	if text := synthtest.Text(policy.Properties); !sends.MatchString(text) {
		t.Errorf("policy of the queue: got %s, want that the rule may send", text)
	}
	exporting.One(t, "AWS::CloudWatch::Alarm", "OwnHelloObjectsDeadLettersAlarm")
	if got := synthtest.At(exporting.Outputs["OwnHelloObjectsDeadLetterQueueUrl"].Value, "Ref"); got != queue {
		t.Errorf("got the output %v, want the queue's address", got)
	}
	_, key := exporting.One(t, "AWS::KMS::Key", "Key")
	if text := synthtest.Text(key.Properties); !strings.Contains(text, ":rule/*") ||
		!strings.Contains(text, "events.amazonaws.com") {
		t.Errorf("the key does not let rules send to the queue: %s", text)
	}
	for _, kind := range []string{"AWS::Lambda::Function", "Custom::S3BucketNotifications"} {
		if found := exporting.OfType(kind); len(found) > 1 {
			t.Errorf("got %d of %s, want none of the CDK's own", len(found), kind)
		}
	}
	for _, s := range exporting.Statements() {
		for _, r := range s.Resources {
			if s.Effect == "Allow" && strings.Contains(r, "*") &&
				!slices.Contains([]string{"OwnExportsBucket.Arn/uploads/*", "OwnExportsBucket.Arn/lexicon/*",
					"OwnExportsAccessLogs.Arn/objects/*"}, synthtest.Stable(r)) {
				t.Errorf("%s allows %v on %s: want no wildcard", s.Owner, s.Actions, r)
			}
		}
	}
}
