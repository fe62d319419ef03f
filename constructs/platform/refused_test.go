package platform_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/identity"
	"github.com/onesynth-cdk/onesynth/constructs/lake"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/schedule"
	"github.com/onesynth-cdk/onesynth/constructs/stream"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// inEurope is a stack of one account and region.
func inEurope(app awscdk.App, id string) awscdk.Stack {
	return awscdk.NewStack(app, &id, &awscdk.StackProps{
		Env: &awscdk.Environment{Account: jsii.String("111122223333"), Region: jsii.String("eu-west-1")}})
}

// database declares the tables of own with names that begin with the prefix.
func database(scope constructs.Construct, id, prefix string) {
	table.NewDatabase(scope, id, table.DatabaseProps{Database: own().Database, Prefix: prefix})
}

// refusals declare what only the CDK can refuse, each below a stack of its own. A mistake has a name that begins with
// Err. The others are accepted.
var refusals = map[string]func(app awscdk.App, stack awscdk.Stack, build *gofunction.Build){
	"OK": func(_ awscdk.App, stack awscdk.Stack, build *gofunction.Build) { ready(stack, "Own", build) },
	"KnownRegion": func(app awscdk.App, _ awscdk.Stack, build *gofunction.Build) {
		ready(inEurope(app, "known"), "Own", build)
	},
	"ErrUnknownReplica": func(app awscdk.App, _ awscdk.Stack, _ *gofunction.Build) {
		table.New(inEurope(app, "replicated"), "Things", table.Props{
			Table: own().Database.Tables[0], Options: table.Options{Replicas: []table.Replica{{Region: "eu-north-7"}}},
		})
	},
	"ErrReplicaAnywhere": func(_ awscdk.App, stack awscdk.Stack, _ *gofunction.Build) {
		table.NewDatabase(stack, "Any", table.DatabaseProps{Database: own().Database, Options: table.DatabaseOptions{
			All: table.Options{Replicas: []table.Replica{{Region: "eu-west-1"}}}}})
	},
	"ErrReplicaOfOwnRegion": func(app awscdk.App, _ awscdk.Stack, _ *gofunction.Build) {
		table.New(inEurope(app, "ownregion"), "Things", table.Props{
			Table: own().Database.Tables[0], Options: table.Options{Replicas: []table.Replica{{Region: "eu-west-1"}}},
		})
	},
	"ErrSamePrefix": func(_ awscdk.App, stack awscdk.Stack, _ *gofunction.Build) {
		database(stack, "First", "acme")
		database(stack, "Second", "acme")
	},
	"ErrTakenAttribute": func(_ awscdk.App, stack awscdk.Stack, build *gofunction.Build) {
		described := own()
		described.Records = []schema.Record{{Name: "Thing", Table: "Things"}}
		platform.Declare(&others{}, stack, "Own", described,
			platform.Declaration{Props: platform.Props{Build: build, Extra: labels("id")}})
	},
	"ErrUndeclaredAttribute": func(_ awscdk.App, stack awscdk.Stack, _ *gofunction.Build) {
		ready(stack, "Own", gofunction.Start(context.Background(), gofunction.Source{
			Directory: filepath.Join("..", ".."),
			Packages:  []string{"constructs/platform/testdata/planted/own/hello"}}))
	},
	"ErrSamePrefixNested": func(_ awscdk.App, stack awscdk.Stack, _ *gofunction.Build) {
		database(awscdk.NewNestedStack(stack, jsii.String("Within"), nil), "First", "acme")
		database(stack, "Second", "acme")
	},
	"ErrSamePrefixInRegion": func(app awscdk.App, _ awscdk.Stack, _ *gofunction.Build) {
		database(inEurope(app, "one"), "Database", "region")
		database(inEurope(app, "two"), "Database", "region")
	},
	"SamePrefixAnywhere": func(app awscdk.App, stack awscdk.Stack, _ *gofunction.Build) {
		database(stack, "Database", "anywhere")
		database(awscdk.NewStack(app, jsii.String("elsewhere"), nil), "Database", "anywhere")
	},
	"OtherPrefix": func(_ awscdk.App, stack awscdk.Stack, _ *gofunction.Build) {
		database(stack, "First", "first")
		database(stack, "Second", "second")
		database(stack, "Third", "")
		database(stack, "Fourth", "")
	},
	"ErrUnknownAlarm": func(_ awscdk.App, stack awscdk.Stack, build *gofunction.Build) {
		described := own()
		described.Routes, described.Lakes, described.Functions[0].Trigger = nil, nil, schema.OnOther{}
		platform.Declare(&others{}, stack, "Own", described,
			platform.Declaration{Props: platform.Props{Build: build, Alarms: map[string]alarm.Options{
				"HelloAlarm": {Threshold: 2}, "ThrottlesAlarm": {Off: true}, "HelpAlarm": {Off: true},
			}}})
	},
	// A week of hours is 168 of them.
	"ErrAlarmOfSchedule": func(_ awscdk.App, stack awscdk.Stack, build *gofunction.Build) {
		described := own()
		described.Routes, described.Lakes, described.Functions[0].Trigger = nil, nil,
			schema.OnSchedule{Every: 24 * time.Hour}
		platform.Declare(&others{}, stack, "Own", described,
			platform.Declaration{Props: platform.Props{Build: build, Alarms: map[string]alarm.Options{
				"HelloNotRunAlarm": {Periods: 169},
			}}})
	},
	"ErrPropsOfModule": func(_ awscdk.App, stack awscdk.Stack, build *gofunction.Build) {
		platform.Declare(&others{}, stack, "Own", own(),
			platform.Declaration{Module: "example.com/own", Props: platform.Props{Build: build, LogLevel: "loud"}})
	},
	"ErrBuild": func(_ awscdk.App, stack awscdk.Stack, _ *gofunction.Build) {
		ready(stack, "Own", gofunction.Start(context.Background(),
			gofunction.Source{Directory: "testdata/handlers", Packages: []string{"nowhere/hello"}}))
	},
}

