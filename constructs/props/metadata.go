package props

import (
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// AddMetadata writes what the schema says of a construct into the metadata of its stack's template, as
// "onesynth:" and the construct's path below the stack. Package check reads it there and knows
// nothing else of a schema. With it check can name what CloudFormation does not know, such as
// attributes of items, and the line of the schema that makes a change.
func AddMetadata(of constructs.Construct, metadata map[string]any) {
	location := LocationOf(of)
	location.stack.AddMetadata(jsii.String("onesynth:"+location.path), metadata)
}
