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
	"github.com/google/go-cmp/cmp"

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

// refusals are mistakes that only the CDK can find. Each declares one below a stack of its own;
// want is part of the message, "" if there is no mistake.
var refusals = map[string]struct {
	declare func(app awscdk.App, stack awscdk.Stack, build *gofunction.Build)
	want    string
}{
	"OK": {func(_ awscdk.App, stack awscdk.Stack, build *gofunction.Build) { ready(stack, "Own", build) }, ""},
	"KnownRegion": {func(app awscdk.App, _ awscdk.Stack, build *gofunction.Build) {
		ready(inEurope(app, "known"), "Own", build)
	}, ""},
	"ErrUnknownReplica": {func(app awscdk.App, _ awscdk.Stack, _ *gofunction.Build) {
		table.New(inEurope(app, "replicated"), "Things", table.Props{
			Table: own().Database.Tables[0], Options: table.Options{Replicas: []table.Replica{{Region: "eu-north-7"}}},
		})
	}, `Props.Options.Replicas[0].Region: got "eu-north-7", `},
	"ErrSamePrefix": {func(_ awscdk.App, stack awscdk.Stack, _ *gofunction.Build) {
		database(stack, "First", "acme")
		database(stack, "Second", "acme")
	}, `database Second: 1 finding:
  Props.Prefix: got "acme", allowed is one that names no other tables of the stack, `},
	"ErrTakenAttribute": {func(_ awscdk.App, stack awscdk.Stack, build *gofunction.Build) {
		described := own()
		described.Records = []schema.Record{{Name: "Thing", Table: "Things"}}
		platform.Declare(&others{}, stack, "Own", described,
			platform.Declaration{Props: platform.Props{Build: build, Extra: labels("id")}})
	}, `Extra[Thing].Attributes[id].Name: got "id", allowed is `},
	"ErrUndeclaredAttribute": {func(_ awscdk.App, stack awscdk.Stack, _ *gofunction.Build) {
		ready(stack, "Own", gofunction.Start(context.Background(), gofunction.Source{
			Directory: filepath.Join("..", ".."),
			Packages:  []string{"constructs/platform/testdata/planted/own/hello"}}))
	}, `testdata/planted/own/hello/main.go:11: got "name", allowed is one of id: spell the attribute `},
	"ErrSamePrefixNested": {func(_ awscdk.App, stack awscdk.Stack, _ *gofunction.Build) {
		database(awscdk.NewNestedStack(stack, jsii.String("Within"), nil), "First", "acme")
		database(stack, "Second", "acme")
	}, `Props.Prefix: got "acme", `},
	"ErrSamePrefixInRegion": {func(app awscdk.App, _ awscdk.Stack, _ *gofunction.Build) {
		database(inEurope(app, "one"), "Database", "region")
		database(inEurope(app, "two"), "Database", "region")
	}, `Props.Prefix: got "region", `},
	"SamePrefixAnywhere": {func(app awscdk.App, stack awscdk.Stack, _ *gofunction.Build) {
		database(stack, "Database", "anywhere")
		database(awscdk.NewStack(app, jsii.String("elsewhere"), nil), "Database", "anywhere")
	}, ""},
	"OtherPrefix": {func(_ awscdk.App, stack awscdk.Stack, _ *gofunction.Build) {
		database(stack, "First", "first")
		database(stack, "Second", "second")
		database(stack, "Third", "")
		database(stack, "Fourth", "")
	}, ""},
	"ErrUnknownAlarm": {func(_ awscdk.App, stack awscdk.Stack, build *gofunction.Build) {
		described := own()
		described.Routes, described.Lakes, described.Functions[0].Trigger = nil, nil, schema.OnOther{}
		platform.Declare(&others{}, stack, "Own", described,
			platform.Declaration{Props: platform.Props{Build: build, Alarms: map[string]alarm.Options{
				"HelloAlarm": {Threshold: 2}, "ThrottlesAlarm": {Off: true}, "HelpAlarm": {Off: true},
			}}})
	}, `own: 1 finding:
  Props.Alarms["HelpAlarm"]: got options of an unknown alarm, allowed is one of HelloAlarm, ThrottlesAlarm: `},
	// A week of hours is 168 of them.
	"ErrAlarmOfSchedule": {func(_ awscdk.App, stack awscdk.Stack, build *gofunction.Build) {
		described := own()
		described.Routes, described.Lakes, described.Functions[0].Trigger = nil, nil,
			schema.OnSchedule{Every: 24 * time.Hour}
		platform.Declare(&others{}, stack, "Own", described,
			platform.Declaration{Props: platform.Props{Build: build, Alarms: map[string]alarm.Options{
				"HelloNotRunAlarm": {Periods: 169},
			}}})
	}, `alarm HelloNotRunAlarm: 1 finding:
  Props.Periods: got 169, allowed is 1 to 168 with a period of 1h0m0s: `},
	"ErrPropsOfModule": {func(_ awscdk.App, stack awscdk.Stack, build *gofunction.Build) {
		platform.Declare(&others{}, stack, "Own", own(),
			platform.Declaration{Module: "example.com/own", Props: platform.Props{Build: build, LogLevel: "loud"}})
	}, `Props.LogLevel: got "loud", `},
	"ErrBuild": {func(_ awscdk.App, stack awscdk.Stack, _ *gofunction.Build) {
		ready(stack, "Own", gofunction.Start(context.Background(),
			gofunction.Source{Directory: "testdata/handlers", Packages: []string{"nowhere/hello"}}))
	}, "own Own: a *gofunction.CompileError"},
}

