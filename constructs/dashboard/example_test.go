package dashboard_test

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/dashboard"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
)

// It shows a function, and what that reports itself.
func ExampleNew() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("reports"), nil)
	report := gofunction.New(stack, "Report", gofunction.Props{Package: "handlers/report"})
	dashboard.New(stack, "Dashboard", dashboard.Props{
		Functions: []dashboard.Function{{
			Name: "report", Function: report, Namespace: schema.MetricNamespace("", "reports"),
			Metrics: []schema.Metric{{Name: "ReportsWritten", Function: "report", Unit: schema.Count}},
		}},
	})
	app.Synth(nil)
}
