package askahuman

import "github.com/onesynth-cdk/onesynth/schema"

// PageSettingsVariable is the variable in which the function webpage of Ask-a-Human finds what the page
// may offer, as JSON.
const PageSettingsVariable = "PAGE_SETTINGS"

// withPage adds the page on which people answer: a function that serves files, and may do nothing
// else. Everything that the page shows it reads from the routes of people.
func withPage(p *schema.Platform) {
	p.Functions = append(p.Functions, schema.Function{
		Name:        "webpage",
		ID:          "WebPage",
		Description: "Serves the page on which people answer",
	})
	for _, page := range []struct{ path, summary string }{
		{"/", "See the questions that want answers"},
		{"/q/{question_id}", "Answer a question"},
		{"/me", "See one's own points, streak and badges"},
		{"/answers", "See one's own answers, and what became of the questions"},
		{"/leaderboard", "See the leaderboard"},
		{"/settings", "Choose language and notifications, or become another person"},
		{"/assets/{path+}", "Load a part of the page"},
		{"/manifest.webmanifest", "Install the page"},
		{"/service-worker.js", "Keep the page for when there is no network"},
		{"/{path+}", "See that there is no such page"},
	} {
		p.Routes = append(p.Routes, schema.Route{
			Method: "GET", Path: page.path, Function: "webpage", Caller: schema.CallerAnyone, OutsideAPI: true,
			Summary: page.summary,
		})
	}
}
