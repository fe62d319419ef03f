package recipes

import (
	"cmp"
	"fmt"
	"regexp"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

// stages are prod, dev, and what begins with dev-, such as dev-pr-17. A typing error then deploys nothing.
var stages = regexp.MustCompile(`^(prod|dev(-[a-z0-9]+){0,3})$`)

// Stages declares a stack for the stage that the command line names: -c stage=dev-pr-17 is a stack of its own, which a
// pull request gets when it is opened. All of it goes with the stack when the pull request is closed.
//
// Change what a stage has. The workflows that deploy and remove the stages come from onesynth init.
func Stages(app awscdk.App, build *gofunction.Build) {
	given, _ := app.Node().TryGetContext(jsii.String("stage")).(string)
	stage := cmp.Or(given, "dev")
	if !stages.MatchString(stage) {
		props.Fatal(fmt.Errorf("stage: got %q: write prod, dev, or a stage of your own such as dev-pr-17", stage))
	}
	settings := platform.Props{RemoveWithStack: true, NoAlarms: true, NoDashboard: true}
	if stage == "prod" {
		settings = platform.Props{DeletionProtection: true}
	}
	settings.Build = build
	stack := awscdk.NewStack(app, jsii.String("recipe-stages-"+stage), &awscdk.StackProps{
		TerminationProtection: jsii.Bool(settings.DeletionProtection),
	})
	todo.New(stack, "Todo", todo.Props{Props: settings})
}
