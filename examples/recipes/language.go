package recipes

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Language serves a route by a function that is not written in Go, but for the shell. It has what other functions have:
// a log group of its own, a role that may write to that one alone, and the constructs of this library.
//
// Change what is in code, the folder with the file bootstrap: it starts the program, which asks AWS Lambda for events.
// A local run takes the runtime provided.al2023 alone. That has a shell and curl; bring any other interpreter along.
func Language(stack awscdk.Stack, code string) {
	logs := awslogs.NewLogGroup(stack, jsii.String("Logs"), &awslogs.LogGroupProps{
		Retention: awslogs.RetentionDays_ONE_MONTH, RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
	})
	role := awsiam.NewRole(stack, jsii.String("Role"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
	})
	greeter := &gofunction.Function{LogGroup: logs, Role: role,
		Resource: awslambda.NewFunction(stack, jsii.String("Greeter"), &awslambda.FunctionProps{
			Runtime: awslambda.Runtime_PROVIDED_AL2023(), Handler: jsii.String("bootstrap"),
			Code: awslambda.Code_FromAsset(&code, nil), Architecture: awslambda.Architecture_ARM_64(),
			MemorySize: jsii.Number(256), Timeout: awscdk.Duration_Seconds(jsii.Number(10)),
			Role: role, LogGroup: logs, LoggingFormat: awslambda.LoggingFormat_JSON,
		})}
	greeter.Allow([]string{"logs:CreateLogStream", "logs:PutLogEvents"}, *logs.LogGroupArn())
	httpapi.New(stack, "API", httpapi.Props{
		Name: "greetings", Functions: map[string]*gofunction.Function{"greeter": greeter},
		Routes: []schema.Route{{ID: "greet", Method: "GET", Path: "/greeting", Function: "greeter",
			Caller: schema.CallerAnyone, Summary: "A greeting"}},
	})
}
