// Package model names a language model of Amazon Bedrock in the props of a platform, and lets its functions call that
// model alone.
package model

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Props name a model of Amazon Bedrock. The zero value names none: no function calls a model, or may do so.
//
// The account needs access to the model ("Access Amazon Bedrock foundation models"). Functions in a VPC need a way to
// the endpoint bedrock-runtime. A value that becomes known only at deployment has to be an ARN.
type Props struct {
	// ID is the id of a foundation model, such as "amazon.nova-lite-v1:0"; or the ARN of a provisioned model, or of a
	// deployment of a custom model, in the region of the stack. With the ARN of an InferenceProfile it is required: the
	// foundation model that the profile routes to. Default: the model in the id of the InferenceProfile, or none.
	ID string
	// InferenceProfile is what functions call instead of the model itself ("Use an inference profile in model
	// invocation"). It is the id of one that Amazon Bedrock has, such as "eu.amazon.nova-lite-v1:0" or
	// "global.anthropic.claude-sonnet-4-5-20250929-v1:0"; or the ARN of an application inference profile in the region
	// of the stack. Default: none.
	InferenceProfile string
	// Regions are the regions that the InferenceProfile routes to from the region of the stack, as `aws bedrock
	// get-inference-profile` lists them. Requests that Amazon Bedrock routes to another region fail. Required with the
	// id of a geography, such as "eu."; not allowed with "global.". Default with the ARN of an application inference
	// profile: the region of the stack.
	Regions []string
	// GuardrailID is the id or the ARN of a guardrail, in the region of the stack, through which requests and replies
	// pass. Default: none.
	GuardrailID string
	// GuardrailVersion is the version of the guardrail: a number, or "DRAFT". Required with
	// GuardrailID.
	GuardrailVersion string
}

