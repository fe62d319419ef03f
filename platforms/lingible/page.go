package lingible

import "github.com/onesynth-cdk/onesynth/schema"

// withPage adds the page on which people translate. All that it shows it reads from the routes of users, with the token
// of whoever has signed in.
func withPage(p *schema.Platform) {
	p.AddPage(schema.Function{
		Name:        "webpage",
		ID:          "WebPage",
		Description: "Serves the page on which people translate slang",
		SignsInAt:   "/",
	},
		schema.PageView{Path: "/", Summary: "Sign in, and translate"},
		schema.PageView{Path: "/words", Summary: "Vote for words, and propose one"},
		schema.PageView{Path: "/play", Summary: "Take the quiz"},
		schema.PageView{Path: "/account", Summary: "See one's tier, choose the language, have or delete one's data"},
	)
}
