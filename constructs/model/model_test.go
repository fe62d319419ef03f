package model_test

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/constructs/model"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// calling is a platform with a function that calls a model.
var calling = schema.Platform{Functions: []schema.Function{{Name: "judge", CallsModel: true}}}

// What these props let a function do is in the test of package platform.
func TestPropsCheck(t *testing.T) {
	t.Parallel()
	const (
		lite        = "amazon.nova-lite-v1:0"
		provisioned = "arn:aws:bedrock:eu-west-1:111122223333:provisioned-model/a1b2c3d4e5f6"
		application = "arn:aws:bedrock:eu-west-1:111122223333:application-inference-profile/a1b2c3"
		guardrail   = "arn:aws:bedrock:eu-west-1:111122223333:guardrail/a1b2c3"
		token       = "${Token[Model.Arn.7]}"
	)
	for name, test := range map[string]struct {
		props model.Props
		want  []string
	}{
		"OK":               {model.Props{}, nil},
		"OKFoundation":     {model.Props{ID: "anthropic.claude-3-haiku-20240307-v1:0:48k"}, nil},
		"OKVersionWithDot": {model.Props{ID: "minimax.minimax-m2.1"}, nil},
		"OKProvisioned":    {model.Props{ID: provisioned}, nil},
		"OKToken":          {model.Props{ID: token, GuardrailID: token, GuardrailVersion: token}, nil},
		"OKGeography":      {model.Props{InferenceProfile: "us-gov." + lite, Regions: []string{"us-gov-west-1"}}, nil},
		"OKSameModel": {model.Props{ID: lite, InferenceProfile: "apac." + lite,
			Regions: []string{"ap-south-1", token}}, nil},
		"OKGlobal": {model.Props{InferenceProfile: "global." + lite}, nil},
		"OKApplication": {model.Props{ID: lite, InferenceProfile: application,
			Regions: []string{"eu-west-1", "eu-west-3"}}, nil},
		"OKProfileToken": {model.Props{ID: lite, InferenceProfile: token}, nil},
		"OKGuardrail":    {model.Props{ID: lite, GuardrailID: guardrail, GuardrailVersion: "DRAFT"}, nil},
		"ErrID":          {model.Props{ID: "Nova Lite"}, []string{"ID"}},
		"ErrWildcard":    {model.Props{ID: "amazon.*"}, []string{"ID"}},
		"ErrARNOfWildcard": {model.Props{ID: "arn:aws:bedrock:eu-west-1:111122223333:provisioned-model/*"},
			[]string{"ID"}},
		"ErrFoundationARN": {model.Props{ID: "arn:aws:bedrock:eu-west-1::foundation-model/" + lite}, []string{"ID"}},
		// Converse takes no imported model.
		"ErrImported": {model.Props{ID: "arn:aws:bedrock:eu-west-1:111122223333:imported-model/a1b2c3d4e5f6"},
			[]string{"ID"}},
		"ErrProfileAsID": {model.Props{ID: "eu." + lite}, []string{"ID"}},
		"ErrOtherRegion": {
			model.Props{ID: "arn:aws:bedrock:us-east-1:111122223333:custom-model-deployment/a1b2c3d4e5f6"},
			[]string{"ID"}},
		"ErrOtherModel": {model.Props{ID: "amazon.nova-pro-v1:0", InferenceProfile: "eu." + lite,
			Regions: []string{"eu-west-1"}}, []string{"ID"}},
		"ErrNoModel":        {model.Props{InferenceProfile: application}, []string{"ID"}},
		"ErrTokenOfProfile": {model.Props{ID: token, InferenceProfile: application}, []string{"ID"}},
		"ErrProfile":        {model.Props{ID: lite, InferenceProfile: "best"}, []string{"InferenceProfile"}},
		"ErrProfileModel": {model.Props{InferenceProfile: "eu.best", Regions: []string{"eu-west-1"}},
			[]string{"InferenceProfile"}},
		"ErrProfileRegion": {model.Props{ID: lite,
			InferenceProfile: "arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/a1"},
			[]string{"InferenceProfile"}},
		"ErrSystemARN": {model.Props{ID: lite,
			InferenceProfile: "arn:aws:bedrock:eu-west-1:111122223333:inference-profile/eu." + lite},
			[]string{"InferenceProfile"}},
		"ErrNoRegions":      {model.Props{InferenceProfile: "eu." + lite}, []string{"Regions"}},
		"ErrRegionsOfModel": {model.Props{ID: lite, Regions: []string{"eu-west-1"}}, []string{"Regions"}},
		"ErrRegionsGlobal": {model.Props{InferenceProfile: "global." + lite, Regions: []string{"eu-west-1"}},
			[]string{"Regions"}},
		"ErrRegions": {model.Props{InferenceProfile: "eu." + lite,
			Regions: []string{"eu-*", "eu-west-1", "eu-west-1"}}, []string{"Regions[0]", "Regions[2]"}},
		"ErrGuardrailAlone": {model.Props{GuardrailID: "a1b2c3", GuardrailVersion: "1"}, []string{"GuardrailID"}},
		"ErrGuardrail": {model.Props{ID: lite, GuardrailID: "my guardrail", GuardrailVersion: "1"},
			[]string{"GuardrailID"}},
		"ErrNoVersion": {model.Props{ID: lite, GuardrailID: "a1b2c3"}, []string{"GuardrailVersion"}},
		"ErrVersion": {model.Props{ID: lite, GuardrailID: "a1b2c3", GuardrailVersion: "0"},
			[]string{"GuardrailVersion"}},
		"ErrVersionAlone": {model.Props{ID: lite, GuardrailVersion: "1"}, []string{"GuardrailVersion"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want []string
			for _, path := range test.want {
				want = append(want, "Props.Model."+path)
			}
			synthtest.Findings(t, want, func(f *finding.List) {
				test.props.Check(f, "Props.Model", "eu-west-1", calling)
			})
		})
	}
}

// A model that no function calls is without effect.
func TestPropsCheckUncalled(t *testing.T) {
	t.Parallel()
	synthtest.Findings(t, []string{"Props.Model"}, func(f *finding.List) {
		model.Props{ID: "amazon.nova-lite-v1:0"}.Check(f, "Props.Model", "", schema.Platform{})
		model.Props{}.Check(f, "Props.Model", "", schema.Platform{})
	})
}
