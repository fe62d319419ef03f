package todo_test

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscodedeploy"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/interfaces/interfacesawscloudwatch"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

// The zero Props are the safe ones.
func Example() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("todo"), nil)
	todo.New(stack, "Todo", todo.Props{})
	app.Synth(nil)
}

// Everything that is wrong is reported at once, before anything is declared.
func ExampleProps_Validate() {
	p := todo.Props{Props: platform.Props{Prefix: "To Do", LocalPort: 80}}
	fmt.Println(p.Validate())
	// Output:
	// 2 findings:
	//   Props.Prefix: got "To Do", allowed is 2 to 32 lower-case letters, digits and hyphens, beginning with a letter and not ending with a hyphen: write something like "aah"
	//   Props.LocalPort: got 80, allowed is 1024 to 65535: leave it 0 for the default
}

// A deployment gives new code a tenth of the requests for five minutes, and takes it back if the alarm on failed
// requests goes off.
func ExampleNew_gradual() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("todo"), nil)
	t := todo.New(stack, "Todo", todo.Props{})
	live := awslambda.NewAlias(stack, jsii.String("Live"), &awslambda.AliasProps{
		AliasName: jsii.String("live"), Version: t.TodoAPI.Resource.CurrentVersion()})
	for _, part := range *t.API.Node().FindAll(constructs.ConstructOrder_PREORDER) {
		integration, ok := part.(awsapigatewayv2.CfnIntegration)
		if ok && *integration.IntegrationUri() == *t.TodoAPI.Resource.FunctionArn() {
			integration.SetIntegrationUri(live.FunctionArn())
		}
	}
	live.AddPermission(jsii.String("API"), &awslambda.Permission{
		Principal: awsiam.NewServicePrincipal(jsii.String("apigateway.amazonaws.com"), nil),
		SourceArn: t.API.Resource.ArnForExecuteApi(jsii.String("*"), jsii.String("/*"), jsii.String("*")),
	})
	var alarms []interfacesawscloudwatch.IAlarmRef
	for _, alarm := range t.Alarms {
		if *alarm.Node().Id() == "ServerErrorAlarm" {
			alarms = append(alarms, alarm)
		}
	}
	awscodedeploy.NewLambdaDeploymentGroup(stack, jsii.String("Gradual"), &awscodedeploy.LambdaDeploymentGroupProps{
		Alias: live, DeploymentConfig: awscodedeploy.LambdaDeploymentConfig_CANARY_10PERCENT_5MINUTES(),
		Alarms: &alarms,
	})
	props.Synth(app)
}
