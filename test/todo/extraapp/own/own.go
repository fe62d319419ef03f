// Package own is what a team adds to To-Do: the project of a task, which a route and an event set.
package own

import "github.com/onesynth-cdk/onesynth/schema"

// Extra is the project of a task, with an index over it.
func Extra() []schema.Extra {
	return []schema.Extra{{
		Record: "Task",
		Attributes: []schema.ExtraAttribute{{
			Attribute: schema.String.Attribute("project", "What the task belongs to"),
			MaxLength: 50, Writers: []string{"projects", "projector"}, Shown: true,
		}, {
			Attribute: schema.Number.Attribute("estimate", "Expected hours"),
			Minimum:   new(0.25), Maximum: new(100.0), Writers: []string{"projects"},
		}},
		Indexes: []schema.Index{{Name: "ByProject", Key: schema.Key{Partition: "PK", Sort: "project"},
			Description: "A user's tasks by project. Sparse: only tasks that have one."}},
	}}
}

// Own are the functions that write and read it.
func Own() schema.Own {
	return schema.Own{
		Functions: []schema.Function{
			{Name: "projects", Description: "Serves the routes of projects"},
			{Name: "projector", Description: "Makes the category of a new task its project",
				Trigger: schema.OnOther{}},
		},
		AccessPatterns: []schema.AccessPattern{
			schema.UpdateItem.Pattern("SetProject", "AppData", "Set the project of a task.").
				UsedBy("projects", "projector"),
			schema.Query.Pattern("ListProject", "AppData", "A user's tasks of a project.").
				By("ByProject", schema.Where("PK", schema.Equal), schema.Where("project", schema.Equal)).
				UsedBy("projects"),
		},
		Routes: []schema.Route{
			{ID: "setProject", Method: "PUT", Path: "/api/v1/tasks/{task_id}/project", Function: "projects",
				Caller: schema.CallerUser, Summary: "Put a task into a project"},
			{ID: "listProject", Method: "GET", Path: "/api/v1/projects/{project}", Function: "projects",
				Caller: schema.CallerUser, Summary: "List the titles of a project's tasks"},
		},
	}
}
