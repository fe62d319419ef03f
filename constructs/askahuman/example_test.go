package askahuman_test

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2integrations"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// The zero Props are the safe ones.
func Example() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("ask"), nil)
	askahuman.New(stack, "AskAHuman", askahuman.Props{})
	app.Synth(nil)
}

// Everything that is wrong is reported at once, before anything is declared.
func ExampleProps_Validate() {
	p := askahuman.Props{Shards: 8, ReadShards: 4, QuestionURL: "example.com"}
	fmt.Println(p.Validate())
	// Output:
	// 2 findings:
	//   Props.ReadShards: got 4, allowed is Shards to 256: leave it 0 for Shards; it is more while the number of shards changes
	//   Props.QuestionURL: got "example.com", allowed is an http or https URL of up to 1,024 bytes, or a path that begins with one slash, with {question_id} once: write it such as "https://example.com/questions/{question_id}"
}

// Another function of the app has a route on the platform's API, for agents with a
// token. It may read questions and answers, and nothing else.
func ExampleAskAHuman_GrantAccessPatterns() {
	defer props.Close()
	app := awscdk.NewApp(nil)
	stack := awscdk.NewStack(app, jsii.String("ask"), nil)
	platform := askahuman.New(stack, "AskAHuman", askahuman.Props{})
	report := gofunction.New(stack, "Report",
		gofunction.Props{Package: "handlers/report", Environment: platform.Database.Environment()})
	platform.GrantAccessPatterns(report.Role, "GetQuestion", "ListResponses")
	platform.API.Resource.AddRoutes(&awsapigatewayv2.AddRoutesOptions{
		Path:    jsii.String("/reports/{question_id}"),
		Methods: &[]awsapigatewayv2.HttpMethod{awsapigatewayv2.HttpMethod_GET},
		Integration: awsapigatewayv2integrations.NewHttpLambdaIntegration(jsii.String("ReportIntegration"),
			report.Resource, nil),
		Authorizer: platform.API.Authorizer,
	})
	app.Synth(nil)
}
