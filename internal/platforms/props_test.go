package platforms_test

import (
	"context"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/httpapi"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/synthtest"
	"github.com/onesynth-cdk/onesynth/constructs/table"
	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Every platform refuses what is wrong in the props that all have, at once and before it
// declares anything. Package constructs/platform tests each prop.
func TestCommonProps(t *testing.T) {
	t.Parallel()
	for _, p := range platforms.All() {
		function := p.Schema.Functions[0].Name
		*p.Common() = platform.Props{
			JWTIssuer: "http://a.example", Prefix: "-", RemoveWithStack: true, DeletionProtection: true,
			Architecture:   "riscv64",
			AllowedOrigins: []string{"a.example"}, Throttle: httpapi.Throttle{Burst: 1},
			RouteThrottles: map[string]httpapi.Throttle{"GET /nowhere": {}}, DomainName: "-", LogLevel: "verbose",
			LogRetention: 31, LocalPort: 80,
			Tables:          table.DatabaseOptions{All: table.Options{RecoveryDays: 36}},
			SecurityGroups:  []awsec2.ISecurityGroup{nil},
			MemoryMegabytes: map[string]int{"unknown": 128}, ReservedConcurrency: map[string]int{function: -1},
		}
		want := []string{
			"Props.JWTAudience", "Props.JWTIssuer", "Props.Prefix", "Props.Tables.All.RecoveryDays",
			"Props.DeletionProtection", "Props.Architecture",
			"Props.AllowedOrigins[0]", "Props.Throttle.RequestsPerSecond", `Props.RouteThrottles["GET /nowhere"]`,
			"Props.DomainName", "Props.CertificateARN", "Props.LogLevel", "Props.LogRetention",
			"Props.SecurityGroups", "Props.SecurityGroups[0]",
			`Props.MemoryMegabytes["unknown"]`, `Props.ReservedConcurrency["` + function + `"]`, "Props.LocalPort",
		}
		if diff := cmp.Diff(want, synthtest.Paths(t, p.Props.Validate())); diff != "" {
			t.Errorf("%s: findings (-want +got):\n%s", p.Name(), diff)
		}
		synthtest.PanicsWithFindings(t, func() { p.Declare(nil) }, want...)
	}
}

// Platforms for one processor share a build, which has the functions of all of them.
func TestBuild(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // It is enough to begin.
	all := platforms.All()
	last := len(all) - 1
	all[last].Common().Architecture = gofunction.X86_64
	platforms.Build(ctx, all)
	for i, p := range all {
		if shared := p.Common().Build == all[0].Common().Build; shared != (i < last) {
			t.Errorf("%s shares the build of %s: got %t, want %t", p.Name(), all[0].Name(), shared, i < last)
		}
		var found finding.List
		for _, folder := range p.Handlers().Packages {
			p.Common().Build.Check(&found, folder, p.Common().Architecture, folder)
		}
		if err := found.Err(); err != nil {
			t.Errorf("%s: %v", p.Name(), err)
		}
	}
}
