package platform_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"

	"github.com/onesynth-cdk/onesynth/constructs/alarm"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// topic is a stub: the checks use nothing of it.
type topic struct{ awssns.ITopic }

// Nothing of these is there.
type (
	noKey   struct{ awskms.IKey }
	noVPC   struct{ awsec2.IVpc }
	noTable struct{ awsdynamodb.ITable }
)

// built is a build of packages that do not exist: no test waits for it.
func built(architecture gofunction.Architecture, packages ...string) *gofunction.Build {
	return gofunction.Start(context.Background(),
		gofunction.Source{Directory: "nowhere", Packages: packages, Architecture: architecture})
}

// functions are the names of the platform's functions.
func functions(p schema.Platform) (names []string) {
	for _, f := range p.Functions {
		names = append(names, f.Name)
	}
	return names
}

func TestPropsCheck(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		props platform.Props
		// paths are the paths of the findings, in order.
		paths []string
	}{
		"Zero":                 {platform.Props{}, nil},
		"Issuer":               {platform.Props{JWTIssuer: "https://a.example", JWTAudience: []string{"b"}}, nil},
		"IssuerOfAnotherStack": {platform.Props{JWTIssuer: "${Token[TOKEN.7]}", JWTAudience: []string{"b"}}, nil},
		"ErrIssuerWithoutTLS": {platform.Props{JWTIssuer: "http://a.example", JWTAudience: []string{"b"}},
			[]string{"Props.JWTIssuer"}},
		"ErrNoAudience":     {platform.Props{JWTIssuer: "https://a.example"}, []string{"Props.JWTAudience"}},
		"PrefixWithoutLake": {platform.Props{Prefix: "primary"}, nil},
		"ErrPrefix":         {platform.Props{Prefix: "Aah-"}, []string{"Props.Prefix"}},
		"ErrProtectedButRemoved": {platform.Props{RemoveWithStack: true, DeletionProtection: true},
			[]string{"Props.DeletionProtection"}},
		"ErrProtectedReplica": {platform.Props{RemoveWithStack: true, Tables: table.DatabaseOptions{All: table.Options{
			Replicas: []table.Replica{{Region: "eu-west-1", DeletionProtection: true}},
		}}}, []string{"Props.Tables.All.Replicas[0].DeletionProtection"}},
		"ErrArchitecture": {platform.Props{Architecture: "riscv64"}, []string{"Props.Architecture"}},
		"ErrOrigin": {platform.Props{AllowedOrigins: []string{"*", "https://a.example/", "a.example"}},
			[]string{"Props.AllowedOrigins[1]", "Props.AllowedOrigins[2]"}},
		"ErrThrottle": {platform.Props{Throttle: httpapi.Throttle{RequestsPerSecond: -1}},
			[]string{"Props.Throttle.RequestsPerSecond", "Props.Throttle.Burst"}},
		"ErrLogLevel":     {platform.Props{LogLevel: "verbose"}, []string{"Props.LogLevel"}},
		"ErrLogRetention": {platform.Props{LogRetention: 31}, []string{"Props.LogRetention"}},
		"Sizes": {platform.Props{MemoryMegabytes: map[string]int{"agentapi": 10240, "mcpapi": 128},
			ReservedConcurrency: map[string]int{"notifier": 1}}, nil},
		"Timeouts": {platform.Props{TimeoutSeconds: map[string]int{"agentapi": 3, "humanapi": 30, "notifier": 900}},
			nil},
		"ErrTimeouts": {platform.Props{TimeoutSeconds: map[string]int{"agentapi": 2, "humanapi": 31, "notifier": 901,
			"mcpapi": 0, "nobody": 1}}, []string{
			`Props.TimeoutSeconds["agentapi"]`, `Props.TimeoutSeconds["humanapi"]`, `Props.TimeoutSeconds["mcpapi"]`,
			`Props.TimeoutSeconds["nobody"]`, `Props.TimeoutSeconds["notifier"]`,
		}},
		"ErrZeroSizes": {platform.Props{MemoryMegabytes: map[string]int{"agentapi": 0},
			ReservedConcurrency: map[string]int{"notifier": 0}},
			[]string{`Props.MemoryMegabytes["agentapi"]`, `Props.ReservedConcurrency["notifier"]`}},
		// In an interface, a nil pointer is not nil.
		"ErrNilPointers": {platform.Props{
			Key: (*noKey)(nil), AlarmTopic: (*topic)(nil), VPC: (*noVPC)(nil),
			Tables: table.DatabaseOptions{Existing: map[string]awsdynamodb.ITable{"Guards": (*noTable)(nil)}},
		}, []string{`Props.Tables.Existing["Guards"]`, "Props.Key", "Props.VPC", "Props.AlarmTopic"}},
		"ErrAlias": {platform.Props{Key: struct{ awskms.IAlias }{}}, []string{"Props.Key"}},
		"Build":    {platform.Props{Build: built(gofunction.X86_64, functions(askahuman.Platform())...)}, nil},
		"ErrOwn": {platform.Props{Own: platform.Own{Own: schema.Own{
			Routes:  []schema.Route{{Method: "GET", Path: "/mine", Function: "agentapi", Caller: schema.CallerAnyone}},
			Callers: map[string]schema.Caller{"GET /openapi.json": schema.CallerAnyone, "GET /nowhere": {IAM: true}},
		}}}, []string{"Props.Own.Routes[GET /mine].Function", "Props.Own.Callers[GET /nowhere]",
			"Props.Own.Callers[GET /openapi.json]"}},
		"ErrNoBuild": {platform.Props{Build: &gofunction.Build{}}, []string{"Props.Build"}},
		"ErrHalfBuild": {platform.Props{Build: built("", "agentapi"), Architecture: gofunction.X86_64},
			[]string{"Props.Build", "Props.Build"}},
		"ErrSizes": {platform.Props{MemoryMegabytes: map[string]int{"agentapi": 127, "humanapi": 10241, "nobody": 256},
			ReservedConcurrency: map[string]int{"agentapi": -1, "nobody": -1}}, []string{
			`Props.MemoryMegabytes["agentapi"]`, `Props.MemoryMegabytes["humanapi"]`, `Props.MemoryMegabytes["nobody"]`,
			`Props.ReservedConcurrency["agentapi"]`, `Props.ReservedConcurrency["nobody"]`,
			`Props.ReservedConcurrency["nobody"]`,
		}},
		"ErrTopicOfNoAlarms": {platform.Props{AlarmTopic: topic{}, NoAlarms: true}, []string{"Props.AlarmTopic"}},
		"Email": {platform.Props{AlarmEmail: "ops@example.com", Runbook: "https://wiki.example.com/a?b#c",
			MetricNamespace: "Acme/asks"}, nil},
		"TopicARN": {platform.Props{AlarmTopicARN: "arn:aws:sns:eu-west-1:111122223333:alerts",
			Alarms: map[string]alarm.Options{"SlowAlarm": {Threshold: 0.5}}}, nil},
		"ErrTwoTopics": {platform.Props{AlarmTopicARN: "arn:aws:sns:eu-west-1:111122223333:alerts",
			AlarmEmail: "ops@example.com", AlarmTopic: topic{}}, []string{"Props.AlarmTopicARN", "Props.AlarmEmail"}},
		"ErrAlarms": {platform.Props{
			AlarmTopicARN: "arn:aws:sqs:eu-west-1:111122223333:alerts", AlarmEmail: "Ops <ops@example.com>",
			Runbook: "http://wiki.example.com", MetricNamespace: "AWS/Lambda",
			Alarms: map[string]alarm.Options{"SlowAlarm": {Threshold: -1}, "APIAlarm": {Off: true, Periods: 1}},
		}, []string{
			"Props.AlarmEmail", "Props.AlarmTopicARN", "Props.AlarmEmail", `Props.Alarms["APIAlarm"].Off`,
			`Props.Alarms["SlowAlarm"].Threshold`, "Props.Runbook", "Props.MetricNamespace",
		}},
		"ErrAlarmsOfNone": {platform.Props{NoAlarms: true, AlarmEmail: "ops@example.com",
			Alarms: map[string]alarm.Options{"SlowAlarm": {}}}, []string{"Props.AlarmEmail", "Props.Alarms"}},
		"Tables": {platform.Props{Tables: table.DatabaseOptions{All: table.Options{RecoveryDays: 1}}}, nil},
		"ErrTables": {platform.Props{Tables: table.DatabaseOptions{
			All: table.Options{RecoveryDays: 36}, Each: map[string]table.Options{"Nowhere": {}},
			Existing: map[string]awsdynamodb.ITable{"Guards": nil},
		}}, []string{`Props.Tables.Each["Nowhere"]`, `Props.Tables.Existing["Guards"]`,
			"Props.Tables.All.RecoveryDays"}},
		"ErrNoVPC": {platform.Props{Subnets: awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PUBLIC},
			SecurityGroups: make([]awsec2.ISecurityGroup, 6)}, []string{
			"Props.Subnets", "Props.Subnets.SubnetType", "Props.SecurityGroups", "Props.SecurityGroups",
			"Props.SecurityGroups[0]", "Props.SecurityGroups[1]",
			"Props.SecurityGroups[2]", "Props.SecurityGroups[3]", "Props.SecurityGroups[4]", "Props.SecurityGroups[5]",
		}},
		"ErrLowPort":  {platform.Props{LocalPort: 1023}, []string{"Props.LocalPort"}},
		"LocalPort":   {platform.Props{LocalPort: 65535}, nil},
		"ErrHighPort": {platform.Props{LocalPort: 65536}, []string{"Props.LocalPort"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// An importer may have the props in a field of another name.
			for _, path := range []string{"Props", "Settings.Asks"} {
				var want []string
				for _, p := range test.paths {
					want = append(want, path+strings.TrimPrefix(p, "Props"))
				}
				synthtest.Findings(t, want, func(f *finding.List) {
					test.props.Check(f, path, "", askahuman.Platform())
				})
			}
		})
	}
}
