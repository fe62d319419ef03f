package schedule_test

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/schedule"
	"github.com/onesynth-cdk/onesynth/schema"
)

func ExampleNew() {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("reports"), nil)
	report := gofunction.New(stack, "Report", gofunction.Props{Package: "handlers/report"})
	schedule.New(stack, "Daily", schedule.Props{
		Function: report, On: schema.OnSchedule{Every: 24 * time.Hour}, Description: "Writes the report",
	})
	app.Synth(nil)
}