// within are props of a VPC of the account, with a private subnet in one zone.
func within(stack awscdk.Stack, subnets awsec2.SubnetSelection) platform.Props {
	return platform.Props{Subnets: subnets,
		VPC: awsec2.Vpc_FromVpcAttributes(stack, jsii.String("Imported"), &awsec2.VpcAttributes{
			VpcId: jsii.String("vpc-1"), AvailabilityZones: jsii.Strings("eu-west-1a"),
			PrivateSubnetIds: jsii.Strings("subnet-1"),
		})}
}

// wrongProps are props whose mistakes only the CDK can find.
var wrongProps = map[string]func(stack awscdk.Stack) platform.Props{
	"Alias": func(stack awscdk.Stack) platform.Props {
		return platform.Props{Key: awskms.Alias_FromAliasName(stack, jsii.String("Alias"),
			jsii.String("alias/company"))}
	},
	"OwnAlias": func(stack awscdk.Stack) platform.Props {
		return platform.Props{Key: awskms.NewKey(stack, jsii.String("Key"), nil).AddAlias(jsii.String("alias/own"))}
	},
	// Everything of another region at once, and further mistakes.
	"OtherRegion": func(stack awscdk.Stack) platform.Props {
		return platform.Props{
			Prefix:     "-",
			DomainName: "api.example.com", CertificateARN: "arn:aws:acm:us-east-1:111122223333:certificate/1a",
			Key: awskms.Key_FromKeyArn(stack, jsii.String("FarKey"),
				jsii.String("arn:aws:kms:us-east-1:111122223333:key/1a")),
			AlarmTopic: awssns.Topic_FromTopicArn(stack, jsii.String("FarTopic"),
				jsii.String("arn:aws:sns:us-east-1:111122223333:alarms")),
			VPC: awsec2.Vpc_FromVpcAttributes(stack, jsii.String("FarNetwork"), &awsec2.VpcAttributes{
				VpcId: jsii.String("vpc-1"), Region: jsii.String("us-east-1"),
				AvailabilityZones: jsii.Strings("us-east-1a"), PrivateSubnetIds: jsii.Strings("subnet-1"),
			}),
			Tables: table.DatabaseOptions{
				All: table.Options{Replicas: []table.Replica{{Region: "eu-west-1"}}},
				Existing: map[string]awsdynamodb.ITable{
					"Things": awsdynamodb.TableV2_FromTableArn(stack, jsii.String("FarTable"),
						jsii.String("arn:aws:dynamodb:us-east-1:111122223333:table/things")),
				},
			},
		}
	},
	"NoPrivateSubnets": func(stack awscdk.Stack) platform.Props {
		return platform.Props{
			VPC: awsec2.NewVpc(stack, jsii.String("Public"), &awsec2.VpcProps{
				SubnetConfiguration: &[]*awsec2.SubnetConfiguration{
					{Name: jsii.String("all"), SubnetType: awsec2.SubnetType_PUBLIC}},
			}),
		}
	},
	"NoSuchSubnets": func(stack awscdk.Stack) platform.Props {
		return within(stack, awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED})
	},
	"TwoSelections": func(stack awscdk.Stack) platform.Props {
		return within(stack, awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_WITH_EGRESS,
			SubnetGroupName: jsii.String("Private")})
	},
	"NoSuchZone": func(stack awscdk.Stack) platform.Props {
		return within(stack, awsec2.SubnetSelection{AvailabilityZones: jsii.Strings("eu-west-1c")})
	},
	"PublicSubnet": func(stack awscdk.Stack) platform.Props {
		vpc := awsec2.NewVpc(stack, jsii.String("Mixed"), nil)
		return platform.Props{VPC: vpc, Subnets: awsec2.SubnetSelection{Subnets: vpc.PublicSubnets()}}
	},
	"OtherArchitecture": func(awscdk.Stack) platform.Props {
		return platform.Props{Architecture: gofunction.ARM64, Build: built(gofunction.X86_64, "lambdas/own/hello")}
	},
}

