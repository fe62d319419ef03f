// Package page is the web page on which people work through scenarios, and see how well they did and how they develop.
// It is files that a browser runs: they read and write through the routes of users, on the page's own origin, with the
// token of whoever has signed in. The function that serves them may do nothing else.
//
// modules/app.js names the views; what any page needs they import from package [webapp]. A browser gets all modules as
// one file, files/app.js, and all styles as files/page.css, which go generate makes of them.
package page

import (
	"embed"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
)

//go:generate go run github.com/evanw/esbuild/cmd/esbuild@v0.25.0 modules/app.js modules/page.css --outdir=files --bundle --format=esm --target=es2022 --charset=utf8 --minify "--banner:js=// Made of ../modules by go generate." "--banner:css=/* Made of ../modules by go generate. */"

//go:embed files
var files embed.FS

// New returns the handler of the page's routes.
func New(signIn webapp.SignIn) (*kit.API, error) {
	return webapp.New(webapp.Config{
		Name: "Clarity", Description: "Train critical thinking.", Key: "clarity",
		Views: []string{"/s/{scenario_id}", "/a/{attempt_id}", "/progress", "/account"},
		Files: files, Settings: signIn.Settings(), Connect: []string{signIn.URL},
	})
}
