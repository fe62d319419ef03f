// Command booking is the CDK app: one stack with the booking platform.
package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"example.com/booking/constructs/booking"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

func main() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	booking.New(awscdk.NewStack(app, jsii.String("booking"), nil), "Booking", booking.Props{})
	app.Synth(nil)
}
