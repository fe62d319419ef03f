// Command guardedapp is an app with To-Do, and with routes of a team's own that a function or IAM guards.
package main

import (
	"context"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
	"github.com/onesynth-cdk/onesynth/test/todo/guardedapp/own"
)

func main() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("todo"), nil)
	build := gofunction.Start(context.Background(), gofunction.Source{
		Module:   "github.com/onesynth-cdk/onesynth/test",
		Packages: []string{"todo/guardedapp/report", "todo/guardedapp/gate"}})
	p := todo.New(stack, "Todo", todo.Props{Props: platform.Props{Own: platform.Own{Own: own.Own(), Build: build},
		RemoveWithStack: true, NoAlarms: true, NoDashboard: true}})
	// Services that may read reports of Ann alone, and none.
	for name, path := range map[string]string{"auditor": "/users/ann/report", "visitor": "/nowhere"} {
		awsiam.NewRole(stack, &name, &awsiam.RoleProps{RoleName: &name, AssumedBy: awsiam.NewAccountRootPrincipal()}).
			AddToPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
				Actions: jsii.Strings("execute-api:Invoke"),
				Resources: &[]*string{p.API.Resource.ArnForExecuteApi(jsii.String("GET"), &path,
					jsii.String("$default"))},
			}))
	}
	app.Synth(nil)
}
