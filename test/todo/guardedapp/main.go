// Command guardedapp is an app with To-Do, and with routes of a team's own that a function or IAM guards, behind a
// firewall and an entry from a VPC.
package main

import (
	"context"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/edge"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
	"github.com/onesynth-cdk/onesynth/test/todo/guardedapp/own"
)

func main() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("todo"),
		&awscdk.StackProps{Env: &awscdk.Environment{Region: jsii.String("us-east-1")}})
	build := gofunction.Start(context.Background(), gofunction.Source{
		Module:   "github.com/onesynth-cdk/onesynth/test",
		Packages: []string{"todo/guardedapp/report", "todo/guardedapp/gate"}})
	const domain, certificate = "origin.example.com", "arn:aws:acm:us-east-1:123456789012:certificate/8d7c"
	p := todo.New(stack, "Todo", todo.Props{Props: platform.Props{Own: platform.Own{Own: own.Own(), Build: build},
		DomainName: domain, CertificateARN: certificate,
		TrustStore:      httpapi.TrustStore{URI: "s3://trust/authorities.pem"},
		RemoveWithStack: true, NoAlarms: true, NoDashboard: true}})
	// Clients come through a firewall, and from a VPC.
	origin := edge.Origin{DomainName: domain, ClientCertificateARN: certificate}
	edge.NewFirewall(stack, "Firewall", edge.FirewallProps{DomainName: "api.example.com", CertificateARN: certificate,
		Origin: origin})
	edge.NewEntry(stack, "Entry", edge.EntryProps{Origin: origin, Endpoints: []awsec2.IVpcEndpoint{
		awsec2.InterfaceVpcEndpoint_FromInterfaceVpcEndpointAttributes(stack, jsii.String("Endpoint"),
			&awsec2.InterfaceVpcEndpointAttributes{Port: jsii.Number(443), VpcEndpointId: jsii.String("vpce-0a1b")}),
	}})
	// Services that may read reports of Ann alone, and none.
	for name, path := range map[string]string{"auditor": "/users/ann/report", "visitor": "/nowhere"} {
		awsiam.NewRole(stack, &name, &awsiam.RoleProps{RoleName: &name, AssumedBy: awsiam.NewAccountRootPrincipal()}).
			AddToPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
				Actions: jsii.Strings("execute-api:Invoke"),
				Resources: &[]*string{p.API.Resource.ArnForExecuteApi(jsii.String("GET"), &path,
					jsii.String("$default"))},
			}))
	}
	props.Synth(app)
}
