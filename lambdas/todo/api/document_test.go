package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/todo/api"
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
		RequestBody *struct {
			Required bool
			Content  map[string]struct{ Schema map[string]any }
		} `json:"requestBody"`
		Responses map[string]struct {
			Description string
			Headers     map[string]any
			Content     map[string]struct {
				Schema   map[string]any
				Examples map[string]any
			}
		} `json:"responses"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]struct {
			Properties map[string]map[string]any
			Required   []string
			Additional any `json:"additionalProperties"`
		} `json:"schemas"`
		SecuritySchemes map[string]any `json:"securitySchemes"`
	} `json:"components"`
}

func readDocument(t *testing.T) (document, string) {
	t.Helper()
	body, err := api.Document()
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
	d, text := readDocument(t)
	if d.OpenAPI != "3.1.0" || len(d.Components.SecuritySchemes) != 1 {
		t.Errorf("openapi is %q, with security schemes %v", d.OpenAPI, d.Components.SecuritySchemes)
	}
	routes := map[string]schema.Route{}
	var want, got []string
	for _, route := range schema.Todo().Routes {
		key := route.Method + " " + route.Path
		want = append(want, key)
		routes[key] = route
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
			if operation.Summary == "" || operation.Summary != routes[key].Summary {
				t.Errorf("%s: the summary is %q", key, operation.Summary)
			}
			mutation := routes[key].Caller == schema.CallerUser && method != "get"
			parameters := map[string]bool{}
			inPath := false
			for _, p := range operation.Parameters {
				inPath = inPath || p.In == "path" && p.Name == "task_id" && p.Required
				if p.In == "header" {
					parameters[p.Name] = p.Required
				}
			}
			if inPath != strings.Contains(path, "{task_id}") {
				t.Errorf("%s: task_id described is %v", key, inPath)
			}
			if required := parameters["Idempotency-Key"]; required != mutation {
				t.Errorf("%s: Idempotency-Key required is %v", key, required)
			}
			_, conditional := operation.Responses["412"]
			if _, ok := parameters["If-Match"]; ok != conditional || conditional && !mutation {
				t.Errorf("%s: If-Match described is %v, 412 is %v", key, ok, conditional)
			}
			isUsers := routes[key].Caller == schema.CallerUser
			if _, ok := operation.Responses["401"]; ok != isUsers || (len(operation.Security) > 0) != isUsers {
				t.Errorf("%s: 401 described is %v, security is %v", key, ok, operation.Security)
			}
			for status, response := range operation.Responses {
				if status < "400" {
					continue
				}
				want := "#/components/schemas/ErrorResponse"
				if status == "422" {
					want = "#/components/schemas/InvalidResponse"
				}
				content := response.Content["application/json"]
				if content.Schema["$ref"] != want || len(content.Examples) == 0 || response.Description == "" {
					t.Errorf("%s %s: the error is described as %v", key, status, response)
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
	d, _ := readDocument(t)
	for key, want := range map[string]string{
		"post /api/v1/users/me":          "201 400 401 409 413 415 422 500 503",
		"get /api/v1/users/me":           "200 400 401 404 422 500 503",
		"put /api/v1/users/me":           "200 400 401 404 409 413 415 422 500 503",
		"delete /api/v1/users/me":        "202 204 400 401 404 409 422 500 503",
		"post /api/v1/tasks":             "201 400 401 404 409 413 415 422 500 503",
		"get /api/v1/tasks":              "200 400 401 422 500 503",
		"get /api/v1/tasks/stats":        "200 400 401 422 500 503",
		"post /api/v1/tasks/bulk":        "200 400 401 404 409 413 415 422 500 503",
		"get /api/v1/tasks/{task_id}":    "200 400 401 404 422 500 503",
		"put /api/v1/tasks/{task_id}":    "200 400 401 404 409 412 413 415 422 500 503",
		"patch /api/v1/tasks/{task_id}":  "200 400 401 404 409 412 413 415 422 500 503",
		"delete /api/v1/tasks/{task_id}": "204 400 401 404 409 412 422 500 503",
		"get /api/v1/openapi.json":       "200 400 422 500",
		"get /health":                    "200 400 422 500",
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
