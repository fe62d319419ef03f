// Package recipes has a stack for each recipe: one thing that people add to a platform, or to an app of their own, with
// the least code that does it. Copy the function of a recipe, and the function of AWS Lambda that it names, into your
// module, and change what its comment says.
package recipes

import (
	"context"
	"path"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

// folder is where the recipes are in this module.
const folder = "examples/recipes"

// Declare declares the stacks of all recipes. root leads from the working directory to the folder of this module.
//
// One build serves all of them, because each run of the Go toolchain reads the whole module. An app with one platform
// leaves Build out of the platform's props.
func Declare(app awscdk.App, root string) {
	packages := todo.Handlers("").Packages
	for _, function := range []string{"digest", "keeper", "mailer", "page"} {
		packages = append(packages, path.Join(folder, "lambdas/todo", function))
	}
	build := gofunction.Start(context.Background(), gofunction.Source{Directory: root, Packages: packages})
	stack := func(recipe string) awscdk.Stack { return awscdk.NewStack(app, jsii.String("recipe-"+recipe), nil) }
	Queue(stack("queue"), build)
	Bucket(stack("bucket"), build)
	Issuer(stack("issuer"), build)
	Existing(stack("existing"), build)
	Schedule(stack("schedule"), build)
	Page(stack("page"), build)
	Language(stack("language"), path.Join(root, folder, "language"))
	Stages(app, build)
}
