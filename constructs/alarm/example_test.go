package alarm_test

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// It goes off when a function fails in two periods in a row.
func ExampleNew() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("reports"), nil)
	report := gofunction.New(stack, "Report", gofunction.Props{Package: "handlers/report"})
	alarm.New(stack, "ReportFails", alarm.Props{
		Metric:      report.MetricErrors(nil),
		Description: "The report was not written",
		Periods:     2,
	})
	app.Synth(nil)
}
