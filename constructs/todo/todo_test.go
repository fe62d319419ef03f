package todo_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/identity"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

// templates are those of all variants.
var templates map[string]synthtest.Template

// existing is the template of a stack whose platform has a table that is there
// already.
var existing synthtest.Template

// preSignUp is the function that a user pool in several calls.
const preSignUp = "arn:aws:lambda:eu-west-1:123456789012:function:greeter"

const existingTable = "arn:aws:dynamodb:eu-west-1:123456789012:table/tasks"

// several is the template of a stack with three platforms.
var several synthtest.Template

// variants are the props under test, by stack name.
func variants() map[string]todo.Props {
	return map[string]todo.Props{
		"default": {},
		"dev":     {Props: platform.Props{RemoveWithStack: true, NoAlarms: true, NoDashboard: true}},
		"prod":    {Props: platform.Props{Prefix: "acme-todo", DeletionProtection: true}},
		"x86": {
			Props: platform.Props{
				Architecture: gofunction.X86_64, AlarmEmail: "ops@example.com",
			},
			UserProps: platform.UserProps{
				InviteOnly: true, RequireMFA: true,
				Email:        identity.Email{From: "To-Do <hello@mail.example.com>", ReplyTo: "help@example.com", Identity: "example.com", ConfigurationSet: "mail"},
				CallbackURLs: []string{"https://example.com/in", "http://localhost:3000/in"}, LogoutURLs: []string{"https://example.com/out"},
			},
		},
		"own": {
			Props: platform.Props{
				DomainName: "api.example.com", CertificateARN: "arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d-1111-2222-3333-444455556666", KeepDefaultEndpoint: true,
				RouteThrottles:  map[string]httpapi.Throttle{"POST /api/v1/tasks/bulk": {RequestsPerSecond: 5, Burst: 7}},
				MemoryMegabytes: map[string]int{"eraser": 512, "compactor": 3008}, ReservedConcurrency: map[string]int{"todoapi": 100, "writer": 10},
				Alarms: map[string]alarm.Options{
					"SlowAlarm": {Threshold: 2500, Periods: 2, Period: 10 * time.Minute}, "ServerErrorAlarm": {Period: time.Minute}, "ClientErrorAlarm": {Off: true},
					"EraserAlarm": {TopicARN: "arn:aws:sns:eu-west-1:123456789012:people"},
				},
			},
			LakeProps: platform.LakeProps{
				LakeFirstDay: "2026-11-15",
			},
		},
		"issuer": {
			Props: platform.Props{
				JWTIssuer: "https://issuer.example.com", JWTAudience: []string{"tasks"}, Tracing: true, LocalPort: 9000, LogLevel: "debug", LogRetention: props.OneYear,
				AlarmTopicARN: "arn:aws:sns:eu-west-1:123456789012:alerts", Runbook: "https://wiki.example.com/alarms", MetricNamespace: "Acme/tasks",
				AllowedOrigins: []string{"https://example.com"}, Throttle: httpapi.Throttle{RequestsPerSecond: 10, Burst: 20},
			},
			LakeProps: platform.LakeProps{
				LakeBatchWindow: 5 * time.Minute, CompactEvery: 15 * time.Minute, LakeRetentionDays: 400, QueryLimitBytes: 20_000_000,
			},
		},
		"company": {},
		// The app of "cdk init" has feature flags.
		"flags": {},
	}
}

func TestMain(m *testing.M) { synthtest.Main(m, declare, use) }