// kinds declare one construct of each package, without props: what is wrong with its
// place is found together with those.
var kinds = map[string]func(scope constructs.Construct, id string){
	"alarm":      func(scope constructs.Construct, id string) { alarm.New(scope, id, alarm.Props{}) },
	"database":   func(scope constructs.Construct, id string) { table.NewDatabase(scope, id, table.DatabaseProps{}) },
	"gofunction": func(scope constructs.Construct, id string) { gofunction.New(scope, id, gofunction.Props{}) },
	"httpapi":    func(scope constructs.Construct, id string) { httpapi.New(scope, id, httpapi.Props{}) },
	"lake":       func(scope constructs.Construct, id string) { lake.New(scope, id, lake.Props{}) },
	"machines": func(scope constructs.Construct, id string) {
		identity.NewMachines(scope, id, identity.MachinesProps{})
	},
	"platform": func(scope constructs.Construct, id string) { ready(scope, id, nil) },
	"schedule": func(scope constructs.Construct, id string) { schedule.New(scope, id, schedule.Props{}) },
	"stream":   func(scope constructs.Construct, id string) { stream.New(scope, id, stream.Props{}) },
	"table":    func(scope constructs.Construct, id string) { table.New(scope, id, table.Props{}) },
	"users":    func(scope constructs.Construct, id string) { identity.NewUsers(scope, id, identity.UsersProps{}) },
}

// ready declares the platform without routes and lakes.
func ready(scope constructs.Construct, id string, build *gofunction.Build) {
	described := own()
	described.Routes, described.Lakes, described.Functions[0].Trigger = nil, nil, schema.OnOther{}
	platform.Declare(&others{}, scope, id, described, platform.Declaration{Props: platform.Props{Build: build}})
}

// declareRefused declares a stack whose metadata has the message of each refusal.
func declareRefused(app awscdk.App, build *gofunction.Build) {
	messages := map[string]any{}
	for name, r := range refusals {
		stack := awscdk.NewStack(app, jsii.String("refused-"+name), nil)
		err := synthtest.PanicOf(func() { r(app, stack, build) })
		messages[name] = fmt.Sprint(err)
		if failed, ok := errors.AsType[*gofunction.CompileError](err); ok { // whose text is the toolchain's
			messages[name] = fmt.Sprintf("a %T", failed)
		}
	}
	// One of its tables exists, and another is declared.
	described := own()
	other := described.Database.Tables[0]
	other.Name, described.Database.Tables[0].Stream, described.Lakes = "Others", "", nil
	described.Database.Tables = append(described.Database.Tables, other)
	for name, w := range wrongProps {
		stack := inEurope(app, "wrong-"+name)
		var f finding.List
		w(stack).Check(&f, "Props", *stack.Region(), described)
		messages[name] = fmt.Sprint(f.Err())
	}
	for kind, declare := range kinds {
		stack := inEurope(app, "misplaced-"+kind)
		nowhere := awscdk.NewStack(app, jsii.String("nowhere-"+kind),
			&awscdk.StackProps{Env: &awscdk.Environment{Region: jsii.String("eu-cental-1")}})
		constructs.NewConstruct(stack, jsii.String("Taken"))
		for where, scope := range map[string]constructs.Construct{"ErrScopeIsApp": app, "ErrTakenID": stack,
			"ErrUnknownRegion": nowhere} {
			messages[kind+"/"+where] = fmt.Sprint(synthtest.PanicOf(func() { declare(scope, "Taken") }))
		}
	}
	awscdk.NewStack(app, jsii.String("refused"), nil).AddMetadata(jsii.String("refused"), messages)
}

// The golden file has the messages of all mistakes: props that would fail in the CDK, or on the way to AWS, are refused
// before, all of them in one message, and every construct refuses a place at which the CDK would panic.
func TestRefused(t *testing.T) {
	t.Parallel()
	all := synthtest.Stacks(t, "refused")
	synthtest.Golden(t, "testdata/refused", "", all)
	for name := range refusals {
		got := synthtest.At(all["refused"].Metadata, "refused", name)
		if refused := got != fmt.Sprint(nil); refused != strings.HasPrefix(name, "Err") {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
