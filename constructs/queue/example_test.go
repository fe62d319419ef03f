package queue_test

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/queue"
	"github.com/onesynth-cdk/onesynth/schema"
)

// One function sends what another handles, three times at most.
func ExampleNew() {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("orders"), nil)
	orders := queue.New(stack, "Orders", queue.Props{
		OnFailure: deadletter.NewQueue(stack, "Unhandled", deadletter.Props{}), Timeout: 10 * time.Second,
		On: schema.OnQueue{Retries: []time.Duration{time.Minute, time.Hour}},
	})
	orders.AllowSend(gofunction.New(stack, "Shop", gofunction.Props{Package: "handlers/shop"}))
	orders.Invoke(gofunction.New(stack, "Packer", gofunction.Props{Package: "handlers/packer"}))
	app.Synth(nil)
}
