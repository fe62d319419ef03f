// Package notes is what the app and its handler share: the data model and the routes.
package notes

import "github.com/onesynth-cdk/onesynth/schema"

// Platform returns the contract.
func Platform() schema.Platform {
	return schema.Platform{
		Name:  "notes",
		Title: "Notes",
		Database: schema.Database{
			Tables: []schema.Table{{
				Name: "Notes", PhysicalName: "notes", Description: "Notes, by author.",
				Key: schema.Key{Partition: "author", Sort: "id"},
				Attributes: []schema.Attribute{
					{Name: "author", Type: schema.String, Description: "Who wrote it"},
					{Name: "id", Type: schema.String, Description: "UUIDv7: in the order of time"},
					{Name: "text", Type: schema.String, Description: "1 to 1000 characters"},
				},
			}},
			AccessPatterns: []schema.AccessPattern{
				{Name: "AddNote", Description: "Add a note", Operation: schema.PutItem, Table: "Notes"},
				{
					Name: "ListNotes", Description: "An author's notes, the newest first", Operation: schema.Query, Table: "Notes",
					KeyConditions: []schema.KeyCondition{{Attribute: "author", Comparison: schema.Equal}}, Descending: true,
				},
			},
		},
		// The role of the function may do what these patterns need, and nothing else.
		Functions: []schema.Function{{Name: "notesapi", Description: "serves notes", AccessPatterns: []string{"AddNote", "ListNotes"}}},
		Routes: []schema.Route{
			{Method: "POST", Path: "/authors/{author}/notes", Function: "notesapi", Caller: schema.CallerAnyone, Summary: "Add a note"},
			{Method: "GET", Path: "/authors/{author}/notes", Function: "notesapi", Caller: schema.CallerAnyone, Summary: "Read the newest notes"},
		},
	}
}
