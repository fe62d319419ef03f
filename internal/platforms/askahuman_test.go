package platforms_test

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	askahumanplatform "github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

// The stacks of Ask-a-Human alone.
var _ = ofPlatform("askahuman", stacks{
	// Two tables, one of them in another stack of the app, and the push credentials exist already;
	// other tables have options; other functions get grants on the platform's resources; and people see what others
	// chose.
	"existing": func(stack awscdk.Stack, build *gofunction.Build) {
		responses, _ := askahumanplatform.Platform().Database.Table("Responses")
		shared := awscdk.NewStack(stack.Node().Root().(constructs.Construct), jsii.String("shared"), nil)
		declared := askahuman.New(stack, "AskAHuman", askahuman.Props{
			ShareOptions: true,
			Props: platform.Props{
				Build: build, Tables: table.DatabaseOptions{
					All:  table.Options{RecoveryDays: 7, MaximumReadUnits: 100},
					Each: map[string]table.Options{"Guards": {RecoveryDays: 1}},
					Existing: map[string]awsdynamodb.ITable{
						"Questions": awsdynamodb.TableV2_FromTableAttributes(stack, jsii.String("Imported"),
							&awsdynamodb.TableAttributesV2{
								TableArn: jsii.String("arn:aws:dynamodb:eu-west-1:123456789012:table/asked"),
								TableStreamArn: jsii.String(
									"arn:aws:dynamodb:eu-west-1:123456789012:table/asked/stream/2026-01-01T00:00:00.000"),
							}),
						"Responses": table.New(shared, "Responses", table.Props{Table: responses}).Resource,
					},
				},
			},
			FCMCredentials: awssecretsmanager.Secret_FromSecretCompleteArn(stack, jsii.String("Push"),
				jsii.String("arn:aws:secretsmanager:eu-west-1:123456789012:secret:push-AbCdEf")),
		})
		role := awsiam.NewRole(stack, jsii.String("Operator"),
			&awsiam.RoleProps{AssumedBy: awsiam.NewAccountRootPrincipal()})
		declared.GrantAccessPatterns(role, "GetQuestion", "ListOpenQuestions")
		declared.GrantRunNotifier(role)
		declared.FCMCredentials.GrantRead(declared.AgentAPI.Resource, nil)
	},
})
