package eventbus_test

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/eventbus"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// Events of the source "shop" that say that something was sold for much come to a queue.
func Example() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("shop"), nil)
	bus := eventbus.New(stack, "Bus", eventbus.Props{Description: "What happens in the shop"})
	bus.On(stack, "shop", "ThingSold", eventbus.Target{
		Queue:  deadletter.NewQueue(stack, "Sold", deadletter.Props{}),
		Detail: map[string]any{"price": []any{map[string]any{"numeric": []any{">", 1000}}}},
	})
	app.Synth(nil)
}
