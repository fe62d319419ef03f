package main

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	shared "github.com/onesynth-cdk/onesynth/constructs/platform"
)

// mistake is a CDK app with a mistake. In a test, a mistake panics.
func mistake(name string) {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	switch name {
	case "props":
		askahuman.New(awscdk.NewStack(app, jsii.String("ask"), nil), "AskAHuman",
			askahuman.Props{Props: shared.Props{Prefix: "-", LogLevel: "loud"}})
	case "one":
		askahuman.New(nil, "AskAHuman", askahuman.Props{})
	case "build":
		gofunction.New(awscdk.NewStack(app, jsii.String("own"), nil), "Own", gofunction.Props{Package: "nowhere/own"})
	}
	fmt.Println("New has returned")
}
