package page

import (
	"flag"
	"image/color"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp/webapptest"
	"github.com/onesynth-cdk/onesynth/platforms/clarity"
)

var update = flag.Bool("update", false, "draw the icons, and write the operations")

// What any page holds, this one holds. Besides its own origin it asks the sign-in pages alone.
func TestPage(t *testing.T) {
	t.Parallel()
	const signInURL = "https://think.auth.eu-west-1.amazoncognito.com"
	api, err := New(webapp.SignIn{URL: signInURL, Client: "client", Page: "https://think.example.com/"})
	if err != nil {
		t.Fatal(err)
	}
	p := webapptest.Page{API: api, Modules: []string{"modules", "../../kit/webapp/modules"}, Budget: 30_000}
	p.CheckRoutes(t, clarity.With(clarity.Parts{Page: true}).Routes, "webpage", "/s/", "/attempts", "/scenarios")
	p.CheckHeaders(t, signInURL)
	p.CheckBudget(t)
	p.CheckCompressed(t)
	// The kit has texts of actions that this page has not.
	p.CheckTexts(t, "action.")
	p.CheckClasses(t)
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
	first, second, third := stroke(6, 16, 44, 26, 32), stroke(6, 26, 32, 36, 38), stroke(6, 36, 38, 48, 20)
	curve := func(x, y float64) float64 { return min(first(x, y), second(x, y), third(x, y)) }
	webapptest.Icon{Ground: color.NRGBA{0x2f, 0x5d, 0x50, 0xff}, Shapes: []webapptest.Shape{
		{Ink: color.NRGBA{0xfb, 0xfa, 0xf7, 0xff}, Distance: curve},
		{Ink: color.NRGBA{0xd9, 0x82, 0x2b, 0xff}, Distance: webapptest.Disc(48, 20, 5)},
	}}.Check(t, "files", *update)
}
