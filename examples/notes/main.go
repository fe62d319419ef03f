// Command notes is a CDK app with a data model, routes and a handler of its own.
package main

import (
	"log"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"example.com/notes/notes"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/table"
)

func main() {
	platform := notes.Platform()
	if err := platform.Validate(); err != nil {
		log.Fatal(err)
	}
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("notes"), nil)
	database := table.NewDatabase(stack, "Database", table.DatabaseProps{Database: platform.Database})
	functions := map[string]*gofunction.Function{}
	for _, f := range platform.Functions {
		function := gofunction.New(stack, f.Name, gofunction.Props{
			Package:     "handlers/" + f.Name,
			Environment: database.Environment(),
		})
		database.Grant(function.Role, platform.Grants(f)...)
		functions[f.Name] = function
	}
	httpapi.New(stack, "API", httpapi.Props{Name: platform.Title, Routes: platform.Routes, Functions: functions})
	app.Synth(nil)
}
