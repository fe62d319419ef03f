package platform_test

import (
	"context"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/schema"
)

// How the construct of a platform declares its parts.
func ExampleNew() {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("ask"), nil)
	described := schema.AskAHuman()
	build := gofunction.Start(context.Background(), platform.Handlers(described, gofunction.ARM64))
	parts := platform.New(constructs.NewConstruct(stack, jsii.String("AskAHuman")), described, platform.Props{Build: build})
	functions := map[string]*gofunction.Function{}
	for _, f := range described.Functions {
		functions[f.Name] = parts.Function(f.Name, f.Name, 0, nil)
	}
	parts.API(httpapi.Props{Description: "AI agents ask, people answer", Functions: functions})
	app.Synth(nil)
}
