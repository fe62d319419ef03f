package apigateway_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
)

// TestPages finds pages among routes that are like those of pages in all but one thing.
func TestPages(t *testing.T) {
	t.Parallel()
	api := apigateway.API{}
	for _, route := range []struct{ key, function string }{
		{"GET /", "page"}, {"GET /assets/{path+}", "page"}, {"GET /{path+}", "page"}, {"GET /me", "page"},
		{"GET /operator", "moderation"}, {"GET /operator/assets/{path+}", "moderation"},
		{"GET /operator/names", "moderation"}, {"GET /operator/reports", "api"},
		{"GET /help", "help"}, {"GET /help/assets/{file+}", "help"},
		{"GET /files", "files"}, {"GET /files/{path+}", "files"},
		{"GET /lists", "api"}, {"GET /lists/assets/{asset}", "api"},
		{"GET /other", "api"}, {"GET /other/assets/{path+}", "files"},
		{"POST /forms", "api"}, {"GET /forms/assets/{path+}", "api"},
		{"GET /q/{id}", "page"},
	} {
		api.Routes = append(api.Routes, apigateway.Route{Key: route.key, Function: route.function})
	}
	for _, key := range []string{"GET /closed", "GET /closed/assets/{path+}"} {
		api.Routes = append(api.Routes,
			apigateway.Route{Key: key, Function: "closed", Authorizer: apigateway.Signed{}})
	}
	for groups, want := range map[string]string{
		"operators": "[{page /} {help /help} {operators /operator}]",
		"others":    "[{page /} {help /help} {operator /operator}]",
	} {
		if got := fmt.Sprint(api.Pages([]string{groups})); got != want {
			t.Errorf("with the group %s: got %s, want %s", groups, got, want)
		}
	}
}

// TestFront has a page for a browser at the root of an API without a route there. All others, and all other addresses,
// get API Gateway's answer.
func TestFront(t *testing.T) {
	t.Parallel()
	const refusal = `{"message":"Not Found"}`
	browser := []string{"Accept", "text/html,application/xhtml+xml;q=0.9"}
	full := apigateway.Front{Name: "Notes <1>", Stack: "notes", URL: "http://127.0.0.1:8080",
		Document: "http://127.0.0.1:8080/openapi.json",
		Pages:    []apigateway.Page{{Name: "operators", Path: "/operator"}},
		Console:  "http://127.0.0.1:8079", Token: "bin/onesynth token --sub alice"}
	bare := apigateway.Front{Name: "Bare", Stack: "bare", URL: "http://127.0.0.1:8080/v1",
		Console: "http://127.0.0.1:8079"}
	route := func(key string) []apigateway.Route { return []apigateway.Route{{Key: key, Function: "f"}} }
	for name, test := range map[string]struct {
		api          apigateway.API
		front        *apigateway.Front
		method, path string
		header       []string
		want         []string
		not          string
	}{
		"browser": {api: apigateway.API{Routes: route("POST /")}, front: &full, header: browser, want: []string{
			"<h1>Notes &lt;1&gt;</h1>", "stack notes", `<a href="http://127.0.0.1:8080/openapi.json">OpenAPI document</a>`,
			`http://127.0.0.1:8079/#/try?api=http%3a%2f%2f127.0.0.1%3a8080"`, "<code>bin/onesynth token --sub alice</code>",
			`http://127.0.0.1:8080/operator">operators</a>`}, not: "No route wants"},
		"bare": {front: &bare, header: browser, want: []string{"No route wants a token"}, not: "OpenAPI"},
		"stage": {api: apigateway.API{ID: "a", Name: "a", Stage: "v1"}, front: &bare, path: "/v1", header: browser,
			want: []string{"<h1>Bare</h1>"}},
		"before the stage": {api: apigateway.API{ID: "a", Name: "a", Stage: "v1"}, front: &bare, header: browser,
			want: []string{"<h1>Bare</h1>"}},
		"program":       {front: &full, header: []string{"Accept", "*/*"}, want: []string{refusal}},
		"no Accept":     {front: &full, want: []string{refusal}},
		"other address": {front: &full, path: "/nothing", header: browser, want: []string{refusal}},
		"other method":  {front: &full, method: "POST", header: browser, want: []string{refusal}},
		"no front":      {header: browser, want: []string{refusal}},
		"route": {api: apigateway.API{Routes: route("GET /")}, front: &full, header: browser,
			want: []string{`GET / map[]`}},
		"default": {api: apigateway.API{Routes: route("$default")}, front: &full, header: browser,
			want: []string{`$default map[]`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := serve(t, test.api, apigateway.Options{Invoker: invoker(naming), Front: test.front})
			got := do(h, request(cmp.Or(test.method, "GET"), cmp.Or(test.path, "/"), "", test.header...))
			body := got.Body.String()
			for _, want := range test.want {
				if !strings.Contains(body, want) {
					t.Errorf("got %d %s, want %s", got.Code, body, want)
				}
			}
			if test.not != "" && strings.Contains(body, test.not) {
				t.Errorf("got %s, which has %s", body, test.not)
			}
			routed := strings.HasSuffix(body, "map[]")
			if routed != (got.Code == http.StatusOK) || !routed && got.Code != http.StatusNotFound {
				t.Errorf("got the status %d with %s", got.Code, body)
			}
			page := strings.HasPrefix(body, "<!DOCTYPE html>")
			policy := got.Header().Get("Content-Security-Policy")
			if strings.HasPrefix(policy, "default-src 'none'; ") != page {
				t.Errorf("got the policy %q with %s", policy, body)
			}
		})
	}
}
