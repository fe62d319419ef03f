// Package own is what a team adds to To-Do: the project of a task, which a route and an event set.
package own

import (
	"net/http"

	"github.com/onesynth-cdk/onesynth/schema"
)

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
		Routes: schema.Routes(SetProject, ListProject),
	}
}

// TaskParams name a task.
type TaskParams struct {
	TaskID string `path:"task_id"`
}

// ProjectParams name a project.
type ProjectParams struct {
	Project string `path:"project"`
}

// Project is what a task belongs to.
type Project struct {
	Project  string  `json:"project" minLength:"1" maxLength:"50"`
	Estimate float64 `json:"estimate"`
}

// Titles are those of tasks.
type Titles struct {
	Titles []string `json:"titles"`
}

// The operations of the function projects.
var (
	SetProject = schema.Operation[TaskParams, Project, schema.None]{
		ID: "setProject", Route: "PUT /api/v1/tasks/{task_id}/project", Function: "projects",
		Caller: schema.CallerUser, Summary: "Put a task into a project", Status: http.StatusNoContent,
	}
	ListProject = schema.Operation[ProjectParams, schema.None, Titles]{
		ID: "listProject", Route: "GET /api/v1/projects/{project}", Function: "projects", Caller: schema.CallerUser,
		Summary: "List the titles of a project's tasks",
	}
)
