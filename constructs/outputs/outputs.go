// Package outputs declares the stack outputs that users of a platform need. Their
// names begin with the construct's.
package outputs

import (
	"regexp"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// Outputs are the stack outputs of one platform.
type Outputs struct {
	platform constructs.Construct
	// prefix begins the names. Empty: the CDK makes them up.
	prefix string
}

var notInLogicalID = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// New returns the outputs of a platform that the construct declares. If the platform is a child of the stack, an
// output's full name is the platform's id and its own name, such as "AskAHumanApiUrl".
func New(platform, scope constructs.Construct, id string) *Outputs {
	o := &Outputs{platform: platform}
	if *awscdk.Stack_IsStack(scope) {
		o.prefix = notInLogicalID.ReplaceAllString(id, "")
	}
	return o
}

// Add declares an output.
func (o *Outputs) Add(name, description string, value *string) {
	output := awscdk.NewCfnOutput(o.platform, &name, &awscdk.CfnOutputProps{Value: value, Description: &description})
	if o.prefix != "" {
		output.OverrideLogicalId(jsii.String(o.prefix + name))
	}
}
