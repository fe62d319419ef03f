// Command extraapp is an app with Clarity, whose attempts have an attribute of a team's own.
package main

import (
	"context"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/clarity"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/test/clarity/extraapp/own"
)

func main() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	clarity.New(awscdk.NewStack(app, jsii.String("clarity"), nil), "Clarity", clarity.Props{Props: platform.Props{
		RemoveWithStack: true, NoAlarms: true, NoDashboard: true, Extra: own.Extra(),
		Own: platform.Own{Own: own.Own(), Build: gofunction.Start(context.Background(),
			gofunction.Source{Directory: ".", Packages: []string{"courses"}})},
	}})
	app.Synth(nil)
}
