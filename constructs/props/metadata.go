package props

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
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

// WriteFile writes a file of a construct into the cloud assembly, beside the template of its stack. The file has the
// template's name, with ending in place of .template.json. WriteFile ends the program, by [Fatal], if it cannot write.
func WriteFile(of constructs.Construct, ending string, content []byte) {
	template := strings.TrimSuffix(*LocationOf(of).stack.TemplateFile(), ".template.json")
	name := filepath.Join(*awscdk.Stage_Of(of).Outdir(), template+ending)
	if err := os.WriteFile(name, content, 0o600); err != nil {
		Fatal(fmt.Errorf("%s: write into the cloud assembly: %w", *of.Node().Path(), err))
	}
}
