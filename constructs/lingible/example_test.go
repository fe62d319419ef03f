package lingible_test

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/lingible"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// The zero Props are the safe ones.
func Example() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("lingible"), nil)
	lingible.New(stack, "Lingible", lingible.Props{})
	app.Synth(nil)
}

// Everything that is wrong is reported at once, before anything is declared.
func ExampleProps_Validate() {
	p := lingible.Props{Props: platform.Props{LocalPort: 80}, VotesToApprove: -1, TimeZone: "Mars/Olympus"}
	fmt.Println(p.Validate())
	// Output:
	// 3 findings:
	//   Props.LocalPort: got 80, allowed is 1024 to 65535: leave it 0 for the default
	//   Props.VotesToApprove: got -1, allowed is 1 to 1000: leave it 0 for 10
	//   Props.TimeZone: got "Mars/Olympus", allowed is the IANA name of a time zone, such as "Europe/Vienna": leave it empty for America/Chicago
}