// wrongProps are props whose mistakes only the CDK can find, with the paths of the findings.
var wrongProps = map[string]struct {
	props func(stack awscdk.Stack) platform.Props
	paths []string
}{
	"Alias": {func(stack awscdk.Stack) platform.Props {
		return platform.Props{Key: awskms.Alias_FromAliasName(stack, jsii.String("Alias"),
			jsii.String("alias/company"))}
	}, []string{"Props.Key"}},
	"OwnAlias": {func(stack awscdk.Stack) platform.Props {
		return platform.Props{Key: awskms.NewKey(stack, jsii.String("Key"), nil).AddAlias(jsii.String("alias/own"))}
	}, []string{"Props.Key"}},
	// Everything of another region at once, and further mistakes.
	"OtherRegion": {func(stack awscdk.Stack) platform.Props {
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
	}, []string{
		"Props.Prefix", `Props.Tables.Existing["Things"]`, "Props.Tables.All.Replicas[0].Region",
		"Props.Tables.All.Replicas[0].KeyARN",
		"Props.CertificateARN", "Props.Key", "Props.VPC", "Props.AlarmTopic",
	}},
	"NoPrivateSubnets": {func(stack awscdk.Stack) platform.Props {
		return platform.Props{
			VPC: awsec2.NewVpc(stack, jsii.String("Public"), &awsec2.VpcProps{
				SubnetConfiguration: &[]*awsec2.SubnetConfiguration{
					{Name: jsii.String("all"), SubnetType: awsec2.SubnetType_PUBLIC}},
			}),
		}
	}, []string{"Props.VPC"}},
	"NoSuchSubnets": {func(stack awscdk.Stack) platform.Props {
		return platform.Props{
			VPC: awsec2.Vpc_FromVpcAttributes(stack, jsii.String("Imported"), &awsec2.VpcAttributes{
				VpcId: jsii.String("vpc-1"), AvailabilityZones: jsii.Strings("eu-west-1a"),
				PrivateSubnetIds: jsii.Strings("subnet-1"),
			}),
			Subnets: awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED},
		}
	}, []string{"Props.Subnets"}},
	"TwoSelections": {func(stack awscdk.Stack) platform.Props {
		return platform.Props{
			VPC: awsec2.Vpc_FromVpcAttributes(stack, jsii.String("Twice"), &awsec2.VpcAttributes{
				VpcId: jsii.String("vpc-1"), AvailabilityZones: jsii.Strings("eu-west-1a"),
				PrivateSubnetIds: jsii.Strings("subnet-1"),
			}),
			Subnets: awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_WITH_EGRESS,
				SubnetGroupName: jsii.String("Private")},
		}
	}, []string{"Props.Subnets"}},
	"NoSuchZone": {func(stack awscdk.Stack) platform.Props {
		return platform.Props{
			VPC: awsec2.Vpc_FromVpcAttributes(stack, jsii.String("Zone"), &awsec2.VpcAttributes{
				VpcId: jsii.String("vpc-1"), AvailabilityZones: jsii.Strings("eu-west-1a"),
				PrivateSubnetIds: jsii.Strings("subnet-1"),
			}),
			Subnets: awsec2.SubnetSelection{AvailabilityZones: jsii.Strings("eu-west-1c")},
		}
	}, []string{"Props.Subnets"}},
	"PublicSubnet": {func(stack awscdk.Stack) platform.Props {
		vpc := awsec2.NewVpc(stack, jsii.String("Mixed"), nil)
		return platform.Props{VPC: vpc, Subnets: awsec2.SubnetSelection{Subnets: vpc.PublicSubnets()}}
	}, []string{"Props.Subnets"}},
	"OtherArchitecture": {func(awscdk.Stack) platform.Props {
		return platform.Props{Architecture: gofunction.ARM64, Build: built(gofunction.X86_64, "lambdas/own/hello")}
	}, []string{"Props.Build"}},
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
		err := synthtest.PanicOf(func() { r.declare(app, stack, build) })
		_, failed := errors.AsType[*gofunction.CompileError](err)
		switch {
		case err == nil:
			messages[name] = ""
		case failed:
			before, _, _ := strings.Cut(err.Error(), ": ")
			messages[name] = before + ": a *gofunction.CompileError"
		default:
			messages[name] = err.Error()
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
		w.props(stack).Check(&f, "Props", *stack.Region(), described)
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

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, r := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := synthtest.At(refused.Metadata, "refused", name).(string)
			if !ok || !strings.Contains(got, r.want) || r.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, r.want)
			}
		})
	}
}

