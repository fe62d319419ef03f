package schema_test

import (
	"fmt"

	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/schema"
)

func notes() schema.Platform {
	return schema.Platform{
		Name:  "notes",
		Title: "Notes",
		Database: schema.Database{
			Prefix: "notes",
			Tables: []schema.Table{{
				Name: "Notes", PhysicalName: "notes", Description: "Notes, by author.",
				Key: schema.Key{Partition: "author", Sort: "id"},
				Attributes: []schema.Attribute{
					{Name: "author", Type: schema.String, Description: "Who wrote it"},
					{Name: "id", Type: schema.String, Description: "UUIDv7: in the order of time"},
					{Name: "topic", Type: schema.String, Description: "What it is about"},
				},
				Indexes: []schema.Index{{Name: "ByTopic", Key: schema.Key{Partition: "topic", Sort: "id"},
					Description: "Notes on a topic."}},
			}},
			AccessPatterns: schema.UsedBy("notesapi", []schema.AccessPattern{
				{Name: "AddNote", Description: "Add a note.", Action: schema.UpdateItem, Table: "Notes"},
				{
					Name: "ListByTopic", Description: "The notes on a topic, the newest first.",
					Action: schema.Query, Table: "Notes", Index: "ByTopic", Descending: true,
					KeyConditions: []schema.KeyCondition{{Attribute: "topic", Comparison: schema.Equal}},
				},
			}...),
		},
		Functions: []schema.Function{{Name: "notesapi", Description: "Serves notes"}},
		Routes: []schema.Route{
			{Method: "POST", Path: "/notes", Function: "notesapi", Caller: schema.CallerAnyone, Summary: "Add a note"},
			{Method: "GET", Path: "/topics/{topic}/notes", Function: "notesapi", Caller: schema.CallerAnyone,
				Summary: "Read the notes on a topic"},
		},
	}
}

// A function's role may do exactly what the function declares.
func ExamplePlatform_GrantsOf() {
	platform := notes()
	for _, grant := range platform.GrantsOf("notesapi") {
		fmt.Printf("%s on %s, index %q\n", grant.Action, grant.Table, grant.Index)
	}
	// Output:
	// UpdateItem on Notes, index ""
	// Query on Notes, index "ByTopic"
}

// Everything that is wrong is found at once.
func ExamplePlatform_Validate() {
	platform := notes()
	platform.Database.AccessPatterns[1].Index = "ByColour"
	platform.Database.Tables[0].TimeToLive = "topic"
	fmt.Println(platform.Validate())
	// Output:
	// 2 findings:
	//   Tables[Notes].TimeToLive: got "topic", a String, allowed is what DynamoDB takes: time to live works on a Number of seconds since the Unix epoch only: DynamoDB ignores any other type
	//   AccessPatterns[ListByTopic].Index: got "ByColour", allowed is what the tables have: name an index of Notes, or none
}

func ExampleDatabase_AccessPattern() {
	pattern, ok := askahuman.Platform().Database.AccessPattern("ListOpenQuestions")
	fmt.Println(ok, pattern.Action, pattern.Table, pattern.Index)
	// Output: true Query Questions ByStatus
}
