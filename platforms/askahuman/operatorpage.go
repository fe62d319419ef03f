package askahuman

import "github.com/onesynth-cdk/onesynth/schema"

// OperatorPage is the path of the page on which operators sign in and moderate.
const OperatorPage = "/operator"

// withOperatorPage adds the page on which operators moderate: a function that serves files, and may do nothing else.
// The page reads all that it shows from the routes of operators, with the token of the operator who has signed in.
func withOperatorPage(p *schema.Platform) {
	p.Functions = append(p.Functions, schema.Function{
		Name:        "operatorpage",
		ID:          "OperatorPage",
		Description: "Serves the page on which operators moderate",
		SignsInAt:   OperatorPage,
	})
	p.Routes = append(p.Routes,
		pageRoute("operatorpage", OperatorPage, "Sign in, and see what was reported"),
		pageRoute("operatorpage", OperatorPage+"/agent", "See an agent's questions"),
		pageRoute("operatorpage", OperatorPage+"/names", "See the names on the leaderboards"),
		pageRoute("operatorpage", OperatorPage+"/person", "See and delete what is kept of a person"),
		pageRoute("operatorpage", OperatorPage+"/assets/{path+}", "Load a part of the page for operators"),
	)
}
