// Package operator is the web page on which operators moderate. It is files that a browser runs: they read and write
// through the routes of operators, on the page's own origin, with the token of the operator who has signed in. The
// function that serves them may do nothing else.
//
// modules/app.js names the views; what any page needs they import from package [webapp]. A browser gets all modules as
// one file, files/app.js, and all styles as files/page.css, which go generate makes of them.
package operator

import (
	"embed"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/webapp"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
)

//go:generate go run github.com/evanw/esbuild/cmd/esbuild@v0.25.0 modules/app.js modules/page.css --outdir=files --bundle --format=esm --target=es2022 --charset=utf8 --minify "--banner:js=// Made of ../modules by go generate." "--banner:css=/* Made of ../modules by go generate. */"

//go:embed files
var files embed.FS

// New returns the handler of the page's routes.
func New(signIn webapp.SignIn) (*kit.API, error) {
	return webapp.New(webapp.Config{
		Name: "Ask-a-Human: operators", Description: "Operators decide about what was reported.",
		Key: "ask-a-human.operator", Home: askahuman.OperatorPage,
		Views: []string{askahuman.OperatorPage + "/agent", askahuman.OperatorPage + "/names",
			askahuman.OperatorPage + "/person"},
		Files: files, Settings: signIn.Settings(), Connect: []string{signIn.URL},
	})
}
