// Command eventsapp is an app with To-Do, and with what receives its events: a function and a queue.
package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/eventbus"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

func main() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("todo"), nil)
	p := todo.New(stack, "Todo", todo.Props{Props: platform.Props{Events: true, RemoveWithStack: true, NoAlarms: true,
		NoDashboard: true}})
	p.On("TaskCompleted", eventbus.Target{
		Function: gofunction.New(stack, "Congratulator", gofunction.Props{Package: "congratulator"})})
	p.On("TaskCreated", eventbus.Target{Queue: awssqs.NewQueue(stack, jsii.String("Urgent"),
		&awssqs.QueueProps{QueueName: jsii.String("urgent")}),
		Detail: map[string]any{"priority": []any{"urgent"}}})
	props.Synth(app)
}
