package gofunction_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/gobuild"
)

// resources are the properties of those of the synthesised template, and metadata
// what it says of them besides, by construct id.
var resources, metadata map[string]map[string]any

func TestMain(m *testing.M) { synthtest.Main(m, declare, use) }

// declare declares each kind of function.
func declare(app awscdk.App) {
	stack := awscdk.NewStack(app, jsii.String("stack"), nil)
	gofunction.New(stack, "Zero", gofunction.Props{Package: "testdata/handlers/hello"})
	all := gofunction.New(stack, "All", gofunction.Props{
		Package:             "testdata/handlers/hello",
		Architecture:        gofunction.X86_64,
		Description:         "Says hello",
		Environment:         map[string]string{"GREETING": "hello"},
		MemoryMegabytes:     512,
		Timeout:             30 * time.Second,
		LogLevel:            "warn",
		LogRetention:        props.OneWeek,
		Tracing:             true,
		ReservedConcurrency: 3,
	})
	all.AddEnvironment(map[string]string{"NAME": "you"})
	all.Allow([]string{"sqs:SendMessage", "sqs:ReceiveMessage"}, "arn:aws:sqs:eu-central-1:111122223333:greetings")
	caller := awsiam.NewRole(stack, jsii.String("Caller"), &awsiam.RoleProps{AssumedBy: awsiam.NewServicePrincipal(jsii.String("scheduler.amazonaws.com"), nil)})
	all.GrantInvoke(caller)
}

func use(folder string) error {
	template, err := synthtest.Load(folder, "stack")
	if err != nil {
		return err
	}
	resources, metadata = map[string]map[string]any{}, map[string]map[string]any{}
	for id, r := range template.Resources {
		metadata[synthtest.Stable(id)] = r.Metadata
		resources[synthtest.Stable(id)] = r.Properties
	}
	return nil
}

func TestNew(t *testing.T) {
	t.Parallel()
	tests := map[string]map[string]any{
		"Zero": {
			"Architectures": []any{"arm64"}, "Runtime": "provided.al2023", "Handler": "bootstrap",
			"MemorySize": 256.0, "Timeout": 10.0, "RecursiveLoop": "Terminate",
			"Environment": map[string]any{"Variables": map[string]any{"LOG_LEVEL": "info"}},
		},
		"All": {
			"Architectures": []any{"x86_64"}, "Runtime": "provided.al2023", "Handler": "bootstrap",
			"MemorySize": 512.0, "Timeout": 30.0, "RecursiveLoop": "Terminate", "Description": "Says hello",
			"TracingConfig": map[string]any{"Mode": "Active"}, "ReservedConcurrentExecutions": 3.0,
			"Environment": map[string]any{"Variables": map[string]any{"GREETING": "hello", "LOG_LEVEL": "warn", "NAME": "you"}},
		},
	}
	for id, want := range tests {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			got := map[string]any{}
			for k, v := range resources[id] {
				// These hold ids and hashes: other tests look at them.
				if k != "Code" && k != "Role" && k != "LoggingConfig" {
					got[k] = v
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("function (-want +got):\n%s", diff)
			}
		})
	}
	if got := resources["ZeroLogs"]["RetentionInDays"]; got != 30.0 {
		t.Errorf("default retention: got %v days, want 30", got)
	}
	if got := resources["AllLogs"]["RetentionInDays"]; got != 7.0 {
		t.Errorf("retention: got %v days, want 7", got)
	}
}

