package platform_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/model"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

const (
	provisioned = "arn:aws:bedrock:eu-west-1:111122223333:provisioned-model/a1b2c3d4e5f6"
	application = "arn:aws:bedrock:eu-west-1:111122223333:application-inference-profile/a1b2c3"
	guardrail   = "arn:aws:bedrock:eu-west-1:111122223333:guardrail/a1b2c3"
)

// called are platforms that call models, by the id of their construct: what the function finds in
// its environment, and what it may do. An ARN is without its beginning, "arn:PARTITION:bedrock".
var called = map[string]struct {
	model     model.Props
	variables map[string]string
	allowed   []string
}{
	"None": {model.Props{}, map[string]string{}, nil},
	"Foundation": {
		model.Props{ID: "amazon.nova-lite-v1:0"},
		map[string]string{"MODEL_ID": "amazon.nova-lite-v1:0"},
		[]string{"bedrock:InvokeModel :eu-west-1::foundation-model/amazon.nova-lite-v1:0"},
	},
	"Provisioned": {
		model.Props{ID: provisioned, GuardrailID: guardrail, GuardrailVersion: "DRAFT"},
		map[string]string{"MODEL_ID": provisioned, "GUARDRAIL_ID": guardrail, "GUARDRAIL_VERSION": "DRAFT"},
		[]string{"bedrock:ApplyGuardrail :eu-west-1:111122223333:guardrail/a1b2c3",
			"bedrock:InvokeModel :eu-west-1:111122223333:provisioned-model/a1b2c3d4e5f6"},
	},
	"Geography": {
		model.Props{InferenceProfile: "eu.amazon.nova-lite-v1:0", Regions: []string{"eu-central-1", "eu-west-1"},
			GuardrailID: "a1b2c3", GuardrailVersion: "7"},
		map[string]string{"MODEL_ID": "eu.amazon.nova-lite-v1:0", "GUARDRAIL_ID": "a1b2c3", "GUARDRAIL_VERSION": "7"},
		[]string{
			"bedrock:ApplyGuardrail :eu-west-1:111122223333:guardrail/a1b2c3",
			"bedrock:InvokeModel :eu-central-1::foundation-model/amazon.nova-lite-v1:0 through " +
				":eu-west-1:111122223333:inference-profile/eu.amazon.nova-lite-v1:0",
			"bedrock:InvokeModel :eu-west-1:111122223333:inference-profile/eu.amazon.nova-lite-v1:0",
			"bedrock:InvokeModel :eu-west-1::foundation-model/amazon.nova-lite-v1:0 through " +
				":eu-west-1:111122223333:inference-profile/eu.amazon.nova-lite-v1:0",
		},
	},
	"Global": {
		model.Props{InferenceProfile: "global.anthropic.claude-sonnet-4-5-20250929-v1:0"},
		map[string]string{"MODEL_ID": "global.anthropic.claude-sonnet-4-5-20250929-v1:0"},
		[]string{
			"bedrock:InvokeModel :::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0 through " +
				":eu-west-1:111122223333:inference-profile/global.anthropic.claude-sonnet-4-5-20250929-v1:0",
			"bedrock:InvokeModel " +
				":eu-west-1:111122223333:inference-profile/global.anthropic.claude-sonnet-4-5-20250929-v1:0",
			"bedrock:InvokeModel :eu-west-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0 through " +
				":eu-west-1:111122223333:inference-profile/global.anthropic.claude-sonnet-4-5-20250929-v1:0",
		},
	},
	"Application": {
		model.Props{ID: "amazon.nova-lite-v1:0", InferenceProfile: application},
		map[string]string{"MODEL_ID": application},
		[]string{
			"bedrock:InvokeModel :eu-west-1:111122223333:application-inference-profile/a1b2c3",
			"bedrock:InvokeModel :eu-west-1::foundation-model/amazon.nova-lite-v1:0 through " +
				":eu-west-1:111122223333:application-inference-profile/a1b2c3",
		},
	},
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

// declareModels declares the platforms in one stack of a known account and region.
func declareModels(app awscdk.App, build *gofunction.Build) {
	stack := awscdk.NewStack(app, jsii.String("models"),
		&awscdk.StackProps{Env: &awscdk.Environment{Account: jsii.String("111122223333"),
			Region: jsii.String("eu-west-1")}})
	props := platform.Props{Build: build, NoAlarms: true, NoDashboard: true}
	for id, c := range called {
		platform.Declare(&others{}, stack, id, calling(), platform.Declaration{Props: props, Model: c.model})
	}
}

func checked(p model.Props) error {
	var f finding.List
	p.Check(&f, "Props.Model", "eu-west-1", calling())
	return f.Err()
}

// A function may call exactly the model that it finds in its environment, and that which an
// inference profile routes to only through the profile.
func TestDeclareModel(t *testing.T) {
	t.Parallel()
	short := strings.NewReplacer("arn:AWS::Partition:bedrock", "", "arn:aws:bedrock", "")
	for id, want := range called {
		_, function := models.One(t, "AWS::Lambda::Function", id+"Hello")
		variables := map[string]string{}
		for _, name := range []string{"MODEL_ID", "GUARDRAIL_ID", "GUARDRAIL_VERSION"} {
			if value := synthtest.At(function.Properties, "Environment", "Variables", name); value != nil {
				variables[name] = synthtest.Text(value)
			}
		}
		if diff := cmp.Diff(want.variables, variables); diff != "" {
			t.Errorf("%s: variables (-want +got):\n%s", id, diff)
		}
		if got := synthtest.Paths(t, checked(want.model)); got != nil {
			t.Errorf("%s: got findings at %v, want none", id, got)
		}
	}
	allowed := map[string][]string{}
	for _, s := range models.Statements() {
		for _, action := range s.Actions {
			if !strings.HasPrefix(action, "bedrock:") {
				continue
			}
			owner, _, _ := strings.Cut(s.Owner, "Hello")
			through := ""
			if s.Condition != nil {
				through = " through " + short.Replace(
					synthtest.Text(synthtest.At(s.Condition, "StringEquals", "bedrock:InferenceProfileArn")))
			}
			for _, r := range s.Resources {
				allowed[owner] = append(allowed[owner], action+" "+short.Replace(r)+through)
			}
		}
	}
	want := map[string][]string{}
	for id, c := range called {
		if c.allowed != nil {
			want[id] = c.allowed
		}
	}
	for _, lines := range allowed {
		slices.Sort(lines)
	}
	if diff := cmp.Diff(want, allowed); diff != "" {
		t.Errorf("allowed, by platform (-want +got):\n%s", diff)
	}
}
