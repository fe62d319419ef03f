package platform

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
)

var pathParameter = regexp.MustCompile(`\{[^}]*\}`)

// PathOf returns the path of a route with some value for each parameter.
func PathOf(route schema.Route, parameter string) string {
	return pathParameter.ReplaceAllLiteralString(route.Path, parameter)
}

// checkDocument checks that the function answers with the OpenAPI document of the synth, of which the tests of the
// handlers say what it has.
func (s *Suite) checkDocument(t *testing.T) {
	r := NewClient(t, s.Shared(t)).Try(t, http.MethodGet, s.Document(), nil)
	if written := s.of(t, "dev").Document(t); r.Status != http.StatusOK || string(r.Body) != string(written) {
		t.Errorf("got %v; want the document of the synth:\n%.300s", r, written)
	}
}

// CheckTokens checks that the platform's routes of users and of programs accept no request without a token, and none
// with one that has expired. The tests of the run's gateway know all other tokens. headers go with every request.
func (s *Suite) CheckTokens(t *testing.T, target *Target, headers http.Header) {
	t.Helper()
	c := NewClient(t, target)
	expired := headers.Clone()
	expired.Set("Authorization", "Bearer "+target.Token(t, map[string]any{"sub": "caller", "expires": "-1h"}))
	for _, route := range s.Platform.Routes {
		if !protected(route) {
			continue
		}
		for _, header := range []http.Header{headers, expired} {
			r := c.MustSend(t, route.Method, PathOf(route, "x"), header, nil)
			if r.Status != http.StatusUnauthorized || onesynthtest.Field(r.Body, "message") != "Unauthorized" {
				t.Errorf("got %v; want 401 Unauthorized", r)
			}
		}
	}
}

// protected reports whether a route needs a token and nothing else: that of any user, or of any program.
func protected(route schema.Route) bool {
	return route.Caller == schema.CallerUser ||
		route.Caller.Token == schema.TokenOfProgram && route.Caller.Scope == ""
}
