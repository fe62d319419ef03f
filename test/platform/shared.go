package platform

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Scenario is what the checks of every platform need to know of one, beyond its schema.
type Scenario struct {
	// Walkthrough is the document whose commands are carried out. Varies are parts of what they
	// print that may be missing; nil: none.
	Walkthrough string
	Varies      *regexp.Regexp
	// Statuses are those that odd requests have to get.
	Statuses []int
	// Uses makes every function do its work, but for what the requests of package routes do.
	Uses func(testing.TB, *Target)
	// SignUps is the table that a sign-up fills; empty: none.
	SignUps string
	// Repeat makes a new caller ready to make one thing, with an idempotency key.
	Repeat func(testing.TB, *Target) Repeat
}

// Check runs the checks that every platform passes, each as a test of its own.
func (s *Suite) Check(t *testing.T, p Scenario) {
	checks := map[string]func(*testing.T){
		"Document": s.checkDocument,
		"Routes": func(t *testing.T) {
			own := s.Local(t, "dev")
			own.CheckRoutes(t, own.Shared(t))
		},
		// The deployed template passes the check that comes before a deployment.
		"Deployed": s.checkDeployed,
		"Prod":     s.checkProd,
		"Walkthrough": func(t *testing.T) {
			own := s.OwnRun(t, run.Options{})
			// As make run does.
			must.OK(t, own.Run.LoadInitialData(t.Context()))
			Walk(t, p.Walkthrough, own.Target, p.Varies)
		},
		"OddRequests": func(t *testing.T) { s.checkOddRequests(t, p.Statuses...) },
		// Some request needs every permission: none is superfluous or missing.
		"EveryGrant": func(t *testing.T) { s.checkGrants(t, p.Uses) },
		"Throttling": s.checkThrottling,
		"Calls":      s.checkCalls,
		"Growth":     s.checkGrowth,
	}
	if slices.ContainsFunc(s.Platform.Routes, func(r schema.Route) bool { return r.Caller == schema.CallerUser }) {
		checks["Tokens"] = func(t *testing.T) { s.checkTokensOfUsers(t, p) }
	}
	for name, check := range checks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t)
		})
	}
	s.CheckRepeats(t, p.Repeat)
}

// checkTokensOfUsers checks that every route of users accepts only valid tokens, that requests without one leave
// nothing in any table, and that a function past the gateway accepts none.
func (s *Suite) checkTokensOfUsers(t *testing.T, p Scenario) {
	on := s.OwnRunOf(t, "prod", run.Options{})
	s.CheckTokens(t, on, onesynthtest.Key("key"))
	for _, table := range s.Platform.Database.Tables {
		if items := on.Items(t, table.Name); len(items) != 0 && table.Name != p.SignUps {
			t.Errorf("%s: got %v; want refused requests to leave nothing", table.Name, items)
		}
	}
	s.CheckGatewayErrors(t, on, "prod")
	measured, runner := s.measured(t, on)
	valid := must.Get(requestOf(t.Context(), measured, runner, s.Platform.RoutesOf(schema.CallerUser)[0]))(t)
	Succeeded(t, must.Get(valid.Send(t.Context()))(t))
	for _, route := range s.Platform.Routes {
		if route.Caller != schema.CallerUser || route.Method != http.MethodGet {
			continue
		}
		function, _ := s.Platform.Function(route.Function)
		r := on.PastGateway(t, function.ConstructID(), route.Method, PathOf(route, "x"))
		if _, err := s.IsError(r); err != nil || r.Status != http.StatusUnauthorized {
			t.Errorf("past the gateway: got %v, %v; want 401 in the platform's form", r, err)
		}
	}
}

// Document is the path of the platform's OpenAPI document.
func (s *Suite) Document() string {
	for _, route := range s.Platform.Routes {
		if strings.HasSuffix(route.Path, "/openapi.json") {
			return route.Path
		}
	}
	return ""
}
