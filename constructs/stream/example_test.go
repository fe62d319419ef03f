package stream_test

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/stream"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
)

// A function handles new items, in batches.
func ExampleNew() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("orders"), nil)
	orders := table.New(stack, "Orders", table.Props{Table: schema.Table{
		Name: "Orders", PhysicalName: "orders", Description: "Orders.",
		Key: schema.Key{Partition: "id"}, Stream: schema.StreamNewAndOldImages,
		Attributes: []schema.Attribute{{Name: "id", Type: schema.String, Description: "UUID"}},
	}})
	mapping := stream.New(stack, "NewOrders", stream.Props{
		Table:     orders,
		Function:  gofunction.New(stack, "Packer", gofunction.Props{Package: "handlers/packer"}),
		OnFailure: deadletter.NewQueue(stack, "Unpacked", deadletter.Props{Retain: true}),
		On: schema.OnStream{Filters: []map[string]any{{"eventName": []string{"INSERT"}}},
			BatchWindow: 5 * time.Second},
	})
	_ = mapping.MetricAge(nil)
	app.Synth(nil)
}
