// Package todo is what a team adds to To-Do.
package todo

import "github.com/onesynth-cdk/onesynth/schema"

// Own is a report of tasks.
func Own() schema.Own {
	return schema.Own{
		Module:         "example.com/shortener",
		Functions:      []schema.Function{{Name: "taskreport", Description: "counts tasks"}},
		AccessPatterns: []schema.AccessPattern{schema.Existing("GetTaskCounts").UsedBy("taskreport")},
		Routes: []schema.Route{{ID: "report", Method: "GET", Path: "/api/v1/report", Function: "taskreport",
			Caller: schema.CallerUser, Summary: "How much is left"}},
	}
}
