// Command app is the CDK app with the stacks of all recipes.
package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"

	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/examples/recipes"
)

func main() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	recipes.Declare(app, "../..") // the command runs in the folder of the recipes
	props.Synth(app)
}
