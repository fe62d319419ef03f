// Command shortener is the CDK app: one stack with the shortener.
package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"example.com/shortener/constructs/shortener"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

func main() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	shortener.New(awscdk.NewStack(app, jsii.String("shortener"), nil), "Shortener", shortener.Props{})
	props.Synth(app)
}
