package platform

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/internal/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Scenario is what the checks of every platform need to know of one, beyond its schema.
type Scenario struct {
	// Open is the path of a GET that anyone may make, and that a function answers.
	Open string
	// Walkthrough is the document whose commands are carried out. Varies are parts of what they
	// print that may be missing; nil: none.
	Walkthrough string
	Varies      *regexp.Regexp
	// Odd is what the fuzzer tries, Statuses are the statuses that it has to get, and LargeBodies are bodies of the
	// platform's own form that are too large.
	Odd         Odd
	Statuses    []int
	LargeBodies map[string][]byte
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
		// A browser may call every route with every header that the platform reads, and read
		// every header that it sends.
		"CORS": func(t *testing.T) {
			s.CheckCORS(t, p.Open, s.Platform.RequestHeaders, s.Platform.ResponseHeaders)
		},
		"Document": func(t *testing.T) { s.CheckDocument(t, s.Document()) },
		"Routes": func(t *testing.T) {
			own := s.Local(t, "dev")
			own.CheckRoutes(t, own.Shared(t))
		},
		"UnknownRoutes": s.checkUnknownRoutes,
		// The deployed template passes the check that comes before a deployment.
		"Deployed":    func(t *testing.T) { s.CheckDeployed(t) },
		"Prod":        s.checkProd,
		"Tables":      s.checkTables,
		"Expiry":      s.checkExpiry,
		"Walkthrough": func(t *testing.T) { s.CheckWalkthrough(t, p.Walkthrough, p.Varies) },
		"AnyRequest":  func(t *testing.T) { s.checkAnyRequest(t, p.Odd, p.Statuses...) },
		"LargeBodies": func(t *testing.T) { s.checkLargeBodies(t, p.Odd, p.LargeBodies) },
		// Some request needs every permission: none is superfluous or missing.
		"EveryGrant": func(t *testing.T) { s.checkGrants(t, p.Uses) },
		"Throttling": s.checkThrottling,
		"Calls":      s.checkCalls,
		"Growth":     s.checkGrowth,
	}
	for name, check := range checks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t)
		})
	}
	s.CheckRepeats(t, p.Repeat)
	if slices.ContainsFunc(s.Platform.Routes, func(r schema.Route) bool { return r.Caller == schema.CallerUser }) {
		t.Run("Tokens", func(t *testing.T) {
			t.Parallel()
			s.checkTokensOfUsers(t, p)
		})
	}
}

// checkTokensOfUsers checks that every route of users accepts only valid tokens, that requests without one leave
// nothing in any table, and that a function past the gateway accepts none.
func (s *Suite) checkTokensOfUsers(t *testing.T, p Scenario) {
	on := s.OwnRunOf(t, "prod", run.Options{})
	s.CheckTokens(t, on, onesynthtest.Key("key"), s.Protected()...)
	for _, table := range s.Platform.Database.Tables {
		if items := on.Items(t, table.Name); len(items) != 0 && table.Name != p.SignUps {
			t.Errorf("%s: got %v; want refused requests to leave nothing", table.Name, items)
		}
	}
	s.CheckGatewayErrors(t, on, "prod", s.Document())
	measured, runner := s.measured(t, on)
	valid, _, err := requestOf(t.Context(), measured, runner, s.Platform.RoutesOf(schema.CallerUser)[0])
	if err != nil {
		t.Fatal(err)
	}
	r := must.Get(valid.Send(t.Context()))(t)
	Succeeded(t, r)
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

// checkUnknownRoutes checks that requests of no route are refused: other methods of each route's
// path, paths below it, and what other frameworks would serve.
func (s *Suite) checkUnknownRoutes(t *testing.T) {
	c := NewClient(t, s.Shared(t))
	requests := []string{"GET /", "GET /docs", "GET /schemas/Body.json", "GET /openapi.yaml"}
	for _, route := range s.Platform.Routes {
		path := PathOf(route, "x")
		requests = append(requests, route.Method+" "+strings.TrimSuffix(path, "/")+"/y/z")
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch,
			http.MethodDelete} {
			requests = append(requests, method+" "+path)
		}
	}
	seen, unknown := map[string]bool{}, 0
	for _, request := range requests {
		if method, path := onesynthtest.Split(request); !seen[request] && !s.serves(method, path) {
			unknown++
			if r := c.MustSend(t, method, path, nil, nil); r.Status != http.StatusNotFound &&
				r.Status != http.StatusMethodNotAllowed {
				t.Errorf("got %v; want 404", r)
			}
		}
		seen[request] = true
	}
	if unknown < len(s.Platform.Routes) {
		t.Errorf("got %d unknown routes to try; want some for each route", unknown)
	}
}

// serves reports whether a route of the schema serves the request.
func (s *Suite) serves(method, path string) bool {
	for _, route := range s.Platform.Routes {
		pattern := "^" + pathParameter.ReplaceAllLiteralString(route.Path, "[^/]+") + "$"
		if route.Method == method && regexp.MustCompile(pattern).MatchString(path) {
			return true
		}
	}
	return false
}
