package todo

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// The health check needs no token.
func TestHealth(t *testing.T) {
	t.Parallel()
	c := platform.NewClient(t, shared(t).Target)
	if r := c.MustSend(t, http.MethodGet, "/health", nil, nil); r.Status != http.StatusOK ||
		string(r.Body) != `{"status":"ok"}`+"\n" && string(r.Body) != `{"status":"ok"}` {
		t.Errorf("got %v; want 200", r)
	}
}

// noted has the errors of a check.
type noted struct {
	testing.TB
	errors []string
}

// Errorf implements testing.TB.
func (n *noted) Errorf(format string, arguments ...any) {
	n.errors = append(n.errors, fmt.Sprintf(format, arguments...))
}

// A stack whose API has another route than the platform and its handler does not pass the check of routes: the
// function does not start.
func TestRoutesThatDiffer(t *testing.T) {
	t.Parallel()
	own := suite.Local(t, "dev")
	on := own.EditedRun(t, local.Options{}, func(template []byte) []byte {
		return bytes.ReplaceAll(template, []byte(`"GET /api/v1/tasks"`), []byte(`"GET /api/v1/chores"`))
	})
	found := &noted{TB: t}
	own.CheckRoutes(found, on)
	if all := strings.Join(found.errors, "\n"); len(found.errors) != 2 ||
		!strings.Contains(all, "got GET /api/v1/tasks, which no API of the run has") ||
		!strings.Contains(all, "todoapi does not start") ||
		!strings.Contains(all, "got GET /api/v1/chores, which this function does not serve") {
		t.Errorf("got %s", all)
	}
}

// Every route of users accepts only valid tokens, in every environment.
func TestTokens(t *testing.T) {
	t.Parallel()
	for _, environment := range []string{"dev", "prod"} {
		t.Run(environment, func(t *testing.T) {
			t.Parallel()
			on := &target{suite.OwnRunOf(t, environment, local.Options{})}
			routes := suite.Protected()
			if len(routes) != len(suite.Platform.Operations())-2 {
				t.Errorf("got protected routes %v; want all but the document and /health", routes)
			}
			suite.CheckTokens(t, on.Target, onesynthtest.Key("key"), routes...)
			// Valid ones are taken.
			newUser(t, on).create(t, input{"title": "Water the plants"})
			count := map[string]int{}
			for _, item := range on.items(t) {
				count[prefixOf(item)]++
			}
			want := map[string]int{"USER": 1, "EMAIL": 1, "COUNTS": 1, "TASK": 1, "IDEMPOTENCY": 2}
			if !maps.Equal(count, want) {
				t.Errorf("got items %v; want %v: refused requests leave nothing", count, want)
			}
			if environment == "prod" {
				suite.CheckGatewayErrors(t, on.Target, environment, suite.Document())
			}
		})
	}
}

// A request that bypasses the gateway has no token either.
func TestFunctionAloneNeedsToken(t *testing.T) {
	t.Parallel()
	on := shared(t)
	if r := on.PastGateway(t, "TodoAPI", http.MethodGet, "/api/v1/tasks"); r.Status != http.StatusUnauthorized ||
		onesynthtest.Field(r.Body, "detail") == "" {
		t.Errorf("got %v; want 401 in the platform's form", r)
	}
}
