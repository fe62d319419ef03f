package todo

import "github.com/onesynth-cdk/onesynth/schema"

// withPage adds the page on which people keep their tasks: a function that serves files, and may do nothing else. All
// that the page shows it reads from the routes of users, with the token of whoever has signed in.
func withPage(p *schema.Platform) {
	p.Functions = append(p.Functions, schema.Function{
		Name:        "taskpage",
		ID:          "TaskPage",
		Description: "Serves the page on which people keep their tasks",
		SignsInAt:   "/",
	})
	for _, page := range []struct{ path, summary string }{
		{"/", "Sign in, and see what is overdue and due today"},
		{"/upcoming", "See what is due later"},
		{"/all", "See all open tasks, and search"},
		{"/done", "See what is completed"},
		{"/t/{task_id}", "Edit a task"},
		{"/account", "Choose the language, and sign out"},
		{"/assets/{path+}", "Load a part of the page"},
		{"/manifest.webmanifest", "Install the page"},
		{"/service-worker.js", "Keep the page for when there is no network"},
		{"/{path+}", "See that there is no such page"},
	} {
		p.Routes = append(p.Routes, schema.Route{
			Method: "GET", Path: page.path, Function: "taskpage", Caller: schema.CallerAnyone, OutsideAPI: true,
			Summary: page.summary,
		})
	}
}
