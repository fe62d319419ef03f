package gofunction_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/props"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
)

func TestMain(m *testing.M) { synthtest.Main(m, declare) }

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
		Settings:            gofunction.Settings{LogLevel: "warn", LogRetention: props.OneWeek, Tracing: true},
		ReservedConcurrency: 3,
	})
	all.AddEnvironment(map[string]string{"NAME": "you"})
	all.Allow([]string{"sqs:SendMessage", "sqs:ReceiveMessage"}, "arn:aws:sqs:eu-central-1:111122223333:greetings")
	caller := awsiam.NewRole(stack, jsii.String("Caller"),
		&awsiam.RoleProps{AssumedBy: awsiam.NewServicePrincipal(jsii.String("scheduler.amazonaws.com"), nil)})
	all.GrantInvoke(caller)
}

// The golden file has a function of zero props and one of all, and what their roles may do. It says how each can be
// built for another machine, and names no folder of this one.
func TestGolden(t *testing.T) {
	t.Parallel()
	synthtest.Golden(t, "testdata/golden", "", synthtest.Stacks(t, "stack"))
}

// nothing is a VPC that is not there.
type nothing struct{ awsec2.IVpc }

func TestPropsValidate(t *testing.T) {
	t.Parallel()
	build := gofunction.Start(t.Context(), gofunction.Source{Directory: "testdata/handlers",
		Packages: []string{"hello"}})
	synthtest.Validate(t, map[string]synthtest.Case[gofunction.Props]{
		"Package":     {gofunction.Props{Package: "x"}, nil},
		"Build":       {gofunction.Props{Build: build, Name: "hello"}, nil},
		"ErrZero":     {gofunction.Props{}, []string{"Props.Package"}},
		"ErrNoFolder": {gofunction.Props{Package: "./"}, []string{"Props.Package"}},
		"ErrParent":   {gofunction.Props{Package: "handlers/../.."}, []string{"Props.Package"}},
		"ErrHuge": {gofunction.Props{Package: "x", ReservedConcurrency: math.MaxInt},
			[]string{"Props.ReservedConcurrency"}},
		"ErrBoth":         {gofunction.Props{Build: build, Package: "x"}, []string{"Props.Package"}},
		"ErrNoName":       {gofunction.Props{Build: build}, []string{"Props.Name"}},
		"ErrArchitecture": {gofunction.Props{Package: "x", Architecture: "amd64"}, []string{"Props.Architecture"}},
		"ErrLittleMemory": {gofunction.Props{Package: "x", MemoryMegabytes: 64}, []string{"Props.MemoryMegabytes"}},
		"ErrMuchMemory":   {gofunction.Props{Package: "x", MemoryMegabytes: 10241}, []string{"Props.MemoryMegabytes"}},
		"ErrShortTimeout": {gofunction.Props{Package: "x", Timeout: time.Millisecond}, []string{"Props.Timeout"}},
		"ErrLongTimeout":  {gofunction.Props{Package: "x", Timeout: time.Hour}, []string{"Props.Timeout"}},
		"ErrUnevenTimeout": {gofunction.Props{Package: "x", Timeout: 1500 * time.Millisecond},
			[]string{"Props.Timeout"}},
		"ErrLogLevel": {gofunction.Props{Package: "x", Settings: gofunction.Settings{LogLevel: "INFO"}},
			[]string{"Props.LogLevel"}},
		"ErrRetention": {gofunction.Props{Package: "x", Settings: gofunction.Settings{LogRetention: -2}},
			[]string{"Props.LogRetention"}},
		"ErrConcurrency": {gofunction.Props{Package: "x", ReservedConcurrency: -1},
			[]string{"Props.ReservedConcurrency"}},
		"Environment": {gofunction.Props{Package: "x",
			Environment: map[string]string{"A_1": strings.Repeat("x", 4093)}}, nil},
		"ErrEnvironment": {gofunction.Props{Package: "x", Environment: map[string]string{
			"1A": "", "A-B": "", "AWS_REGION": "", "LOG_LEVEL": "debug", "ONESYNTH_LOOPBACK_WEBHOOKS": "allowed",
			"ONESYNTH_LOOPBACK_PUSH": "allowed", "Ä": "", "B1": strings.Repeat("x", 4096),
		}}, []string{
			`Props.Environment["1A"]`, `Props.Environment["A-B"]`, `Props.Environment["AWS_REGION"]`,
			`Props.Environment["LOG_LEVEL"]`, `Props.Environment["ONESYNTH_LOOPBACK_PUSH"]`,
			`Props.Environment["ONESYNTH_LOOPBACK_WEBHOOKS"]`,
			`Props.Environment["Ä"]`, "Props.Environment",
		}},
		"ErrDescription": {gofunction.Props{Package: "x", Description: strings.Repeat("x", 257)},
			[]string{"Props.Description"}},
		"ErrKey": {gofunction.Props{Package: "x", Settings: gofunction.Settings{Key: struct{ awskms.IAlias }{}}},
			[]string{"Props.Key"}},
		"ErrNotBegun": {gofunction.Props{Build: &gofunction.Build{}, Name: "hello"}, []string{"Props.Build"}},
		"ErrNotBuilt": {gofunction.Props{Build: build, Name: "goodbye"}, []string{"Props.Build"}},
		"ErrOtherBuild": {gofunction.Props{Build: build, Name: "hello", Architecture: gofunction.X86_64},
			[]string{"Props.Build"}},
		"ErrNilGroup": {gofunction.Props{Package: "x",
			Settings: gofunction.Settings{Network: gofunction.Network{VPC: (*nothing)(nil),
				SecurityGroups: []awsec2.ISecurityGroup{nil}}}},
			[]string{"Props.Network.VPC", "Props.Network.SecurityGroups[0]"}},
		"ErrManyAtOnce": {gofunction.Props{MemoryMegabytes: 1, Timeout: 1},
			[]string{"Props.Package", "Props.MemoryMegabytes", "Props.Timeout"}},
	})
}
