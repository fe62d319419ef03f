package outputs_test

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/outputs"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// The stack's output is called OrdersQueueUrl.
func ExampleNew() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("orders"), nil)
	orders := constructs.NewConstruct(stack, jsii.String("Orders"))
	queue := deadletter.NewQueue(orders, "Undelivered", deadletter.Props{})
	outputs.New(orders, stack, "Orders").Add("QueueUrl", "Address of the queue of undelivered orders", queue.QueueUrl())
	app.Synth(nil)
}
