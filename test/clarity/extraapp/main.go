// Command extraapp is an app with Clarity, which another region has taken over from. Its attempts have an attribute of
// a team's own, and its function has a network and a layer.
package main

import (
	"context"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/clarity"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/test/clarity/extraapp/own"
)

func main() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("clarity"), &awscdk.StackProps{
		Env: &awscdk.Environment{Region: jsii.String("us-east-1")}})
	p := clarity.New(stack, "Clarity", clarity.Props{Props: platform.Props{
		RemoveWithStack: true, NoAlarms: true, NoDashboard: true, Extra: own.Extra(), Standby: true,
		SecretReplicas: map[string]string{"eu-west-1": ""},
		Tables:         table.DatabaseOptions{All: table.Options{Replicas: []table.Replica{{Region: "eu-west-1"}}}},
		Own: platform.Own{Own: own.Own(), Build: gofunction.Start(context.Background(),
			gofunction.Source{Directory: ".", Packages: []string{"courses"}})},
	}})
	// What a run cannot honour.
	function := p.Functions["courses"].Resource.Node().DefaultChild().(awslambda.CfnFunction)
	function.AddPropertyOverride(jsii.String("VpcConfig"), map[string]any{
		"SubnetIds": []string{"subnet-0a1b"}, "SecurityGroupIds": []string{"sg-0a1b"}})
	function.AddPropertyOverride(jsii.String("Layers"), []string{"arn:aws:lambda:us-east-1:123456789012:layer:agent:1"})
	props.Synth(app)
}
