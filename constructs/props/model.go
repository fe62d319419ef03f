package props

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// Tell writes what the schema says of a construct into the metadata of its stack's template, as
// "onesynth:" and the construct's path below the stack. Package check reads it there and knows
// nothing else of a schema. With it check can name what CloudFormation does not know, such as
// attributes of items, and the line of the schema that makes a change.
func Tell(of constructs.Construct, model map[string]any) {
	stack := awscdk.Stack_Of(of)
	path := strings.TrimPrefix(*of.Node().Path(), *stack.Node().Path()+"/")
	stack.AddMetadata(jsii.String("onesynth:"+path), model)
}
