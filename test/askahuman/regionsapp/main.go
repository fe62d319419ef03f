// Command regionsapp is an app with Ask-a-Human in two regions. With the argument "second", the second region has taken
// over.
//
// Both stacks name one region, since a run has one table of a name. Of two regions, the second stack would name the
// replicas of the first one's tables and secrets, which have the same names.
package main

import (
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/table"
)

func main() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	in := func(name string) awscdk.Stack {
		return awscdk.NewStack(app, &name, &awscdk.StackProps{
			Env: &awscdk.Environment{Account: jsii.String("123456789012"), Region: jsii.String("us-east-1")}})
	}
	taken := len(os.Args) > 1 && os.Args[1] == "second"
	with := func(p platform.Props) askahuman.Props {
		p.RemoveWithStack, p.NoAlarms, p.NoDashboard = true, true, true
		return askahuman.Props{Props: p, AgentKeys: true, WithoutPage: true, WithoutMCP: true}
	}
	first := with(platform.Props{Standby: taken, Prefix: "regions", SecretReplicas: map[string]string{"eu-west-1": ""},
		Tables: table.DatabaseOptions{All: table.Options{Replicas: []table.Replica{{Region: "eu-west-1"}}}}})
	one := askahuman.New(in("first"), "First", first)

	second := with(platform.Props{Standby: !taken, Secrets: one.Secrets,
		Tables: table.DatabaseOptions{Existing: map[string]awsdynamodb.ITable{}}})
	for _, t := range one.Database.Tables {
		second.Tables.Existing[t.Schema.Name] = t.Resource
	}
	second.Operators = platform.UserProps{UserPool: one.Users.Resource,
		UserPoolClients: []awscognito.IUserPoolClient{one.Users.Client}}
	askahuman.New(in("second"), "Second", second)
	app.Synth(nil)
}
