// Command extraapp is an app with To-Do, whose tasks have attributes of a team's own, and with what receives its
// events: a function and a queue.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/eventbus"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
	"github.com/onesynth-cdk/onesynth/test/todo/extraapp/own"
)

func main() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("todo"), nil)
	p := todo.New(stack, "Todo", todo.Props{
		Props: platform.Props{
			Events: true, RemoveWithStack: true, NoAlarms: true, NoDashboard: true, Extra: own.Extra(),
			Own: platform.Own{Own: own.Own(), Build: gofunction.Start(context.Background(),
				gofunction.Source{Directory: ".", Packages: []string{"projects", "projector"}})},
		},
		LakeProps: platform.LakeProps{LakeBatchWindow: time.Second},
	})
	p.On("TaskCreated", eventbus.Target{Function: p.Functions["projector"]})
	p.On("TaskCreated", eventbus.Target{ID: "OnUrgentTask", Queue: awssqs.NewQueue(stack, jsii.String("Urgent"),
		&awssqs.QueueProps{QueueName: jsii.String("urgent")}),
		Detail: map[string]any{"priority": []any{"urgent"}}})
	props.Synth(app)
}
