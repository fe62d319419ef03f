package askahuman

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	http_helper "github.com/gruntwork-io/terratest/modules/http-helper"

	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// A browser may call every route with every header that the platform reads, and
// read every header that it sends.
func TestCORS(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	const origin = "https://app.example.com"
	for _, route := range schema.AskAHuman().Routes {
		path := strings.NewReplacer("{question_id}", "x", "{subscription_id}", "x").Replace(route.Path)
		r := c.MustSend(t, http.MethodOptions, path, http.Header{
			"Origin":                         {origin},
			"Access-Control-Request-Method":  {route.Method},
			"Access-Control-Request-Headers": {"content-type,x-agent-id,x-fingerprint,x-timezone,x-idempotency-key"},
		}, nil)
		if r.Status != http.StatusOK && r.Status != http.StatusNoContent {
			t.Errorf("got %v; want 200 or 204", r)
		}
		if allowed := r.Header.Get("Access-Control-Allow-Origin"); allowed != "*" && allowed != origin {
			t.Errorf("%s %s: got allowed origin %q", route.Method, path, allowed)
		}
		if !lists(r.Header, "Access-Control-Allow-Methods", route.Method) {
			t.Errorf("%s %s: got allowed methods %q", route.Method, path, r.Header.Get("Access-Control-Allow-Methods"))
		}
		for _, name := range []string{"Content-Type", "X-Agent-Id", "X-Fingerprint", "X-Timezone", "X-Idempotency-Key"} {
			if !lists(r.Header, "Access-Control-Allow-Headers", name) {
				t.Errorf("%s %s: got allowed headers %q; want %s", route.Method, path, r.Header.Get("Access-Control-Allow-Headers"), name)
			}
		}
	}
	r := c.MustSend(t, http.MethodGet, "/human/questions?limit=1", http.Header{"Origin": {origin}}, nil)
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"} {
		if !lists(r.Header, "Access-Control-Expose-Headers", name) {
			t.Errorf("got exposed headers %q; want %s", r.Header.Get("Access-Control-Expose-Headers"), name)
		}
	}
	if allowed := r.Header.Get("Access-Control-Allow-Origin"); allowed != "*" && allowed != origin {
		t.Errorf("got %v with allowed origin %q", r, allowed)
	}
}

func lists(header http.Header, name, value string) bool {
	return slices.ContainsFunc(strings.Split(header.Get(name), ","), func(listed string) bool {
		listed = strings.TrimSpace(listed)
		return listed == "*" || strings.EqualFold(listed, value)
	})
}

// The OpenAPI document describes the routes that are declared, and no others.
func TestOpenAPIDocument(t *testing.T) {
	t.Parallel()
	target := shared(t)
	status, body := http_helper.HTTPGetContext(t, t.Context(), target.URL+"/openapi.json", nil)
	if status != http.StatusOK {
		t.Fatalf("got %d: %.300s", status, body)
	}
	var document struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			Responses map[string]any
		}
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(document.OpenAPI, "3.") {
		t.Errorf("got OpenAPI %q; want 3", document.OpenAPI)
	}
	var described, declared []string
	for path, operations := range document.Paths {
		for method, operation := range operations {
			described = append(described, strings.ToUpper(method)+" "+path)
			if len(operation.Responses) < 2 {
				t.Errorf("%s %s: got responses %v; want success and errors", method, path, operation.Responses)
			}
		}
	}
	for _, route := range schema.AskAHuman().Routes {
		declared = append(declared, route.Method+" "+route.Path)
	}
	slices.Sort(described)
	slices.Sort(declared)
	if !slices.Equal(described, declared) {
		t.Errorf("the document describes\n%v\nand the schema declares\n%v", described, declared)
	}
}

// What is no route is refused.
func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	c := newClient(t, shared(t))
	for _, request := range []string{"GET /", "GET /agent", "PUT /agent/questions", "GET /agent/questions/x/y", "PATCH /human/responses", "GET /docs", "GET /schemas/AskBody.json", "POST /openapi.json"} {
		method, path := platform.Split(request)
		if r := c.MustSend(t, method, path, nil, nil); r.Status != http.StatusNotFound && r.Status != http.StatusMethodNotAllowed {
			t.Errorf("got %v; want 404", r)
		}
	}
}
