package operator

import (
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp/webapptest"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

// The page calls the API by the operations of its document.
func TestOperations(t *testing.T) {
	t.Parallel()
	webapptest.CheckOperations(t, "modules/operations.js", "../api/testdata/openapi-header.json", "operators")
}

const signInURL = "https://asks.auth.eu-west-1.amazoncognito.com"

// What any page holds, this one holds. Besides its own origin it asks the sign-in pages alone.
func TestPage(t *testing.T) {
	t.Parallel()
	variables := map[string]string{schema.SignInURLVariable: signInURL, schema.SignInClientVariable: "client",
		schema.SignInPageVariable: "https://asks.example.com/operator"}
	signIn := must.Get(webapp.SignInFrom(kit.Environment{
		Getenv: func(name string) string { return variables[name] }}))(t)
	api := must.Get(New(signIn))(t)
	p := webapptest.Page{API: api, Home: askahuman.OperatorPage,
		Modules: []string{"modules", "../../kit/webapp/modules"}, Budget: 30_000}
	p.CheckRoutes(t, askahuman.With(askahuman.Parts{OperatorPage: true}).Routes, "operatorpage", "/", "/operator/",
		"/operator/reports", "/operator/assets/old/app.js")
	p.CheckHeaders(t, signInURL)
	p.CheckBudget(t)
	// The kit has texts of actions that this page has not.
	p.CheckTexts(t, "action.")
	p.CheckClasses(t)
	if got := p.Get("/operator").Body.String(); !strings.Contains(got, "asks.example.com/operator") {
		t.Errorf("the page does not know its address: %.500s", got)
	}
	delete(variables, schema.SignInClientVariable)
	if _, err := webapp.SignInFrom(kit.Environment{Getenv: func(name string) string { return variables[name] }}); err ==
		nil || !strings.Contains(err.Error(), schema.SignInClientVariable) {
		t.Errorf("without a client: got %v", err)
	}
}
