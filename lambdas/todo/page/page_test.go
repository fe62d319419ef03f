package page

import (
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp/webapptest"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// What any page holds, this one holds. Besides its own origin it asks the sign-in pages alone.
func TestPage(t *testing.T) {
	t.Parallel()
	const signInURL = "https://tasks.auth.eu-west-1.amazoncognito.com"
	api := must.Get(New(webapp.SignIn{URL: signInURL, Client: "client", Page: "https://tasks.example.com/"}))(t)
	p := webapptest.Page{API: api, Modules: []string{"modules", "../../kit/webapp/modules"}, Budget: 30_000}
	p.CheckRoutes(t, todo.With(todo.Parts{Page: true}).Routes, "taskpage", "/t/", "/t/a/b", "/api/v1/tasks")
	p.CheckHeaders(t, signInURL)
	p.CheckBudget(t)
	webapptest.CheckIcons(t, "files")
	// The kit has texts of actions that this page has not.
	p.CheckTexts(t, "action.")
	p.CheckClasses(t)
}

// The days of testdata/days.txt are understood as it says, in the language of the page, and leave the title. What is
// not understood has no day, and stays in it.
func TestDays(t *testing.T) {
	t.Parallel()
	webapptest.Run(t, "testdata/days.mjs", "testdata/days.txt", "modules/days.js")
}

// The page calls the API by the operations of its document.
func TestOperations(t *testing.T) {
	t.Parallel()
	webapptest.CheckOperations(t, "modules/operations.js", "../api/testdata/openapi.json", "")
}
