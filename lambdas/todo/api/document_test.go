package api_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/httpapi/httpapitest"
	"github.com/onesynth-cdk/onesynth/lambdas/todo/api"
	"github.com/onesynth-cdk/onesynth/schema"
)

// document is the document, read once.
var document = sync.OnceValues(api.Document)

func readDocument(t testing.TB) (httpapitest.Document, string) {
	t.Helper()
	body, err := document()
	if err != nil {
		t.Fatal(err)
	}
	return httpapitest.Parse(t, body), string(body)
}

// The document describes, for each operation of users, the parts that all have.
func TestDocument(t *testing.T) {
	t.Parallel()
	d, _ := readDocument(t)
	d.HasRoutes(t, schema.Todo())
	if len(d.Components.SecuritySchemes) != 1 {
		t.Errorf("security schemes are %v", d.Components.SecuritySchemes)
	}
	for _, route := range schema.Todo().Routes {
		key := route.Key()
		operation := d.Paths[route.Path][strings.ToLower(route.Method)]
		isUsers := route.Caller == schema.CallerUser
		if _, ok := operation.Responses["401"]; ok != isUsers || (len(operation.Security) > 0) != isUsers {
			t.Errorf("%s: 401 described is %v, security is %v", key, ok, operation.Security)
		}
		headers := map[string]bool{}
		for _, p := range operation.Parameters {
			if p.In == "header" {
				headers[p.Name] = p.Required
			}
		}
		isMutation := isUsers && route.Method != "GET"
		if headers["Idempotency-Key"] != isMutation {
			t.Errorf("%s: the described headers are %v", key, headers)
		}
		_, conditional := operation.Responses["412"]
		if _, ok := headers["If-Match"]; ok != conditional || conditional && !isMutation {
			t.Errorf("%s: If-Match described is %v, 412 is %v", key, ok, conditional)
		}
	}
}

func TestDocumentStatuses(t *testing.T) {
	t.Parallel()
	d, _ := readDocument(t)
	d.HasStatuses(t, map[string]string{
		"post /api/v1/users/me":          "201 400 401 409 413 415 422 429 500 503",
		"get /api/v1/users/me":           "200 400 401 404 422 429 500 503",
		"put /api/v1/users/me":           "200 400 401 404 409 413 415 422 429 500 503",
		"delete /api/v1/users/me":        "202 204 400 401 404 409 422 429 500 503",
		"post /api/v1/tasks":             "201 400 401 404 409 413 415 422 429 500 503",
		"get /api/v1/tasks":              "200 400 401 422 429 500 503",
		"get /api/v1/tasks/stats":        "200 400 401 422 429 500 503",
		"post /api/v1/tasks/bulk":        "200 400 401 404 409 413 415 422 429 500 503",
		"get /api/v1/tasks/{task_id}":    "200 400 401 404 422 429 500 503",
		"put /api/v1/tasks/{task_id}":    "200 400 401 404 409 412 413 415 422 429 500 503",
		"patch /api/v1/tasks/{task_id}":  "200 400 401 404 409 412 413 415 422 429 500 503",
		"delete /api/v1/tasks/{task_id}": "204 400 401 404 409 412 422 429 500 503",
		"get /api/v1/openapi.json":       "200 400 422 429 500 503",
		"get /health":                    "200 400 422 429 500 503",
	})
}
