// Command publicapp is an app with To-Do and its page, which people reach through a firewall.
package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/edge"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

func main() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	const people, origin = "tasks.example.com", "origin.example.com"
	certificate := func(region string) string {
		return "arn:aws:acm:" + region + ":123456789012:certificate/1a-2b"
	}
	in := func(name, region string) awscdk.Stack {
		return awscdk.NewStack(app, &name, &awscdk.StackProps{
			Env: &awscdk.Environment{Account: jsii.String("123456789012"), Region: &region}})
	}
	todo.New(in("todo", "eu-west-1"), "Todo", todo.Props{Page: true, Props: platform.Props{
		PublicURL: "https://" + people, DomainName: origin, CertificateARN: certificate("eu-west-1"),
		TrustStore:      httpapi.TrustStore{URI: "s3://trust/authorities.pem"},
		RemoveWithStack: true, NoAlarms: true, NoDashboard: true}})
	edge.NewFirewall(in("firewall", "us-east-1"), "Firewall", edge.FirewallProps{
		DomainName: people, CertificateARN: certificate("us-east-1"),
		Origin: edge.Origin{DomainName: origin, ClientCertificateARN: certificate("us-east-1")}})
	app.Synth(nil)
}
