package askahuman_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
)

// templates are those of all variants.
var templates map[string]synthtest.Template

// existing is the template of a stack whose platform has a table that is there
// already.
var existing synthtest.Template

const existingSecret = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:push-AbCdEf"

// sharing is the template of a stack whose platform has a key, a network, a topic
// and a table of the stack shared.
var shared, sharing synthtest.Template

// several is the template of a stack with three platforms.
var several synthtest.Template

// variants are the props under test, by stack name.
func variants() map[string]askahuman.Props {
	return map[string]askahuman.Props{
		"default": {},
		"dev":     {Props: platform.Props{RemoveWithStack: true, NoAlarms: true, NoDashboard: true}, OpenAgents: true},
		"prod":    {Props: platform.Props{Prefix: "aah", DeletionProtection: true}},
		"x86":     {Props: platform.Props{Architecture: gofunction.X86_64, AlarmEmail: "ops@example.com"}, OpenAgents: true},
		"own": {
			Props: platform.Props{
				DomainName: "api.example.com", CertificateARN: "arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d-1111-2222-3333-444455556666",
				RouteThrottles:  map[string]httpapi.Throttle{"PUT /human/push/subscribe/{subscription_id}": {RequestsPerSecond: 5, Burst: 7}},
				MemoryMegabytes: map[string]int{"humanapi": 1769}, ReservedConcurrency: map[string]int{"humanapi": 50, "notifier": 1},
			},
			Agents: []string{"mcp", "ci"},
		},
		"issuer":  {Props: platform.Props{JWTIssuer: "https://issuer.example.com", JWTAudience: []string{"asks"}, AlarmTopicARN: "arn:aws:sns:eu-west-1:123456789012:alerts", Runbook: "https://wiki.example.com/alarms", MetricNamespace: "Acme", Tracing: true, LocalPort: 9000, LogLevel: "debug", LogRetention: props.OneYear, AllowedOrigins: []string{"https://example.com"}, Throttle: httpapi.Throttle{RequestsPerSecond: 10, Burst: 20}}, Shards: 4, ReadShards: 64, QuestionURL: "https://example.com/questions/{question_id}", NotifyEvery: 10 * time.Minute, RateLimits: map[string]askahuman.RateLimit{"read": {Requests: 1000}}, OpenQuestions: 7, Points: map[string]int{"text": 0}, DailyPoints: 9},
		"keys":    {Props: platform.Props{Prefix: "aah", DeletionProtection: true}, AgentKeys: true},
		"company": {},
		// The app of "cdk init" has feature flags.
		"flags": {},
	}
}

func TestMain(m *testing.M) { synthtest.Main(m, declare, use) }

func declare(app awscdk.App) {
	builds := synthtest.Builds("agentapi", "humanapi", "notifier")
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
				VpcId: jsii.String("vpc-1"), AvailabilityZones: jsii.Strings("eu-west-1a", "eu-west-1b"), PrivateSubnetIds: jsii.Strings("subnet-1", "subnet-2"),
			})
		}
		askahuman.New(stack, "AskAHuman", p)
	}
	declareRefused(app, builds)
	existing := awscdk.NewStack(app, jsii.String("existing"), nil)
	askahuman.New(existing, "AskAHuman", askahuman.Props{
		Props: platform.Props{
			Build: builds[""], Tables: table.DatabaseOptions{
				All:  table.Options{RecoveryDays: 7, MaximumReadUnits: 100},
				Each: map[string]table.Options{"Guards": {RecoveryDays: 1}},
				Existing: map[string]awsdynamodb.ITable{"Questions": awsdynamodb.TableV2_FromTableArn(existing, jsii.String("Imported"),
					jsii.String("arn:aws:dynamodb:eu-west-1:123456789012:table/asked"))},
			},
		}, FCMCredentials: awssecretsmanager.Secret_FromSecretCompleteArn(existing, jsii.String("Push"), jsii.String(existingSecret)),
	})
	// A resource that an app passes may belong to another of its stacks.
	shared := awscdk.NewStack(app, jsii.String("shared"), nil)
	key := awskms.NewKey(shared, jsii.String("Key"), nil)
	vpc := awsec2.NewVpc(shared, jsii.String("Network"), nil)
	questions, _ := schema.AskAHuman().Database.Table("Questions")
	askahuman.New(awscdk.NewStack(app, jsii.String("sharing"), nil), "AskAHuman", askahuman.Props{
		Props: platform.Props{
			Build: builds[""], Key: key, VPC: vpc,
			AlarmTopic:     awssns.NewTopic(shared, jsii.String("Alerts"), &awssns.TopicProps{MasterKey: key}),
			SecurityGroups: []awsec2.ISecurityGroup{awsec2.NewSecurityGroup(shared, jsii.String("Group"), &awsec2.SecurityGroupProps{Vpc: vpc})},
			Tables: table.DatabaseOptions{Existing: map[string]awsdynamodb.ITable{
				"Questions": table.New(shared, "Questions", table.Props{Table: questions, Key: key}).Resource,
			}},
		},
	})
	// One stack may have several, also below one scope; and what they expose can be
	// granted to others.
	several := awscdk.NewStack(app, jsii.String("several"), nil)
	first := askahuman.New(several, "First", askahuman.Props{Props: platform.Props{Build: builds[""]}})
	askahuman.New(several, "Second", askahuman.Props{Props: platform.Props{Build: builds[""]}})
	below := constructs.NewConstruct(several, jsii.String("Below"))
	askahuman.New(below, "First", askahuman.Props{Props: platform.Props{Build: builds[""]}})
	role := awsiam.NewRole(several, jsii.String("Operator"), &awsiam.RoleProps{AssumedBy: awsiam.NewAccountRootPrincipal()})
	first.GrantAccessPatterns(role, "GetQuestion", "ListOpenQuestions")
	first.GrantRunNotifier(role)
	first.FCMCredentials.GrantRead(first.AgentAPI.Resource, nil)
}

func use(folder string) (err error) {
	templates, err = synthtest.LoadAll(folder, slices.Collect(maps.Keys(variants()))...)
	if err != nil {
		return err
	}
	if existing, err = synthtest.Load(folder, "existing"); err != nil {
		return err
	}
	if refused, err = synthtest.Load(folder, "refused"); err != nil {
		return err
	}
	if shared, err = synthtest.Load(folder, "shared"); err != nil {
		return err
	}
	if sharing, err = synthtest.Load(folder, "sharing"); err != nil {
		return err
	}
	several, err = synthtest.Load(folder, "several")
	return err
}
