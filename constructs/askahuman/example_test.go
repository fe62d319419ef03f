package askahuman_test

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
)

// The zero Props are the safe ones.
func Example() {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("ask"), nil)
	askahuman.New(stack, "AskAHuman", askahuman.Props{})
	app.Synth(nil)
}

// Everything that is wrong is reported at once, before anything is declared.
func ExampleProps_Validate() {
	p := askahuman.Props{Shards: 8, ReadShards: 4, WebURL: "example.com"}
	fmt.Println(p.Validate())
	// Output:
	// 2 invalid props:
	//   Props.ReadShards: got 4, allowed is Shards to 256: leave it 0 for Shards; it is more while the number of shards changes
	//   Props.WebURL: got "example.com", allowed is an http or https URL of up to 1,024 bytes without a slash at the end, such as "https://example.com": leave out the last slash, query and fragment
}

// Another function of the app may read questions, and nothing else.
func ExampleAskAHuman_GrantAccessPatterns() {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("ask"), nil)
	platform := askahuman.New(stack, "AskAHuman", askahuman.Props{})
	reports := awsiam.NewRole(stack, jsii.String("Reports"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
	})
	platform.GrantAccessPatterns(reports, "GetQuestion", "ListResponses")
	app.Synth(nil)
}
