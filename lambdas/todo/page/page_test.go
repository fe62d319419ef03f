package page

import (
	"flag"
	"image/color"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp/webapptest"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

var update = flag.Bool("update", false, "draw the icons, and write the operations")

// What any page holds, this one holds. Besides its own origin it asks the sign-in pages alone.
func TestPage(t *testing.T) {
	t.Parallel()
	const signInURL = "https://tasks.auth.eu-west-1.amazoncognito.com"
	api, err := New(webapp.SignIn{URL: signInURL, Client: "client", Page: "https://tasks.example.com/"})
	if err != nil {
		t.Fatal(err)
	}
	p := webapptest.Page{API: api, Modules: []string{"modules", "../../kit/webapp/modules"}, Budget: 30_000}
	p.CheckRoutes(t, todo.With(todo.Parts{Page: true}).Routes, "taskpage", "/t/", "/t/a/b", "/api/v1/tasks")
	p.CheckHeaders(t, signInURL)
	p.CheckBudget(t)
	p.CheckCompressed(t)
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
	webapptest.CheckOperations(t, "modules/operations.js", "../api/testdata/openapi.json", "", *update)
}

// The icons that an installed page has are the shapes of icon.svg on a square ground.
func TestIcons(t *testing.T) {
	t.Parallel()
	stroke := webapptest.Stroke
	first, second := stroke(7, 17, 33, 27, 43), stroke(7, 27, 43, 47, 21)
	tick := func(x, y float64) float64 { return min(first(x, y), second(x, y)) }
	webapptest.Icon{Ground: color.NRGBA{0x2f, 0x5d, 0x50, 0xff}, Shapes: []webapptest.Shape{
		{Ink: color.NRGBA{0xfb, 0xfa, 0xf7, 0xff}, Distance: tick},
		{Ink: color.NRGBA{0xd9, 0x82, 0x2b, 0xff}, Distance: webapptest.Disc(47, 46, 4)},
	}}.Check(t, "files", *update)
}