func declare(app awscdk.App) {
	builds := synthtest.Builds("todoapi", "eraser", "writer", "compactor")
	for name, p := range variants() {
		p.Build = builds[p.Architecture]
		stack := awscdk.NewStack(app, jsii.String(name), nil)
		if name == "flags" {
			synthtest.Recommend(stack)
		}
		if name == "own" {
			p.AlarmTopic = awssns.NewTopic(stack, jsii.String("Alerts"), nil)
		}
		if name == "company" {
			p.Key = awskms.NewKey(stack, jsii.String("Key"), nil)
			p.AlarmTopic = awssns.NewTopic(stack, jsii.String("Alerts"), &awssns.TopicProps{MasterKey: p.Key})
			p.VPC = awsec2.Vpc_FromVpcAttributes(stack, jsii.String("Network"), &awsec2.VpcAttributes{
				VpcId: jsii.String("vpc-1"), AvailabilityZones: jsii.Strings("eu-west-1a", "eu-west-1b"), IsolatedSubnetIds: jsii.Strings("subnet-1", "subnet-2"),
			})
			p.SecurityGroups = []awsec2.ISecurityGroup{awsec2.SecurityGroup_FromSecurityGroupId(stack, jsii.String("Group"), jsii.String("sg-1"), nil)}
			p.Subnets = awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED}
		}
		declared := todo.New(stack, "Todo", p)
		if name == "company" {
			declared.Lake.GrantQuery(awsiam.NewRole(stack, jsii.String("Analyst"), &awsiam.RoleProps{AssumedBy: awsiam.NewAccountRootPrincipal()}))
		}
	}
	existing := awscdk.NewStack(app, jsii.String("existing"), nil)
	zone := awsroute53.HostedZone_FromHostedZoneAttributes(existing, jsii.String("Zone"), &awsroute53.HostedZoneAttributes{HostedZoneId: jsii.String("Z1"), ZoneName: jsii.String("example.com")})
	todo.New(existing, "Todo", todo.Props{
		Props: platform.Props{
			Build:      builds[""],
			DomainName: "tasks.example.com", HostedZone: zone,
			Certificate: awscertificatemanager.NewCertificate(existing, jsii.String("Certificate"), &awscertificatemanager.CertificateProps{
				DomainName: jsii.String("tasks.example.com"), Validation: awscertificatemanager.CertificateValidation_FromDns(zone),
			}),
			TimeoutSeconds: map[string]int{"todoapi": 20, "eraser": 600, "writer": 60},
			Tables: table.DatabaseOptions{
				Existing: map[string]awsdynamodb.ITable{"AppData": awsdynamodb.TableV2_FromTableAttributes(existing, jsii.String("Imported"), &awsdynamodb.TableAttributesV2{
					TableArn: jsii.String(existingTable), TableStreamArn: jsii.String(existingTable + "/stream/2026-01-01T00:00:00.000"),
				})},
			},
		},
		UserProps: platform.UserProps{
			UserPool:        awscognito.UserPool_FromUserPoolArn(existing, jsii.String("Pool"), jsii.String("arn:aws:cognito-idp:us-east-1:123456789012:userpool/us-east-1_existing")),
			UserPoolClients: []awscognito.IUserPoolClient{awscognito.UserPoolClient_FromUserPoolClientId(existing, jsii.String("Client"), jsii.String("app"))},
		},
	})
	// One stack may have several, also below one scope; and what they expose can be
	// granted to others.
	several := awscdk.NewStack(app, jsii.String("several"), nil)
	first := todo.New(several, "First", todo.Props{
		Props: platform.Props{Build: builds[""]},
		UserProps: platform.UserProps{
			UserPoolTriggers: awscognito.UserPoolTriggers{
				PreSignUp: awslambda.Function_FromFunctionAttributes(several, jsii.String("PreSignUp"), &awslambda.FunctionAttributes{
					FunctionArn: jsii.String(preSignUp), SameEnvironment: jsii.Bool(true),
				}),
			}, CallbackURLs: []string{"https://example.com/in"},
		},
	})
	todo.New(several, "Second", todo.Props{Props: platform.Props{Build: builds[""]}, UserProps: platform.UserProps{CallbackURLs: []string{"https://example.com/in"}}})
	below := constructs.NewConstruct(several, jsii.String("Below"))
	todo.New(below, "First", todo.Props{Props: platform.Props{Build: builds[""]}, UserProps: platform.UserProps{CallbackURLs: []string{"https://example.com/in"}}})
	operator := awsiam.NewRole(several, jsii.String("Operator"), &awsiam.RoleProps{AssumedBy: awsiam.NewAccountRootPrincipal()})
	first.GrantAccessPatterns(operator, "GetTask", "ListTasksByStatus")
	first.Lake.GrantCompact(operator)
	analyst := awsiam.NewRole(several, jsii.String("Analyst"), &awsiam.RoleProps{AssumedBy: awsiam.NewAccountRootPrincipal()})
	first.Lake.GrantQuery(analyst)
}

func use(folder string) (err error) {
	templates, err = synthtest.LoadAll(folder, slices.Collect(maps.Keys(variants()))...)
	if err != nil {
		return err
	}
	if existing, err = synthtest.Load(folder, "existing"); err != nil {
		return err
	}
	several, err = synthtest.Load(folder, "several")
	return err
}
