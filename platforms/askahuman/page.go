package askahuman

import "github.com/onesynth-cdk/onesynth/schema"

// PageSettingsVariable is the environment variable of the function webpage with the settings of the page, as JSON.
const PageSettingsVariable = "PAGE_SETTINGS"

// withPage adds the page on which people answer. Everything that it shows it reads from the routes of people.
func withPage(p *schema.Platform) {
	p.AddPage(schema.Function{
		Name:        "webpage",
		ID:          "WebPage",
		Description: "Serves the page on which people answer",
	},
		schema.PageView{Path: "/", Summary: "See the questions that want answers"},
		schema.PageView{Path: "/q/{question_id}", Summary: "Answer a question"},
		schema.PageView{Path: "/me", Summary: "See one's own points, streak and badges"},
		schema.PageView{Path: "/answers", Summary: "See one's own answers, and what became of the questions"},
		schema.PageView{Path: "/leaderboard", Summary: "See the leaderboard"},
		schema.PageView{Path: "/settings", Summary: "Choose language and notifications, or become another person"},
	)
}

// pageRoute is a route on which a function serves a file to anyone.
func pageRoute(function, path, summary string) schema.Route {
	return schema.Route{Method: "GET", Path: path, Function: function, Caller: schema.CallerAnyone, OutsideAPI: true,
		Summary: summary}
}
