package platform_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/eventbus"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/finding"
	"github.com/onesynth-cdk/onesynth/schema"
)

// telling is a platform that publishes what happens to its things.
func telling() schema.Platform {
	described := own()
	described.Events = []schema.Event{{Name: "ThingMade", Version: 1, Description: "A thing was made.", Table: "Things",
		Changes: []map[string]any{{"eventName": []any{"INSERT"}}},
		Detail: struct {
			ID string `json:"id" maxLength:"10" doc:"Which."`
		}{}}}
	described.Functions = append(described.Functions, schema.Function{Name: "report", Description: "reads changes",
		Trigger: schema.OnStream{Table: "Things", BatchWindow: 3e9, After: "hello", Changes: "reports",
			Filters: []map[string]any{{"eventName": []any{"REMOVE"}}}}})
	return described
}

// declareTelling declares it with a function and a queue as targets, encrypted with a key of the app.
func declareTelling(app awscdk.App, source gofunction.Source) {
	source.Packages = platform.Handlers("", telling().Publishing(), source.Architecture).Packages
	stack := awscdk.NewStack(app, jsii.String("telling"), nil)
	o := &others{}
	platform.Declare(o, stack, "Own", telling(), platform.Declaration{Props: platform.Props{Events: true,
		Build: gofunction.Start(context.Background(), source), Key: awskms.NewKey(stack, jsii.String("Key"), nil)}})
	o.On("ThingMade", eventbus.Target{Function: o.Functions["hello"], Detail: map[string]any{"id": []any{"a"}}})
	o.On("ThingMade", eventbus.Target{ID: "Again", Function: o.Functions["hello"]})
	o.On("ThingMade", eventbus.Target{ID: "Queued", Queue: deadletter.NewQueue(stack, "Told", deadletter.Props{})})
}

// The publisher reads the stream in place of the function that did beside the lake, and passes changes on to it by a
// queue, which waits as long as the stream did. A rule lets nothing in but the events of the platform, and nothing but
// the rule into its target. What a target did not take is in a queue with an alarm.
func TestDeclareEvents(t *testing.T) {
	t.Parallel()
	allowed := func(role string) (lines []string) {
		for _, line := range told.Allowed(t, role) {
			if !strings.HasPrefix(line, "logs:") && !strings.HasPrefix(line, "kms:") {
				lines = append(lines, line)
			}
		}
		return slices.Compact(lines)
	}
	stream := func(of ...string) (lines []string) {
		for _, action := range []string{"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"} {
			lines = append(lines, "dynamodb:"+action+" OwnDatabaseThings.StreamArn")
		}
		return append(lines, of...)
	}
	if diff := cmp.Diff(stream("events:PutEvents OwnEventBus.Arn", "sqs:SendMessage OwnEventDeadLetters.Arn",
		"sqs:SendMessage OwnReportStreamQueue.Arn"), allowed("OwnEventPublisherRole")); diff != "" {
		t.Errorf("the publisher may (-want +got):\n%s", diff)
	}
	if got := allowed("OwnReportRole"); slices.ContainsFunc(got, func(line string) bool {
		return strings.HasPrefix(line, "dynamodb:")
	}) {
		t.Errorf("the function that gets changes by a queue may %v", got)
	}
	_, queue := told.One(t, "AWS::SQS::Queue", "OwnReportStreamQueue")
	if got := queue.Properties["DelaySeconds"]; got != 13.0 {
		t.Errorf("a change waits %v seconds, want 13: the window, and the time-out of the function before it", got)
	}
	_, mapping := told.One(t, "AWS::Lambda::EventSourceMapping", "OwnEventsThingsStream")
	filters, _ := synthtest.At(mapping.Properties, "FilterCriteria", "Filters").([]any)
	if len(filters) != 2 || !strings.Contains(synthtest.Text(filters), "INSERT") ||
		!strings.Contains(synthtest.Text(filters), "REMOVE") {
		t.Errorf("the publisher gets the changes %v, want those of the event and of the function", filters)
	}

	bus, _ := told.One(t, "AWS::Events::EventBus", "OwnEventBus")
	rule, resource := told.One(t, "AWS::Events::Rule", "OwnOnThingMade")
	want := map[string]any{"source": []any{"own"}, "detail-type": []any{"ThingMade"},
		"detail": map[string]any{"id": []any{"a"}}}
	if diff := cmp.Diff(want, resource.Properties["EventPattern"]); diff != "" ||
		synthtest.At(resource.Properties, "EventBusName", "Ref") != bus {
		t.Errorf("on the bus %v, the rule lets in (-want +got):\n%s", resource.Properties["EventBusName"], diff)
	}
	deadLetters, _ := told.One(t, "AWS::SQS::Queue", "OwnOnThingMadeDeadLetters")
	targets, _ := resource.Properties["Targets"].([]any)
	if len(targets) != 1 || !strings.Contains(synthtest.Text(targets), deadLetters) {
		t.Errorf("got the targets %v, want one with the queue %s", targets, deadLetters)
	}
	_, permission := told.One(t, "AWS::Lambda::Permission", "OwnOnThingMadePermission")
	if got := synthtest.At(permission.Properties, "SourceArn", "Fn::GetAtt", 0); got != rule ||
		permission.Properties["Principal"] != "events.amazonaws.com" {
		t.Errorf("%v may invoke the function, from %v", permission.Properties["Principal"], got)
	}
	told.One(t, "AWS::CloudWatch::Alarm", "OwnOnThingMadeDeadLettersAlarm")
	settings := 0
	for _, config := range told.OfType("AWS::Lambda::EventInvokeConfig") {
		if strings.HasPrefix(synthtest.Text(config.Properties["FunctionName"]), "OwnHello") {
			settings++
		}
	}
	if settings != 1 {
		t.Errorf("got %d settings of the function's failures, want one for both of its rules", settings)
	}
	if text := synthtest.Text(told.OfType("AWS::SQS::QueuePolicy")); !strings.Contains(text, "OwnQueued") {
		t.Errorf("no policy lets the rule Queued send to its target: %s", text)
	}
}

func TestOnErr(t *testing.T) {
	t.Parallel()
	publishing := &platform.Platform{Schema: telling(), Events: &eventbus.Bus{}}
	for name, test := range map[string]struct {
		platform *platform.Platform
		event    string
		want     string
	}{
		"NoEvents": {&platform.Platform{Schema: telling()}, "ThingMade",
			"publishes no events: set Events of its props"},
		"Unknown":  {publishing, "ThingLost", `got "ThingLost", allowed are the events of own: ThingMade`},
		"NoTarget": {publishing, "ThingMade", "Target: got "},
	} {
		err := synthtest.PanicOf(func() { test.platform.On(test.event, eventbus.Target{}) })
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}

// A platform without events cannot publish any.
func TestPropsErrEvents(t *testing.T) {
	t.Parallel()
	var f finding.List
	platform.Props{Events: true}.Check(&f, "Props", "", own())
	if diff := cmp.Diff([]string{"Props.Events"}, synthtest.Paths(t, f.Err())); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}
