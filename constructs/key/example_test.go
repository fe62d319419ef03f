package key_test

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/deadletter"
	"github.com/onesynth-cdk/onesynth/constructs/key"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// A role that reads the queue may decrypt its messages, through Amazon SQS and in no other way.
func ExampleAllow() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("orders"), nil)
	own := awskms.NewKey(stack, jsii.String("Key"), nil)
	deadletter.NewQueue(stack, "Undelivered", deadletter.Props{Key: own})
	support := awsiam.NewRole(stack, jsii.String("Support"),
		&awsiam.RoleProps{AssumedBy: awsiam.NewAccountRootPrincipal()})
	key.Allow(stack, support, own, "sqs", key.Read)
	app.Synth(nil)
}