// Forms of the Amazon Bedrock API reference ("Converse": modelId, guardrailIdentifier,
// guardrailVersion; "GetInferenceProfile": inferenceProfileId).
var (
	modelID  = regexp.MustCompile(`^[a-z0-9-]{1,63}\.[a-z0-9-]{1,63}([.:]?[a-z0-9-]{1,63}){0,3}$`)
	modelARN = regexp.MustCompile(
		`^arn:aws[a-z-]*:bedrock:([a-z0-9-]+):[0-9]{12}:(provisioned-model|custom-model-deployment)/[a-z0-9]{12}$`)
	profileID  = regexp.MustCompile(`^([a-z]{2}|apac|us-gov|global)\.(.+)$`)
	profileARN = regexp.MustCompile(
		`^arn:aws[a-z-]*:bedrock:([a-z0-9-]+):[0-9]{12}:application-inference-profile/[a-zA-Z0-9-]{1,64}$`)
	guardrailID      = regexp.MustCompile(`^[a-z0-9]{1,64}$`)
	guardrailARN     = regexp.MustCompile(`^arn:aws[a-z-]*:bedrock:([a-z0-9-]+):[0-9]{12}:guardrail/[a-z0-9]+$`)
	guardrailVersion = regexp.MustCompile(`^([1-9][0-9]{0,7}|DRAFT)$`)
	regionName       = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]{1,2}$`)
)

// Check adds a finding for each of the props that is invalid in the region of the stack, and one if no function of the
// platform calls a model. region is "" while it is not known. The findings' paths begin with path, such as
// "Props.Model".
func (p Props) Check(f *finding.List, path, region string, described schema.Platform) {
	called := p.called()
	if called != "" && !described.CallsModel() {
		f.Add(path, called, "none: no function of the platform calls a model",
			"leave it out, or set CallsModel of a function in the schema")
	}
	p.checkID(f, path, region)
	p.checkProfile(f, path, region)
	if p.GuardrailID != "" && called == "" {
		f.Add(path+".GuardrailID", p.GuardrailID, "none without a model", "set ID or InferenceProfile, or leave it out")
	}
	if p.GuardrailID != "" && !guardrailID.MatchString(p.GuardrailID) {
		props.CheckARN(f, path+".GuardrailID", p.GuardrailID, region, guardrailARN, "the id or the ARN of a guardrail",
			`write it such as "a1b2c3d4e5f6"`)
	}
	switch {
	case p.GuardrailID == "" && p.GuardrailVersion != "":
		f.Add(path+".GuardrailVersion", p.GuardrailVersion, "none without a GuardrailID", "set both, or leave both out")
	case p.GuardrailID != "" && !guardrailVersion.MatchString(p.GuardrailVersion) && !props.IsToken(p.GuardrailVersion):
		f.Add(path+".GuardrailVersion", p.GuardrailVersion, `a number, or "DRAFT"`,
			`write it such as "1"; a published version does not change`)
	}
}

func (p Props) checkID(f *finding.List, path, region string) {
	path += ".ID"
	system := profileID.FindStringSubmatch(p.InferenceProfile)
	switch {
	case p.ID == "":
		if p.InferenceProfile != "" && system == nil {
			f.Add(path, "", "the foundation model that the InferenceProfile routes to",
				`write its id, such as "amazon.nova-lite-v1:0"`)
		}
	case system != nil && p.ID != system[2]:
		f.Add(path, p.ID, system[2]+", as in the InferenceProfile", "leave it out")
	case profileID.MatchString(p.ID):
		f.Add(path, p.ID, "the id of a model", "write it as InferenceProfile: it is the id of one")
	case modelID.MatchString(p.ID):
	case p.InferenceProfile != "":
		f.Add(path, p.ID, "the id of a foundation model", `write it such as "amazon.nova-lite-v1:0"`)
	default:
		props.CheckARN(f, path, p.ID, region, modelARN,
			"the id of a foundation model, or the ARN of a provisioned or custom one",
			`write it such as "amazon.nova-lite-v1:0"`)
	}
}

func (p Props) checkProfile(f *finding.List, path, region string) {
	system := profileID.FindStringSubmatch(p.InferenceProfile)
	switch {
	case p.InferenceProfile == "":
	case system == nil:
		props.CheckARN(f, path+".InferenceProfile", p.InferenceProfile, region, profileARN,
			"the id of an inference profile of Amazon Bedrock, or the ARN of an application inference profile",
			`write it such as "eu.amazon.nova-lite-v1:0"`)
	case !modelID.MatchString(system[2]):
		f.Add(path+".InferenceProfile", p.InferenceProfile, "a geography and the id of a foundation model",
			`write it such as "eu.amazon.nova-lite-v1:0"`)
	}
	const remedy = "`aws bedrock get-inference-profile` lists them"
	switch {
	case p.InferenceProfile == "" && len(p.Regions) > 0:
		f.Add(path+".Regions", p.Regions, "none without an InferenceProfile",
			"a model is called in the region of the stack: leave it out")
	case p.global() && len(p.Regions) > 0:
		f.Add(path+".Regions", p.Regions, "none with a global InferenceProfile",
			"it routes to all commercial regions: leave it out")
	case system != nil && !p.global() && len(p.Regions) == 0:
		f.Add(path+".Regions", p.Regions, "the regions that the InferenceProfile routes to", remedy)
	}
	for i, r := range p.Regions {
		if !regionName.MatchString(r) && !props.IsToken(r) {
			f.Add(fmt.Sprintf("%s.Regions[%d]", path, i), r, "the name of a region",
				`write something like "eu-west-1"; `+remedy)
		}
		f.Once(path+".Regions", p.Regions, i, "region")
	}
}

func (p Props) global() bool { return strings.HasPrefix(p.InferenceProfile, "global.") }

// called is what functions call, or "".
func (p Props) called() string { return cmp.Or(p.InferenceProfile, p.ID) }

// Environment returns the variables in which a function finds the model. Without a model it is empty.
func (p Props) Environment() map[string]string {
	variables := map[string]string{}
	for name, value := range map[string]string{
		schema.ModelVariable: p.called(), schema.GuardrailVariable: p.GuardrailID,
		schema.GuardrailVersionVariable: p.GuardrailVersion,
	} {
		if value != "" {
			variables[name] = value
		}
	}
	return variables
}

// Allow lets the function call the model by the API operation Converse, which needs bedrock:InvokeModel. Without a
// model it does nothing. With an inference profile the function may call the profile, and through it alone the
// foundation model in each region of the profile ("Prerequisites for inference profiles", "Global cross-Region
// inference", Amazon Bedrock user guide; bedrock:InferenceProfileArn, Service Authorization Reference). With a
// guardrail it may apply that guardrail ("Set up permissions to use Amazon Bedrock Guardrails"); if the guardrail uses
// cross-Region inference, grant its guardrail profile yourself ("Permissions for using cross-Region inference with
// Amazon Bedrock Guardrails").
func (p Props) Allow(f *gofunction.Function) {
	if p.called() == "" {
		return
	}
	invoke := []string{"bedrock:InvokeModel"}
	if p.InferenceProfile == "" {
		f.Allow(invoke, arn(f, p.ID, "", "foundation-model/"))
	} else {
		profile := arn(f, p.InferenceProfile, *awscdk.Stack_Of(f).Account(), "inference-profile/")
		f.Allow(invoke, profile)
		f.Role.AddToPrincipalPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Actions:    jsii.Strings(invoke...),
			Resources:  jsii.Strings(p.destinations(f)...),
			Conditions: &map[string]any{"StringEquals": map[string]any{"bedrock:InferenceProfileArn": profile}},
		}))
	}
	if p.GuardrailID != "" {
		f.Allow([]string{"bedrock:ApplyGuardrail"}, arn(f, p.GuardrailID, *awscdk.Stack_Of(f).Account(), "guardrail/"))
	}
}

// destinations are the ARNs of the foundation model where the inference profile routes to.
func (p Props) destinations(of constructs.Construct) []string {
	stack := awscdk.Stack_Of(of)
	id := p.ID
	if system := profileID.FindStringSubmatch(p.InferenceProfile); system != nil {
		id = system[2]
	}
	regions := p.Regions
	switch {
	case p.global():
		// The ARN of the model names no region for a request that leaves the region.
		regions = []string{*stack.Region(), ""}
	case len(regions) == 0:
		regions = []string{*stack.Region()}
	}
	return props.Map(regions, func(region string) string {
		return fmt.Sprintf("arn:%s:bedrock:%s::foundation-model/%s", *stack.Partition(), region, id)
	})
}

// arn returns the ARN of a resource of Amazon Bedrock in the region of the stack: the given one, or
// the ARN of the id.
func arn(of constructs.Construct, id, account, kind string) string {
	if strings.HasPrefix(id, "arn:") || props.IsToken(id) {
		return id
	}
	stack := awscdk.Stack_Of(of)
	return fmt.Sprintf("arn:%s:bedrock:%s:%s:%s%s", *stack.Partition(), *stack.Region(), account, kind, id)
}
