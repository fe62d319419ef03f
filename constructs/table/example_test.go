package table_test

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// A data model becomes its tables, and what a function declares its grants.
func ExampleNewDatabase() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("ask"), nil)
	platform := askahuman.Platform()
	database := table.NewDatabase(stack, "Database", table.DatabaseProps{Database: platform.Database})

	role := awsiam.NewRole(stack, jsii.String("Notifier"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
	})
	database.Grant(role, platform.GrantsOf("notifier")...)
	app.Synth(nil)
}
