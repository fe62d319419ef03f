// Command booking is the CDK app: one stack with the booking platform.
package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"example.com/booking/constructs/booking"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

func main() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	booking.New(awscdk.NewStack(app, jsii.String("booking"), nil), "Booking", settings(app))
	props.Synth(app)
}

// settings are the platform's: -c arch=x86_64 is for functions that run on such a machine.
func settings(app awscdk.App) (p booking.Props) {
	architecture, _ := app.Node().TryGetContext(jsii.String("arch")).(string)
	p.Architecture = gofunction.Architecture(architecture)
	return p
}
