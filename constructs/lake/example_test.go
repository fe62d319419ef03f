package lake_test

import (
	"context"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/lake"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// The changes of a table become files that Amazon Athena queries.
func ExampleNew() {
	build := gofunction.Start(context.Background(), gofunction.Source{Packages: lake.Packages()})

	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("todo"), nil)
	platform := todo.Platform()
	database := table.NewDatabase(stack, "Database", table.DatabaseProps{Database: platform.Database})
	lake.New(stack, "Lake", lake.Props{
		Table:    database.Table(platform.Lakes[0].Table),
		Database: platform.Database,
		Lake:     platform.Lakes[0],
		Build:    build,
		Options:  lake.Options{LakeRetentionDays: 365},
	})
	app.Synth(nil)
}
