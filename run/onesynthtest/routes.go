package onesynthtest

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/run/runtest"
)

// CheckRoutes checks that the routes of the platform, of the run's APIs and of the handlers are the same. Each route of
// the platform must be one of an API, and each function must start. A handler of lambdas/kit refuses to start if it
// does not serve a route that leads to it, or serves an operation without a route.
func (s *Suite) CheckRoutes(t testing.TB, target *Target) {
	t.Helper()
	runner := target.Run.Parts()
	led := apigateway.RoutesTo(runner.Assembly)
	var keys []string
	for _, of := range led {
		keys = append(keys, of...)
	}
	slices.Sort(keys)
	for _, route := range s.Platform.Routes {
		if !slices.Contains(keys, route.Key()) {
			t.Errorf("routes of %s: got %s, which no API of the run has, allowed are %s: take it from the Routes of "+
				"the schema, or declare it in the stack", cmp.Or(s.Platform.Title, s.Platform.Name), route.Key(),
				strings.Join(keys, ", "))
		}
	}
	for name := range led {
		var status lambda.Status
		wait.Until(t, name+" starts, or fails to", func() (any, bool) {
			all := runner.Functions.Functions()
			status = all[slices.IndexFunc(all, func(f lambda.Status) bool { return f.Name == name })]
			return status, status.Deaths > 0 || started(status)
		}, wait.On(target))
		if !started(status) {
			t.Errorf("%s does not start:\n%s", status.Label,
				strings.Join(runtest.Of(target.Run).Lines(name), "\n"))
		}
	}
}

func started(f lambda.Status) bool {
	return slices.ContainsFunc(f.Instances, func(i lambda.Instance) bool { return i.Ready })
}
