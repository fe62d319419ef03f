package platform_test

import (
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

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

// declareQuiet declares a platform without an API, whose function runs every night of people's own zone. The longest
// night has an hour more, before which no alarm says that the function has not run. It sends messages to another
// function, which are tried again, and are then in a queue with an alarm. The platform is a construct like any other:
// it has tags and a queue of the app.
func declareQuiet(app awscdk.App, build *gofunction.Build) {
	described := own()
	described.Routes, described.Lakes = nil, nil
	hello := &described.Functions[0]
	hello.Trigger, hello.Sends = schema.OnSchedule{Cron: "0 3 * * ? *", TimeZone: "Europe/Vienna"}, []string{"report"}
	described.Functions = append(described.Functions, schema.Function{Name: "report", Description: "reports",
		Timeout: 20 * time.Second, Trigger: schema.OnQueue{
			ID: "Hellos", Variable: "HELLOS_QUEUE_URL", Messages: "hellos", BatchSize: 5, MaximumConcurrency: 7,
			Retries:  []time.Duration{5 * time.Second, 5 * time.Minute, time.Hour, 10 * time.Hour},
			Failures: schema.Failures{ID: "DeadHellos"},
		}})
	o := &others{}
	platform.Declare(o, awscdk.NewStack(app, jsii.String("quiet"), nil), "Own", described,
		platform.Declaration{Props: platform.Props{Build: build}})
	awscdk.Tags_Of(o).Add(jsii.String("team"), jsii.String("own"), nil)
	awssqs.NewQueue(o, jsii.String("Beside"), nil)
}

// Amazon CloudWatch refuses an alarm on more than ten metrics, or on none.
func TestOperateLarge(t *testing.T) {
	t.Parallel()
	throttled := map[string]int{}
	for id, a := range synthtest.Stack(t, "large").Named("AWS::CloudWatch::Alarm") {
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
