package clarity_test

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/clarity"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// The zero Props are the safe ones.
func Example() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("clarity"), nil)
	clarity.New(stack, "Clarity", clarity.Props{})
	app.Synth(nil)
}

// Everything that is wrong is reported at once, before anything is declared.
func ExampleProps_Validate() {
	p := clarity.Props{Props: platform.Props{LocalPort: 80}, EvaluationsPerDay: -1, ProfileRetentionDays: 6}
	fmt.Println(p.Validate())
	// Output:
	// 3 findings:
	//   Props.LocalPort: got 80, allowed is 1024 to 65535: leave it 0 for the default
	//   Props.EvaluationsPerDay: got -1, allowed is 1 to 10000: leave it 0 for 20
	//   Props.ProfileRetentionDays: got 6, allowed is 7 to 36500: leave it 0 for 365
}
