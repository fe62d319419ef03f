package platform

import (
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

var writeCalls = flag.Bool("write-calls", false, "write the calls of docs/reference/routes")

// checkCalls checks that docs/reference/routes shows the calls of DynamoDB that each route makes.
func (s *Suite) checkCalls(t *testing.T) {
	tracer := &routes.Tracer{Delay: 20 * time.Millisecond}
	// A request has to meet the instance that has kept what the ones before it read.
	target := s.OwnRun(t, run.Options{Observe: tracer.Observe, MaxInstances: 1})
	measured, runner := s.measured(t, target)
	table, missing, err := measured.Calls(t.Context(), s.Platform, runner, tracer)
	must.OK(t, err)
	for _, route := range missing {
		if !strings.HasSuffix(route, "/health") && !strings.HasSuffix(route, "/openapi.json") {
			t.Errorf("package routes has no request of %s, which is no operation: add one", route)
		}
	}
	s.checkTraces(t, runtest.Of(target.Run))
	path := routes.Page(Root(t), s.Platform.Name)
	got := must.Get(os.ReadFile(path))(t)
	want := must.Get(routes.Replace(string(got), routes.SectionCalls, table))(t)
	if *writeCalls {
		must.OK(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is stale: run `make calls` (-want +got):\n%s", path, diff)
	}
}

// checkGrowth checks that no route costs more calls or read units with ten times the items. It takes minutes: a release
// has it.
func (s *Suite) checkGrowth(t *testing.T) {
	if os.Getenv("ONESYNTH_TEST_GROWTH") == "" {
		t.Skip("takes minutes: make test-release has it")
	}
	target := s.OwnRun(t, run.Options{NoSchedules: true, MaxInstances: 1})
	measured, runner := s.measured(t, target)
	grown := must.Get(measured.Growth(t.Context(), runner, []int{routes.FullPages, 10 * routes.FullPages},
		func(line string) {
			t.Log(line)
		}))(t)
	for _, g := range grown {
		if g.Grows() {
			t.Errorf("%s: a second request costs %v, and with ten times the items %v: it has to follow its answer",
				g.Route, g.Second[0], g.Second[1])
		}
	}
}

// measured has the requests of package routes to the platform, and the target as it takes that.
func (s *Suite) measured(t testing.TB, target *Target) (routes.Measured, *routes.Run) {
	t.Helper()
	return must.Get(routes.Of(s.Construct))(t), &routes.Run{API: target.Run.URL(""), Console: target.Run.ConsoleURL(),
		Seed: func(context.Context, string) error { return s.loadSome(t, target) }}
}

// checkTraces checks that the record of the run has the access pattern of every call of DynamoDB, one that the schema
// has.
func (s *Suite) checkTraces(t *testing.T, runner runtest.Run) {
	requests, calls := runner.Requests("", 0), 0
	for _, request := range requests {
		if runner.Newest(request.ID).ID != request.ID {
			t.Fatalf("the run lists the request %s, and does not have it", request.ID)
		}
		for _, call := range runner.Calls(request.ID) {
			if call.Service != "dynamodb" {
				continue
			}
			calls++
			known := func(p schema.AccessPattern) bool {
				return len(call.AccessPatterns) == 1 && call.AccessPatterns[0] == p.Name
			}
			if !slices.ContainsFunc(s.Platform.Database.AccessPatterns, known) {
				t.Errorf("%s %s: the function %s makes the call %s %s by the access patterns %q: the schema has to "+
					"have it", request.Method, request.Path, call.Function, call.Operation, call.Table,
					call.AccessPatterns)
			}
		}
	}
	if calls == 0 {
		t.Errorf("%d requests have no call of DynamoDB", len(requests))
	}
}
