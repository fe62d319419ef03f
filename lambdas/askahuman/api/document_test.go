package api_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/schema"
)

// openDocument is the document of open agents, read once.
var openDocument = sync.OnceValues(func() (httpapitest.Document, error) {
	var d httpapitest.Document
	body, err := api.Document(true)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(body, &d)
})

func readDocument(t *testing.T, open bool) (httpapitest.Document, string) {
	t.Helper()
	body, err := api.Document(open)
	if err != nil {
		t.Fatal(err)
	}
	return httpapitest.Parse(t, body), string(body)
}

// What every operation has is described for each.
func TestDocument(t *testing.T) {
	t.Parallel()
	d, _ := readDocument(t, true)
	d.HasRoutes(t, schema.AskAHuman())
	for _, route := range schema.AskAHuman().Routes {
		key := route.Method + " " + route.Path
		limited := route.RateLimit != ""
		for status, response := range d.Paths[route.Path][strings.ToLower(route.Method)].Responses {
			if status >= "400" {
				content := response.Content["application/json"]
				if content.Schema["$ref"] != "#/components/schemas/ErrorResponse" || content.Example == nil {
					t.Errorf("%s %s: the error is described as %v", key, status, content)
				}
			}
			if _, ok := response.Headers["X-RateLimit-Remaining"]; ok != limited {
				t.Errorf("%s %s: rate limit headers described is %v", key, status, ok)
			}
			if _, ok := response.Headers["Retry-After"]; ok != (status == "429" || route.Path == "/agent/questions" && status == "409") {
				t.Errorf("%s %s: Retry-After described is %v", key, status, ok)
			}
		}
	}
}

func TestDocumentStatuses(t *testing.T) {
	t.Parallel()
	d, _ := readDocument(t, true)
	d.HasStatuses(t, map[string]string{
		"post /agent/questions":                          "201 400 403 409 429 500",
		"get /agent/questions":                           "200 400 429 500",
		"get /agent/questions/{question_id}":             "200 400 404 429 500",
		"delete /agent/questions/{question_id}":          "204 400 404 429 500",
		"get /human/questions":                           "200 400 429 500",
		"get /human/questions/{question_id}":             "200 400 404 410 429 500",
		"post /human/responses":                          "201 400 404 409 410 429 500",
		"post /human/push/subscribe":                     "201 400 429 500",
		"put /human/push/subscribe/{subscription_id}":    "200 400 404 429 500",
		"delete /human/push/subscribe/{subscription_id}": "204 400 404 500",
		"get /human/stats":                               "200 400 429 500",
		"get /human/leaderboard":                         "200 400 429 500",
		"get /openapi.json":                              "200 400 500",
	})
}

// How agents are known is described as it is.
func TestDocumentIdentity(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{true, false} {
		d, _ := readDocument(t, open)
		operation := d.Paths["/agent/questions"]["post"]
		var header bool
		for _, p := range operation.Parameters {
			header = header || p.Name == "X-Agent-Id" && p.In == "header" && p.Required
		}
		_, unauthorized := operation.Responses["401"]
		if header != open || unauthorized == open || (len(operation.Security) > 0) == open || (len(d.Components.SecuritySchemes) > 0) == open {
			t.Errorf("open %v: header %v, 401 %v, security %v, schemes %v", open, header, unauthorized, operation.Security, d.Components.SecuritySchemes)
		}
	}
	d, _ := readDocument(t, true)
	for key, required := range map[string]bool{"post /human/responses": true, "get /human/stats": true, "get /human/questions": false} {
		method, path, _ := strings.Cut(key, " ")
		var found bool
		for _, p := range d.Paths[path][method].Parameters {
			if p.Name == "X-Fingerprint" {
				found = true
				if p.Required != required {
					t.Errorf("%s: X-Fingerprint required is %v", key, p.Required)
				}
			}
		}
		if !found {
			t.Errorf("%s: X-Fingerprint is not described", key)
		}
	}
}

func TestDocumentIsServed(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	_, want := readDocument(t, true)
	for range 2 {
		w := p.serve(request{line: "GET /openapi.json"})
		if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" || w.Body.String() != want {
			t.Errorf("got %d %v, %d bytes", w.Code, w.Header(), w.Body.Len())
		}
	}
}
