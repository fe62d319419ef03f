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

// The document states the rules that a caller can observe and that no form expresses.
// Beside each is the test of the rule itself.
func TestDocumentStatesRules(t *testing.T) {
	t.Parallel()
	d, _ := readDocument(t)
	d.States(t, map[string][]string{
		"info": { // TestInvalidBodies, TestUnreadableBodies, TestQueries
			"Unknown fields, fields that stand twice, and unknown, empty or repeated query parameters are refused", "without a Content-Type", "whole seconds in UTC",
		},
		"post /api/v1/tasks?Idempotency-Key": {
			"method, path, If-Match and body are, byte for byte",                              // TestReplay
			"missing, completed or has another version", "user who exists", "address that is", // TestErrors
			"A request that fails validation does not use its key up", // TestPassingFailuresAreNotKept
			"for want of a user, or for a reason that passes",         // TestPassingFailuresAreNotKept, TestErrors
		},
		"put /api/v1/tasks/{task_id}?If-Match": {"W/) matches none, and * any"},               // TestIfMatch
		"TaskBody.title":                       {"More than white space", "around it counts"}, // todo.TestTaskInput
		"TaskBody.status":                      {"a cancelled one may go on"},                 // todo.TestTransitions
		"TaskBody.due_date":                    {"0001 to 9999"},                              // todo.TestTaskInput
		"TaskChangeBody.title":                 {"More than white space", "around it counts"}, // todo.TestTaskInput
		"TaskChangeBody.status":                {"a cancelled one may go on"},                 // todo.TestTransitions
		"TaskChangeBody.due_date":              {"0001 to 9999"},                              // todo.TestTaskInput
		"Task.completed_at":                    {"created so", "Null for any other"},          // dynamodb.TestCompletedAt
		"Task.version":                         {"leaves version and updated_at as they are"}, // dynamodb.TestNoChange
		"UserBody.name":                        {"more than white space", "around it counts"}, // todo.TestUserInput
		"UserBody.email":                       {"kept as written"},                           // dynamodb.TestUsers
		"get /api/v1/tasks":                    {"5,000 tasks", "within a moment"},            // dynamodb.TestManyTasks; an index lags on AWS alone
		"get /api/v1/tasks?category":           {"case and white space count"},                // dynamodb.TestCategories
		"get /api/v1/tasks?cursor":             {"but for limit"},                             // dynamodb.TestCursors
		"StatusesSet.changed":                  {"also of those that had it before"},          // dynamodb.TestNoChange
		"StatusesSet.failed":                   {"completed tasks, and ids of no task"},       // TestWire
		"Stats.by_priority":                    {"of any status"},                             // dynamodb.TestStats
	})
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
