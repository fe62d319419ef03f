package platform_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// declareQueued declares a platform whose function sends messages to itself, encrypted with a key of the app.
func declareQueued(app awscdk.App, build *gofunction.Build) {
	described := own()
	described.Routes, described.Lakes = nil, nil
	hello := &described.Functions[0]
	hello.Sends, hello.Timeout = []string{"hello"}, 20*time.Second
	hello.Trigger = schema.OnQueue{
		ID: "Hellos", Variable: "HELLOS_QUEUE_URL", Messages: "hellos", BatchSize: 5, MaximumConcurrency: 7,
		Retries:  []time.Duration{5 * time.Second, 5 * time.Minute, time.Hour, 10 * time.Hour},
		Failures: schema.Failures{ID: "DeadHellos"},
	}
	stack := awscdk.NewStack(app, jsii.String("queued"), nil)
	platform.Declare(&others{}, stack, "Own", described, platform.Declaration{
		Props: platform.Props{Build: build, Key: awskms.NewKey(stack, jsii.String("Key"), nil)},
	})
}

// Messages are encrypted, are tried by the plan, and are then in a queue with an alarm. The function may send,
// receive and defer them, and no more.
func TestDeclareQueue(t *testing.T) {
	t.Parallel()
	queue, resource := queued.One(t, "AWS::SQS::Queue", "OwnHellos")
	failures, _ := queued.One(t, "AWS::SQS::Queue", "OwnDeadHellos")
	function, handler := queued.One(t, "AWS::Lambda::Function", "OwnHello")
	_, mapping := queued.One(t, "AWS::Lambda::EventSourceMapping", "OwnHellosMapping")
	arn := func(of string) any { return map[string]any{"Fn::GetAtt": []any{of, "Arn"}} }
	key, _ := queued.One(t, "AWS::KMS::Key", "Key")
	got := map[string]any{"queue": resource.Properties, "mapping": mapping.Properties,
		"variable": synthtest.At(handler.Properties, "Environment", "Variables", "HELLOS_QUEUE_URL", "Ref")}
	want := map[string]any{
		"queue": map[string]any{
			"KmsMasterKeyId": arn(key), "MessageRetentionPeriod": 1209600.0, "VisibilityTimeout": 120.0,
			"RedrivePolicy": map[string]any{"deadLetterTargetArn": arn(failures), "maxReceiveCount": 5.0},
		},
		"mapping": map[string]any{
			"EventSourceArn": arn(queue), "FunctionName": map[string]any{"Ref": function}, "BatchSize": 5.0,
			"FunctionResponseTypes": []any{"ReportBatchItemFailures"},
			"ScalingConfig":         map[string]any{"MaximumConcurrency": 7.0},
		},
		"variable": queue,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("queue (-want +got):\n%s", diff)
	}
	if policies := queued.OfType("AWS::SQS::QueuePolicy"); len(policies) != 2 {
		t.Errorf("got %d policies of queues, want one that refuses requests without TLS for each", len(policies))
	}
	var allowed []string
	for _, line := range queued.Allowed(t, "OwnHelloRole") {
		if !strings.HasPrefix(line, "logs:") {
			allowed = append(allowed, line)
		}
	}
	if diff := cmp.Diff([]string{
		"kms:Decrypt Key.Arn", "kms:GenerateDataKey Key.Arn",
		"sqs:ChangeMessageVisibility OwnHellos.Arn", "sqs:DeleteMessage OwnHellos.Arn",
		"sqs:GetQueueAttributes OwnHellos.Arn", "sqs:ReceiveMessage OwnHellos.Arn", "sqs:SendMessage OwnDeadHellos.Arn",
		"sqs:SendMessage OwnHellos.Arn",
	}, slices.Compact(allowed)); diff != "" {
		t.Errorf("the role may (-want +got):\n%s", diff)
	}
	// The first three retries come within 65 minutes and 5 seconds.
	_, age := queued.One(t, "AWS::CloudWatch::Alarm", "OwnHellosAgeAlarm")
	if got := age.Properties["Threshold"]; got != 7810.0 ||
		age.Properties["MetricName"] != "ApproximateAgeOfOldestMessage" {
		t.Errorf("got the threshold %v of %v", got, age.Properties["MetricName"])
	}
	queued.One(t, "AWS::CloudWatch::Alarm", "OwnDeadHellosAlarm")
	if got := synthtest.At(queued.Outputs["OwnDeadHelloQueueUrl"].Value, "Ref"); got != failures {
		t.Errorf("got the output %v, want the address of the queue of failures", got)
	}
}
