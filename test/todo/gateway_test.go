package todo

import (
	"maps"
	"net/http"
	"testing"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// A browser may call every route with every header that the platform reads, and
// read every header that it sends.
func TestCORS(t *testing.T) {
	t.Parallel()
	suite.CheckCORS(t, "/health",
		[]string{"Content-Type", "Authorization", "Idempotency-Key", "If-Match", "X-Timezone"},
		[]string{"ETag", "Location", "Idempotency-Replayed", "Retry-After"})
}

// The OpenAPI document describes the routes that are declared, and no others.
func TestOpenAPIDocument(t *testing.T) {
	t.Parallel()
	suite.CheckDocument(t, "/api/v1/openapi.json")
}

// Unknown routes are refused.
func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	suite.CheckUnknownRoutes(t, "GET /", "GET /api/v1", "GET /api/v1/users", "PATCH /api/v1/users/me", "PUT /api/v1/tasks",
		"GET /api/v1/tasks/x/y", "DELETE /api/v1/tasks", "POST /health", "GET /docs", "GET /openapi.json", "POST /api/v1/openapi.json")
}

// Whether the API answers can be asked without a token.
func TestHealth(t *testing.T) {
	t.Parallel()
	c := platform.NewClient(t, shared(t).Target)
	if r := c.MustSend(t, http.MethodGet, "/health", nil, nil); r.Status != http.StatusOK || string(r.Body) != `{"status":"ok"}`+"\n" && string(r.Body) != `{"status":"ok"}` {
		t.Errorf("got %v; want 200", r)
	}
}

// Every route of users takes none but valid tokens, in every environment.
func TestTokens(t *testing.T) {
	t.Parallel()
	for _, environment := range []string{"dev", "prod"} {
		t.Run(environment, func(t *testing.T) {
			t.Parallel()
			on := &target{suite.OwnRunOf(t, environment, local.Options{})}
			routes := suite.Protected()
			if len(routes) != len(suite.Platform.Routes)-2 {
				t.Errorf("got protected routes %v; want all but the document and /health", routes)
			}
			suite.CheckTokens(t, on.Target, withKey("key"), routes...)
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
				suite.CheckGatewayErrors(t, on.Target, environment, "/api/v1/openapi.json")
			}
		})
	}
}

// A request that reaches the function by another way than the gateway has no token
// either.
func TestFunctionAloneTakesNobody(t *testing.T) {
	t.Parallel()
	on := shared(t)
	if r := on.PastGateway(t, "TodoAPI", http.MethodGet, "/api/v1/tasks"); r.Status != http.StatusUnauthorized || onesynthtest.Field(r.Body, "detail") == "" {
		t.Errorf("got %v; want 401 in the platform's form", r)
	}
}

// The deployed template passes the check that comes before a deployment.
func TestCheckOfDeployed(t *testing.T) {
	t.Parallel()
	suite.CheckDeployed(t)
}
