package askahuman

import "github.com/onesynth-cdk/onesynth/schema"

// PageSettingsVariable is the environment variable of the function webpage with the settings of the page, as JSON.
const PageSettingsVariable = "PAGE_SETTINGS"

// withPage adds the page on which people answer: a function that serves files, and may do nothing
// else. Everything that the page shows it reads from the routes of people.
func withPage(p *schema.Platform) {
	p.Functions = append(p.Functions, schema.Function{
		Name:        "webpage",
		ID:          "WebPage",
		Description: "Serves the page on which people answer",
	})
	page := func(path, summary string) schema.Route { return pageRoute("webpage", path, summary) }
	p.Routes = append(p.Routes,
		page("/", "See the questions that want answers"),
		page("/q/{question_id}", "Answer a question"),
		page("/me", "See one's own points, streak and badges"),
		page("/answers", "See one's own answers, and what became of the questions"),
		page("/leaderboard", "See the leaderboard"),
		page("/settings", "Choose language and notifications, or become another person"),
		page("/assets/{path+}", "Load a part of the page"),
		page("/manifest.webmanifest", "Install the page"),
		page("/service-worker.js", "Keep the page for when there is no network"),
		page("/{path+}", "See that there is no such page"),
	)
}

// pageRoute is a route on which a function serves a file to anyone.
func pageRoute(function, path, summary string) schema.Route {
	return schema.Route{Method: "GET", Path: path, Function: function, Caller: schema.CallerAnyone, OutsideAPI: true,
		Summary: summary}
}
