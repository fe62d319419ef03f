package clarity

import "github.com/onesynth-cdk/onesynth/schema"

// withPage adds the page on which people train. All that it shows it reads from the routes of users, with the token of
// whoever has signed in.
func withPage(p *schema.Platform) {
	p.AddPage(schema.Function{
		Name:        "webpage",
		ID:          "WebPage",
		Description: "Serves the page on which people train critical thinking",
		SignsInAt:   "/",
	},
		schema.PageView{Path: "/", Summary: "Sign in, and choose a scenario"},
		schema.PageView{Path: "/s/{scenario_id}", Summary: "Work on a scenario"},
		schema.PageView{Path: "/a/{attempt_id}", Summary: "See the result of an attempt"},
		schema.PageView{Path: "/progress", Summary: "See how one develops"},
		schema.PageView{Path: "/account", Summary: "Choose the language, have or delete one's data, and sign out"},
	)
}
