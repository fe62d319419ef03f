package recipes

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

// Existing gives To-Do a table that is there already, such as one that outlived its stack. The functions get grants on
// it, and the stack leaves it as it is. It needs the key, the indexes, the stream and the time to live that To-Do
// declares (platforms/todo). AWS CloudFormation does not compare them.
//
// Change the ARNs: "aws dynamodb describe-table" prints both. A table with a customer managed key also has an
// EncryptionKey here.
func Existing(stack awscdk.Stack, build *gofunction.Build) {
	const arn = "arn:aws:dynamodb:eu-central-1:123456789012:table/company-tasks"
	tasks := awsdynamodb.TableV2_FromTableAttributes(stack, jsii.String("Tasks"), &awsdynamodb.TableAttributesV2{
		TableArn: jsii.String(arn), TableStreamArn: jsii.String(arn + "/stream/2026-01-01T00:00:00.000"),
	})
	todo.New(stack, "Todo", todo.Props{Props: platform.Props{
		Tables: table.DatabaseOptions{Existing: map[string]awsdynamodb.ITable{"AppData": tasks}}, Build: build,
	}})
}
