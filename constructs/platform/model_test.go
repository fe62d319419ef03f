package platform_test

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/model"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/schema"
)

const (
	provisioned = "arn:aws:bedrock:eu-west-1:111122223333:provisioned-model/a1b2c3d4e5f6"
	application = "arn:aws:bedrock:eu-west-1:111122223333:application-inference-profile/a1b2c3"
	guardrail   = "arn:aws:bedrock:eu-west-1:111122223333:guardrail/a1b2c3"
)

// called are the models that platforms call, by the id of their construct.
var called = map[string]model.Props{
	"None":        {},
	"Foundation":  {ID: "amazon.nova-lite-v1:0"},
	"Provisioned": {ID: provisioned, GuardrailID: guardrail, GuardrailVersion: "DRAFT"},
	"Geography": {InferenceProfile: "eu.amazon.nova-lite-v1:0", Regions: []string{"eu-central-1", "eu-west-1"},
		GuardrailID: "a1b2c3", GuardrailVersion: "7"},
	"Global":      {InferenceProfile: "global.anthropic.claude-sonnet-4-5-20250929-v1:0"},
	"Application": {ID: "amazon.nova-lite-v1:0", InferenceProfile: application},
}

// calling is a platform with a function that calls a model, and another that does not.
func calling() schema.Platform {
	described := own()
	described.Lakes, described.Routes = nil, nil
	described.Functions[0].Trigger, described.Functions[0].CallsModel,
		described.Functions[0].Timeout = schema.OnOther{}, true, 30*time.Second
	described.Functions = append(described.Functions,
		schema.Function{Name: "report", Description: "reports", Trigger: schema.OnOther{}})
	return described
}

// declareModels declares the platforms in one stack of a known account and region. A function may call exactly the
// model that it finds in its environment, and that which an inference profile routes to only through the profile.
func declareModels(app awscdk.App, build *gofunction.Build) {
	stack := awscdk.NewStack(app, jsii.String("models"),
		&awscdk.StackProps{Env: &awscdk.Environment{Account: jsii.String("111122223333"),
			Region: jsii.String("eu-west-1")}})
	props := platform.Props{Build: build, NoAlarms: true, NoDashboard: true}
	for id, called := range called {
		platform.Declare(&others{}, stack, id, calling(), platform.Declaration{Props: props, Model: called})
	}
}
