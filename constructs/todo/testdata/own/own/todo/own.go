// Package todo is what a team adds to To-Do.
package todo

import "github.com/onesynth-cdk/onesynth/schema"

// Own is a report of tasks.
func Own() schema.Own {
	return schema.Own{
		Module:         "example.com/shortener",
		Functions:      []schema.Function{{Name: "taskreport", Description: "counts tasks"}},
		AccessPatterns: []schema.AccessPattern{schema.Existing("GetTaskCounts").UsedBy("taskreport")},
		Routes:         schema.Routes(Report),
	}
}

// Counts are how many tasks are left.
type Counts struct {
	Pending int `json:"pending" dynamodbav:"pending"`
}

// Report counts tasks.
var Report = schema.Operation[schema.None, schema.None, Counts]{
	ID: "report", Route: "GET /api/v1/report", Function: "taskreport", Caller: schema.CallerUser,
	Summary: "How much is left",
}
