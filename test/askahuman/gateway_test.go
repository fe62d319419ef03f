package askahuman

import "testing"

// A browser may call every route with every header that the platform reads, and
// read every header that it sends.
func TestCORS(t *testing.T) {
	t.Parallel()
	suite.CheckCORS(t, "/human/questions?limit=1",
		[]string{"Content-Type", "X-Agent-Id", "X-Fingerprint", "X-Timezone", "X-Idempotency-Key"},
		[]string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"})
}

// The OpenAPI document describes the routes that are declared, and no others.
func TestOpenAPIDocument(t *testing.T) {
	t.Parallel()
	suite.CheckDocument(t, "/openapi.json")
}

// Unknown routes are refused.
func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	suite.CheckUnknownRoutes(t, "GET /", "GET /agent", "PUT /agent/questions", "GET /agent/questions/x/y",
		"PATCH /human/responses", "GET /docs", "GET /schemas/AskBody.json", "POST /openapi.json")
}

// The deployed template passes the check that comes before a deployment.
func TestCheckOfDeployed(t *testing.T) {
	t.Parallel()
	suite.CheckDeployed(t)
}