// Props that would fail in the CDK, or on the way to AWS, are refused before, all of them in
// one message.
func TestWrongProps(t *testing.T) {
	t.Parallel()
	for name, w := range wrongProps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			message, _ := synthtest.At(refused.Metadata, "refused", name).(string)
			var paths []string
			for line := range strings.Lines(message) {
				if path, _, found := strings.Cut(line, ": got "); found {
					paths = append(paths, strings.TrimSpace(path))
				}
			}
			if diff := cmp.Diff(w.paths, paths); diff != "" {
				t.Errorf("findings (-want +got):\n%s\n%s", diff, message)
			}
		})
	}
}

// Every construct refuses a place at which the CDK would panic.
func TestMisplaced(t *testing.T) {
	t.Parallel()
	places := map[string]string{
		"ErrScopeIsApp":    "scope: got a construct of no stack, ",
		"ErrTakenID":       `id: got "Taken", allowed is one that no other construct of the scope has: `,
		"ErrUnknownRegion": `scope: Env.Region of the stack: got "eu-cental-1", allowed is a region of AWS: `,
	}
	for kind := range kinds {
		for place, want := range places {
			t.Run(kind+"/"+place, func(t *testing.T) {
				t.Parallel()
				if got, _ := synthtest.At(refused.Metadata, "refused", kind+"/"+place).(string); !strings.Contains(got,
					want) {
					t.Errorf("got %q, want one with %q", got, want)
				}
			})
		}
	}
}
