package recipes

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Schedule runs a function at seven in the morning of every working day in Vienna, in summer as in winter. The function
// is one more of To-Do: it has a queue of failed runs, with an alarm on it, and an alarm when it has not run.
//
// Change Cron and TimeZone, or write Every for an interval. In a module of yours name Own.Module in place of Own.Build:
// the function is then its package lambdas/todo/digest. A stack without a platform takes [schedule.New].
//
// [schedule.New]: https://pkg.go.dev/github.com/onesynth-cdk/onesynth/constructs/schedule#New
func Schedule(stack awscdk.Stack, build *gofunction.Build) {
	own := schema.Own{Functions: []schema.Function{{
		Name: "digest", Description: "tells people what is due",
		Trigger: schema.OnSchedule{Cron: "0 7 ? * MON-FRI *", TimeZone: "Europe/Vienna"},
	}}}
	todo.New(stack, "Todo", todo.Props{Props: platform.Props{
		Own: platform.Own{Own: own, Build: build}, Build: build,
	}})
}
