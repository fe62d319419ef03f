package recipes

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"

	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/platform"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Page gives To-Do's API a web page, on the API's own origin. A function has the files in its binary, and may do
// nothing but serve them: what the page shows, it asks of the API, with the user's token.
//
// Change the files in lambdas/todo/page/files, and add a route for each further document. In a module of yours name
// Own.Module in place of Own.Build: the function is then its package lambdas/todo/page.
func Page(stack awscdk.Stack, build *gofunction.Build) {
	own := schema.Own{
		Functions: []schema.Function{{Name: "page", Description: "serves the page"}},
		Routes: []schema.Route{
			{ID: "page", Method: "GET", Path: "/", Function: "page", Caller: schema.CallerAnyone, Summary: "The page"},
			{ID: "assets", Method: "GET", Path: "/assets/{path+}", Function: "page", Caller: schema.CallerAnyone,
				Summary: "The files that the page needs"},
		},
	}
	todo.New(stack, "Todo", todo.Props{Props: platform.Props{
		Own: platform.Own{Own: own, Build: build}, Build: build,
	}})
}