// The template says how each function can be built for another machine, and names no
// folder of this one.
func TestRecipe(t *testing.T) {
	t.Parallel()
	want := gobuild.Recipe{Module: "handlers", Package: "hello", Flags: gobuild.Flags(), Directory: "testdata/handlers"}
	for _, id := range []string{"Zero", "All"} {
		got, ok, err := gobuild.ReadRecipe(metadata[id])
		if err != nil || !ok {
			t.Fatalf("%s: got %v, %v, want a recipe", id, ok, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"ZeroRoleDefaultPolicy": {"logs:CreateLogStream logs:PutLogEvents"},
		"AllRoleDefaultPolicy": {
			"logs:CreateLogStream logs:PutLogEvents", "xray:PutTraceSegments xray:PutTelemetryRecords",
			"sqs:ReceiveMessage sqs:SendMessage",
		},
		"CallerDefaultPolicy": {"lambda:InvokeFunction"},
	}
	got := map[string][]string{}
	for id, p := range resources {
		document, ok := p["PolicyDocument"].(map[string]any)
		if !ok {
			continue
		}
		for _, s := range document["Statement"].([]any) {
			actions := s.(map[string]any)["Action"]
			if several, ok := actions.([]any); ok {
				got[id] = append(got[id], fmt.Sprint(several[0], " ", several[1]))
			} else {
				got[id] = append(got[id], fmt.Sprint(actions))
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
}

// nothing is a VPC that is not there.
type nothing struct{ awsec2.IVpc }

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	build := gofunction.Start(t.Context(), gofunction.Source{Directory: "testdata/handlers", Packages: []string{"hello"}})
	tests := map[string]struct {
		props gofunction.Props
		paths []string
	}{
		"Package":          {gofunction.Props{Package: "x"}, nil},
		"Build":            {gofunction.Props{Build: build, Name: "hello"}, nil},
		"ErrZero":          {gofunction.Props{}, []string{"Props.Package"}},
		"ErrNoFolder":      {gofunction.Props{Package: "./"}, []string{"Props.Package"}},
		"ErrParent":        {gofunction.Props{Package: "handlers/../.."}, []string{"Props.Package"}},
		"ErrHuge":          {gofunction.Props{Package: "x", ReservedConcurrency: math.MaxInt}, []string{"Props.ReservedConcurrency"}},
		"ErrBoth":          {gofunction.Props{Build: build, Package: "x"}, []string{"Props.Package"}},
		"ErrNoName":        {gofunction.Props{Build: build}, []string{"Props.Name"}},
		"ErrArchitecture":  {gofunction.Props{Package: "x", Architecture: "amd64"}, []string{"Props.Architecture"}},
		"ErrLittleMemory":  {gofunction.Props{Package: "x", MemoryMegabytes: 64}, []string{"Props.MemoryMegabytes"}},
		"ErrMuchMemory":    {gofunction.Props{Package: "x", MemoryMegabytes: 10241}, []string{"Props.MemoryMegabytes"}},
		"ErrShortTimeout":  {gofunction.Props{Package: "x", Timeout: time.Millisecond}, []string{"Props.Timeout"}},
		"ErrLongTimeout":   {gofunction.Props{Package: "x", Timeout: time.Hour}, []string{"Props.Timeout"}},
		"ErrUnevenTimeout": {gofunction.Props{Package: "x", Timeout: 1500 * time.Millisecond}, []string{"Props.Timeout"}},
		"ErrLogLevel":      {gofunction.Props{Package: "x", LogLevel: "INFO"}, []string{"Props.LogLevel"}},
		"ErrRetention":     {gofunction.Props{Package: "x", LogRetention: -1}, []string{"Props.LogRetention"}},
		"ErrConcurrency":   {gofunction.Props{Package: "x", ReservedConcurrency: -1}, []string{"Props.ReservedConcurrency"}},
		"Environment":      {gofunction.Props{Package: "x", Environment: map[string]string{"A_1": strings.Repeat("x", 4093)}}, nil},
		"ErrEnvironment": {gofunction.Props{Package: "x", Environment: map[string]string{
			"1A": "", "A-B": "", "AWS_REGION": "", "LOG_LEVEL": "debug", "Ä": "", "B1": strings.Repeat("x", 4096),
		}}, []string{
			`Props.Environment["1A"]`, `Props.Environment["A-B"]`, `Props.Environment["AWS_REGION"]`, `Props.Environment["LOG_LEVEL"]`, `Props.Environment["Ä"]`, "Props.Environment",
		}},
		"ErrDescription": {gofunction.Props{Package: "x", Description: strings.Repeat("x", 257)}, []string{"Props.Description"}},
		"ErrKey":         {gofunction.Props{Package: "x", Key: struct{ awskms.IAlias }{}}, []string{"Props.Key"}},
		"ErrNotBegun":    {gofunction.Props{Build: &gofunction.Build{}, Name: "hello"}, []string{"Props.Build"}},
		"ErrNotBuilt":    {gofunction.Props{Build: build, Name: "goodbye"}, []string{"Props.Build"}},
		"ErrOtherBuild":  {gofunction.Props{Build: build, Name: "hello", Architecture: gofunction.X86_64}, []string{"Props.Build"}},
		"ErrNilGroup":    {gofunction.Props{Package: "x", Network: gofunction.Network{VPC: (*nothing)(nil), SecurityGroups: []awsec2.ISecurityGroup{nil}}}, []string{"Props.Network.VPC", "Props.Network.SecurityGroups[0]"}},
		"ErrManyAtOnce":  {gofunction.Props{MemoryMegabytes: 1, Timeout: 1}, []string{"Props.Package", "Props.MemoryMegabytes", "Props.Timeout"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.paths, synthtest.Paths(t, test.props.Validate())); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
