package platforms_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/check"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
	"github.com/onesynth-cdk/onesynth/internal/platforms/platformtest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// The stacks of To-Do alone.
var _ = ofPlatform("todo", stacks{
	// The platform uses a table, a user pool and a domain's zone that exist already, replicates its secret, and is the
	// standby.
	"existing": func(stack awscdk.Stack, build *gofunction.Build) {
		const tasks = "arn:aws:dynamodb:eu-west-1:123456789012:table/tasks"
		zone := awsroute53.HostedZone_FromHostedZoneAttributes(stack, jsii.String("Zone"),
			&awsroute53.HostedZoneAttributes{HostedZoneId: jsii.String("Z1"), ZoneName: jsii.String("example.com")})
		todo.New(stack, "Todo", todo.Props{
			Props: platform.Props{
				Build: build, Standby: true, SecretReplicas: map[string]string{"us-east-1": ""},
				DomainName: "tasks.example.com", HostedZone: zone,
				TrustStore: httpapi.TrustStore{URI: "s3://trust/authorities.pem", Version: "3"},
				Certificate: awscertificatemanager.NewCertificate(stack, jsii.String("Certificate"),
					&awscertificatemanager.CertificateProps{
						DomainName: jsii.String("tasks.example.com"),
						Validation: awscertificatemanager.CertificateValidation_FromDns(zone),
					}),
				TimeoutSeconds: map[string]int{"todoapi": 20, "eraser": 600, "writer": 60},
				Tables: table.DatabaseOptions{
					Existing: map[string]awsdynamodb.ITable{
						"AppData": awsdynamodb.TableV2_FromTableAttributes(stack, jsii.String("Imported"),
							&awsdynamodb.TableAttributesV2{
								TableArn: jsii.String(tasks), TableStreamArn: jsii.String(tasks +
									"/stream/2026-01-01T00:00:00.000"),
							})},
				},
			},
			UserProps: platform.UserProps{
				UserPool: awscognito.UserPool_FromUserPoolArn(stack, jsii.String("Pool"),
					jsii.String("arn:aws:cognito-idp:us-east-1:123456789012:userpool/us-east-1_existing")),
				UserPoolClients: []awscognito.IUserPoolClient{
					awscognito.UserPoolClient_FromUserPoolClientId(stack, jsii.String("Client"), jsii.String("app"))},
			},
		})
	},
	// Other functions get grants on the platform's resources, the pool calls a function before a
	// sign-up, and functions run in chosen subnets.
	"granted": func(stack awscdk.Stack, build *gofunction.Build) {
		declared := todo.New(stack, "Todo", todo.Props{
			Props: platform.Props{
				Build: build, Key: awskms.NewKey(stack, jsii.String("Key"), nil),
				VPC: awsec2.Vpc_FromVpcAttributes(stack, jsii.String("Network"), &awsec2.VpcAttributes{
					VpcId: jsii.String("vpc-1"), AvailabilityZones: jsii.Strings("eu-west-1a", "eu-west-1b"),
					IsolatedSubnetIds: jsii.Strings("subnet-1", "subnet-2"),
				}),
				Subnets: awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED},
			},
			UserProps: platform.UserProps{UserPoolTriggers: awscognito.UserPoolTriggers{
				PreSignUp: awslambda.Function_FromFunctionAttributes(stack, jsii.String("PreSignUp"),
					&awslambda.FunctionAttributes{
						FunctionArn:     jsii.String("arn:aws:lambda:eu-west-1:123456789012:function:greeter"),
						SameEnvironment: jsii.Bool(true),
					}),
			}},
		})
		operator := awsiam.NewRole(stack, jsii.String("Operator"),
			&awsiam.RoleProps{AssumedBy: awsiam.NewAccountRootPrincipal()})
		declared.GrantAccessPatterns(operator, "GetTask", "ListTasksByStatus")
		declared.Lakes["todo"].GrantCompact(operator)
		declared.Lakes["todo"].GrantQuery(awsiam.NewRole(stack, jsii.String("Analyst"),
			&awsiam.RoleProps{AssumedBy: awsiam.NewAccountRootPrincipal()}))
	},
})

// The check of a deployment names the lines of the schema, from the template's metadata.
func TestCheckNamesTheSchema(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	at := func(v any, names ...any) object {
		found, ok := synthtest.At(v, names...).(object)
		if !ok {
			t.Fatalf("the template has no %v", names)
		}
		return found
	}
	parse := func(source string) *check.Template {
		return must.Get(check.Parse([]byte(source)))(t)
	}
	deployed := parse(variants["todo"][platformtest.Zero].Template.Source)
	for want, change := range map[string]func(resources, metadata object){
		"attribute-title: Tables[AppData].Attributes, without title, of the schema": func(_, metadata object) {
			delete(at(metadata, "onesynth:Todo/Database/AppData", "attributes"), "title")
		},
		"ttl-off: Tables[AppData].TimeToLive of the schema": func(resources, metadata object) {
			delete(at(resources, "TodoDatabaseAppDataA1556560", "Properties"), "TimeToLiveSpecification")
			delete(at(metadata, "onesynth:Todo/Database/AppData"), "timeToLive")
		},
		"column-title: Lakes[todo].Entities[task].Columns[title] of the schema": func(_, metadata object) {
			at(metadata, "onesynth:Todo/Lake", "tables", "task_changes", "attributes")["title"] = "heading"
		},
		"column-task_id: Lakes[todo].Entities[task].Columns[task_id] of the schema": func(_, metadata object) {
			attributes := at(metadata, "onesynth:Todo/Lake", "tables", "task_changes", "attributes")
			if attributes["task_id"] != "SK without TASK#" {
				t.Fatalf("task_id: got %v", attributes["task_id"])
			}
			attributes["task_id"] = "SK"
		},
		"drop: the schema, without Lakes[todo].Views[kpis]": func(resources, metadata object) {
			delete(resources, "TodoLakeCatalogkpisDFC72755")
		},
		"grants: AccessPatterns of the schema that are UsedBy todoapi": func(resources, metadata object) {
			delete(resources, "TodoTodoAPIRoleDefaultPolicy8D9151A4")
			at(metadata, "onesynth:Todo/TodoAPI")["grants"] = []any{}
		},
		"open: Routes[GET /api/v1/tasks/{task_id}] of the schema": func(resources, _ object) {
			at(resources, "TodoAPIGETapiv1taskstaskid7496802C", "Properties")["AuthorizationType"] = "NONE"
		},
	} {
		var template object
		must.OK(t, json.Unmarshal([]byte(variants["todo"][platformtest.Zero].Template.Source), &template))
		change(at(template, "Resources"), at(template, "Metadata"))
		source := must.Get(json.Marshal(template))(t)
		var got []string
		for _, f := range check.Compare(deployed, parse(string(source)), check.Environment{}) {
			what, _, _ := strings.Cut(f.ID, ":")
			got = append(got, what+": "+f.By)
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
