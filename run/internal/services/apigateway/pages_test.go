package apigateway_test

import (
	"fmt"
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
