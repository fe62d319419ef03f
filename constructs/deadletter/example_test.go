package deadletter_test

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// The queue outlives the stack, so that nothing in it is lost.
func ExampleNewQueue() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("orders"), nil)
	deadletter.NewQueue(stack, "Undelivered", deadletter.Props{Retain: true})
	app.Synth(nil)
}
