package platform_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// ownFunctions and the two of the lake are one more than an alarm can watch.
const ownFunctions = 9

// declareLarge declares a platform of many functions that use no access pattern of
// its table.
func declareLarge(app awscdk.App, build *gofunction.Build) {
	described := own()
	described.Routes = []schema.Route{{Method: "GET", Path: "/hello", Function: "hello", Caller: schema.CallerAnyone,
		Summary: "Hello"}}
	described.Functions[0].Trigger = schema.OnSeed{}
	stack := awscdk.NewStack(app, jsii.String("large"), nil)
	platform.DeclareTimes(&others{}, stack, "Large", described,
		platform.Declaration{Props: platform.Props{Build: build}}, ownFunctions)
}

// declareQuiet declares a platform without an API, whose function runs every night.
func declareQuiet(app awscdk.App, build *gofunction.Build) {
	described := own()
	described.Routes, described.Lakes = nil, nil
	described.Functions[0].Trigger = schema.OnSchedule{Cron: "0 3 * * ? *", TimeZone: "Europe/Vienna"}
	platform.Declare(&others{}, awscdk.NewStack(app, jsii.String("quiet"), nil), "Quiet", described,
		platform.Declaration{Props: platform.Props{Build: build}})
}

// An output has the name of the function that onesynth seed invokes. Nothing else may invoke it.
func TestDeclareSeed(t *testing.T) {
	t.Parallel()
	loader, _ := large.One(t, "AWS::Lambda::Function", fmt.Sprint("LargeHello", ownFunctions-1))
	if got := synthtest.At(large.Outputs["LargeSeedOwnFunctionName"].Value, "Ref"); got != loader {
		t.Errorf("got the output %v, want the name of %s", got, loader)
	}
	for id, permission := range large.Named("AWS::Lambda::Permission") {
		if permission.Properties["Principal"] != "apigateway.amazonaws.com" {
			t.Errorf("%s lets %v invoke the function", id, permission.Properties["Principal"])
		}
	}
}

// A platform without an API has all parts except the API's.
func TestOperateWithoutAPI(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"QuietHelloAlarm", "QuietHelloNotRunAlarm", "QuietHelloScheduleDeadLettersAlarm",
		"QuietThrottlesAlarm"}, slices.Sorted(maps.Keys(quiet.Named("AWS::CloudWatch::Alarm")))); diff != "" {
		t.Errorf("alarms (-want +got):\n%s", diff)
	}
	quiet.One(t, "AWS::CloudWatch::Dashboard", "QuietDashboard")
	if got := slices.Sorted(maps.Keys(quiet.Outputs)); !slices.Equal(got,
		[]string{"QuietHelloScheduleDeadLetterQueueUrl", "QuietThingsTableName"}) {
		t.Errorf("got the outputs %v", got)
	}
}

// A function can run at a time of the day, of people's own zone. The longest night has an
// hour more.
func TestDeclareCron(t *testing.T) {
	t.Parallel()
	_, schedule := quiet.One(t, "AWS::Scheduler::Schedule", "QuietHelloSchedule")
	if when, zone := schedule.Properties["ScheduleExpression"],
		schedule.Properties["ScheduleExpressionTimezone"]; when != "cron(0 3 * * ? *)" || zone != "Europe/Vienna" {
		t.Errorf("got %v in %v, want 03:00 in Vienna", when, zone)
	}
	_, alarm := quiet.One(t, "AWS::CloudWatch::Alarm", "QuietHelloNotRunAlarm")
	if got := synthtest.Text(alarm.Properties["AlarmDescription"]); !strings.HasPrefix(got,
		"Own: Hello has not run for 26h0m0s. ") {
		t.Errorf("got %q, want a day of 25 hours and an hour more", got)
	}
}

// Amazon CloudWatch refuses an alarm on more than ten metrics, or on none.
func TestOperateLarge(t *testing.T) {
	t.Parallel()
	throttled := map[string]int{}
	for id, a := range large.Named("AWS::CloudWatch::Alarm") {
		metrics := synthtest.List(synthtest.At(a.Properties, "Metrics"))
		if metrics == nil {
			continue
		}
		watched := 0
		for _, m := range metrics {
			metric := synthtest.At(m, "MetricStat", "Metric")
			if metric == nil {
				continue
			}
			watched++
			if synthtest.At(metric, "MetricName") == "Throttles" {
				throttled[synthtest.Text(synthtest.At(metric, "Dimensions", 0, "Value"))]++
			}
		}
		if watched == 0 || watched > 10 {
			t.Errorf("%s: watches %d metrics, want 1 to 10", id, watched)
		}
	}
	if len(throttled) != ownFunctions+2 {
		t.Errorf("throttles: got those of %d functions, want %d", len(throttled), ownFunctions+2)
	}
	for function, times := range throttled {
		if times != 1 {
			t.Errorf("throttles of %s: watched %d times, want once", function, times)
		}
	}
}

// A platform may have several schedules.
func TestOperateNamesWhatDoesNotRun(t *testing.T) {
	t.Parallel()
	_, alarm := large.One(t, "AWS::CloudWatch::Alarm", "LargeLakeCompactorNotRunAlarm")
	if got := synthtest.Text(alarm.Properties["AlarmDescription"]); !strings.HasPrefix(got,
		"Own: LakeCompactor has not run for 1h5m0s. ") {
		t.Errorf("got %q, want it to name the function", got)
	}
}
