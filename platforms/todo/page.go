package todo

import "github.com/onesynth-cdk/onesynth/schema"

// withPage adds the page on which people keep their tasks. All that it shows it reads from the routes of users, with
// the token of whoever has signed in.
func withPage(p *schema.Platform) {
	p.AddPage(schema.Function{
		Name:        "taskpage",
		ID:          "TaskPage",
		Description: "Serves the page on which people keep their tasks",
		SignsInAt:   "/",
	},
		schema.PageView{Path: "/", Summary: "Sign in, and see what is overdue and due today"},
		schema.PageView{Path: "/upcoming", Summary: "See what is due later"},
		schema.PageView{Path: "/all", Summary: "See all open tasks, and search"},
		schema.PageView{Path: "/done", Summary: "See what is completed"},
		schema.PageView{Path: "/t/{task_id}", Summary: "Edit a task"},
		schema.PageView{Path: "/account", Summary: "Change, have or delete one's data, and sign out"},
	)
}
