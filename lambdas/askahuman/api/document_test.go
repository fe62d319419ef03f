package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman/api"
	"github.com/onesynth-cdk/onesynth/schema"
)

type document struct {
	OpenAPI string `json:"openapi"`
	Paths   map[string]map[string]struct {
		OperationID string                `json:"operationId"`
		Summary     string                `json:"summary"`
		Security    []map[string][]string `json:"security"`
		Parameters  []struct {
			Name, In string
			Required bool
		} `json:"parameters"`
		Responses map[string]struct {
			Headers map[string]any
			Content map[string]struct {
				Schema  map[string]any
				Example any
			}
		} `json:"responses"`
	} `json:"paths"`
	Components struct {
		Schemas         map[string]any `json:"schemas"`
		SecuritySchemes map[string]any `json:"securitySchemes"`
	} `json:"components"`
}

func readDocument(t *testing.T, open bool) (document, string) {
	t.Helper()
	body, err := api.Document(open)
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(body, &d); err != nil {
		t.Fatal(err)
	}
	return d, string(body)
}

// The operations are the routes of the schema: these, and no others.
func TestDocumentHasTheRoutes(t *testing.T) {
	t.Parallel()
	d, text := readDocument(t, true)
	if d.OpenAPI != "3.1.0" {
		t.Errorf("openapi is %q", d.OpenAPI)
	}
	var want, got []string
	limited := map[string]bool{}
	summaries := map[string]string{}
	for _, route := range schema.AskAHuman().Routes {
		key := route.Method + " " + route.Path
		want = append(want, key)
		limited[key] = route.RateLimit != ""
		summaries[key] = route.Summary
	}
	ids := map[string]bool{}
	for path, operations := range d.Paths {
		for method, operation := range operations {
			key := strings.ToUpper(method) + " " + path
			got = append(got, key)
			if operation.OperationID == "" || ids[operation.OperationID] {
				t.Errorf("%s: the operation id %q is missing or not unique", key, operation.OperationID)
			}
			ids[operation.OperationID] = true
			if operation.Summary != summaries[key] {
				t.Errorf("%s: the summary is %q", key, operation.Summary)
			}
			for _, status := range []string{"400", "500"} {
				if _, ok := operation.Responses[status]; !ok {
					t.Errorf("%s: the response %s is not described", key, status)
				}
			}
			if _, ok := operation.Responses["429"]; ok != limited[key] {
				t.Errorf("%s: 429 described is %v", key, ok)
			}
			for status, response := range operation.Responses {
				if status >= "400" {
					content := response.Content["application/json"]
					if content.Schema["$ref"] != "#/components/schemas/ErrorResponse" || content.Example == nil {
						t.Errorf("%s %s: the error is described as %v", key, status, content)
					}
				}
				if _, ok := response.Headers["X-RateLimit-Remaining"]; ok != limited[key] {
					t.Errorf("%s %s: rate limit headers described is %v", key, status, ok)
				}
				if _, ok := response.Headers["Retry-After"]; ok != (status == "429") {
					t.Errorf("%s %s: Retry-After described is %v", key, status, ok)
				}
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("operations are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, unwanted := range []string{"ErrorModel", "ErrorDetail", "$schema", "problem+json"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("the document has %s", unwanted)
		}
	}
}

func TestDocumentStatuses(t *testing.T) {
	t.Parallel()
	d, _ := readDocument(t, true)
	for key, want := range map[string]string{
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
	} {
		method, path, _ := strings.Cut(key, " ")
		var statuses []string
		for status := range d.Paths[path][method].Responses {
			statuses = append(statuses, status)
		}
		slices.Sort(statuses)
		if got := strings.Join(statuses, " "); got != want {
			t.Errorf("%s: described are %s; want %s", key, got, want)
		}
	}
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
