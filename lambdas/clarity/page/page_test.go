package page

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp/webapptest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

// What any page holds, this one holds. Besides its own origin it asks the sign-in pages alone.
func TestPage(t *testing.T) {
	t.Parallel()
	const signInURL = "https://think.auth.eu-west-1.amazoncognito.com"
	api := must.Get(New(webapp.SignIn{URL: signInURL, Client: "client", Page: "https://think.example.com/"}))(t)
	p := webapptest.Page{API: api, Modules: []string{"modules", "../../kit/webapp/modules"}, Budget: 30_000}
	p.CheckRoutes(t, clarity.With(clarity.Parts{Page: true}).Routes, "webpage", "/s/", "/attempts", "/scenarios")
	p.CheckHeaders(t, signInURL)
	p.CheckBudget(t)
	webapptest.CheckIcons(t, "files")
	// The kit has texts of actions that this page has not.
	p.CheckTexts(t, "action.")
	p.CheckClasses(t)
}

// The page calls the API by the operations of its document.
func TestOperations(t *testing.T) {
	t.Parallel()
	webapptest.CheckOperations(t, "modules/operations.js", "../api/testdata/openapi.json", "")
}
