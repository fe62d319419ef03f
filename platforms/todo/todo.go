// Package todo describes To-Do, the platform on which users keep tasks, and whose changes fill a lake. Its construct
// and its handlers read it.
package todo

import (
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

// Platform returns the contract: the one table of the origin (ADR-003), and the additions that its requirements force.
// docs/project/deviations.md gives the reason for each addition.
func Platform() schema.Platform { return With(Parts{}) }

// Parts are the parts of To-Do that a stack can have beside those that every stack has.
type Parts struct {
	// Page adds the page on which people keep their tasks.
	Page bool
}

// With returns the platform with these parts.
func With(parts Parts) schema.Platform {
	p := api()
	if parts.Page {
		withPage(&p)
	}
	return p
}

func api() schema.Platform {
	type object = map[string]any
	return schema.Platform{
		Name:        "todo",
		Title:       "To-Do",
		Description: "Users keep tasks",
		Database: schema.Database{
			Prefix:         "todo",
			Tables:         []schema.Table{table()},
			AccessPatterns: accessPatterns(),
		},
		Functions: []schema.Function{
			{
				Name:        "todoapi",
				ID:          "TodoAPI",
				Description: "Serves the routes of users and their tasks",
				// A deletion of a user that needs longer goes on in the eraser.
				Timeout: 10 * time.Second,
				Secrets: []string{"CursorSecret"},
			},
			{
				Name:        "eraser",
				Description: "Finishes the deletion of users whose request could not",
				// Enough to erase some 20,000 items in one go.
				Timeout: 5 * time.Minute,
				// Every deletion of several writes. The request itself erases first.
				Trigger: schema.OnStream{
					ID: "Erasure", Table: appData, Changes: "deletions of users",
					Filters: []object{{"dynamodb": object{
						"NewImage": object{"deletion": object{"S": []any{object{"exists": true}}}}}}},
					BatchSize: 10, After: "todoapi", BatchWindow: 5 * time.Second, ReportItemFailures: true,
					Failures: schema.Failures{ID: "DeadLetters",
						Description: "deletions of users that could not be finished"},
				},
			},
		},
		Secrets: []schema.Secret{
			schema.CursorSecret(),
		},
		RequestHeaders:  []string{"Authorization", "Content-Type", "Idempotency-Key", "If-Match", "X-Timezone"},
		ResponseHeaders: []string{"ETag", "Idempotency-Replayed", "Location", "Retry-After"},
		Metrics: []schema.Metric{
			{Name: "TasksCreated", Function: "todoapi", Unit: schema.Count,
				Description: "tasks created; a repeat with the same idempotency key is none"},
			{Name: "TasksCompleted", Function: "todoapi", Unit: schema.Count,
				Description: "tasks completed, one by one or in bulk; one that was completed before is none"},
			{Name: "UsersErased", Function: "eraser", Unit: schema.Count,
				Description: "deletions of users in several writes that the eraser found done or finished"},
			{Name: "EraserFailures", Function: "eraser", Unit: schema.Count,
				Description: "deletions that failed, and come again"},
		},
		Routes: schema.Routes(Operations()...),
		API:    overHTTP(),
		Lakes:  []schema.Lake{lake()},
		Events: Events(),
		Owned:  Owned(),
		Records: []schema.Record{
			{Name: "Task", Table: appData, Form: Task{}, Entity: "task"},
			{Name: "User", Table: appData, Form: User{}, Entity: "user"},
		},
	}
}

// Owned is what a user owns. The write that begins a deletion makes the user unreachable, and with it all of this. The
// counts, which say that the deletion goes on, go last.
func Owned() []schema.Owned {
	items := schema.Owned{Kind: schema.DeleteOwned, List: "ListItemKeys", Write: "EraseItem"}
	tasks, keys := items, items
	tasks.Name, tasks.Partition = "tasks", "TASK#"
	keys.Name, keys.Partition = "idempotency keys", "IDEMPOTENCY#"
	return []schema.Owned{tasks, keys, {Name: "the key of the deletion", Kind: schema.LeaveOwned, Table: appData,
		Partition: "IDEMPOTENCY#", Until: "for 24 hours, with the answer to the deletion alone"}}
}

func table() schema.Table {
	text := schema.String.Attribute
	keys := []schema.Attribute{
		text("PK", "Partition key: USER#user, TASK#user, COUNTS#user, EMAIL#address or IDEMPOTENCY#user"),
		text("SK", "Sort key: METADATA; of a task TASK# and its id; of an idempotency key KEY# and the key's SHA-256"),
		text("GSI1PK", "OWNER#user, on tasks"),
		text("GSI1SK", "STATUS#status#task"),
		text("GSI2PK", "OWNER#user, on tasks with a due date"),
		text("GSI2SK", "DUEDATE#date#task"),
		text("GSI3PK", "OWNER#user, on tasks with a priority"),
		text("GSI3SK", "PRIORITY#priority#task"),
		text("GSI4PK", "OWNER#user, on tasks with a category"),
		text("GSI4SK", "CATEGORY#category#task, in the category %25 for % and %23 for #"),
	}
	owner := text("user_id", "On an EMAIL# item: the user whose address it is")
	deletion := text("deletion", "On a COUNTS# item: random id of the deletion of the user that is going on; absent "+
		"otherwise. On an idempotency key: that of the deletion which its request began")
	expiry := schema.Number.Attribute("expiration_timestamp",
		"End of use of an idempotency key, in Unix seconds, 24 hours after its claim (TTL attribute)")
	index := func(name, description string) schema.Index {
		return schema.Index{Name: name, Key: schema.Key{Partition: name + "PK", Sort: name + "SK"},
			Description: description}
	}
	return schema.Table{
		Name:         appData,
		PhysicalName: "app-data",
		Description:  "Users, their tasks, the counts of these, the owners of email addresses, and idempotency keys.",
		Key:          schema.Key{Partition: "PK", Sort: "SK"},
		TimeToLive:   "expiration_timestamp",
		Stream:       schema.StreamNewAndOldImages,
		Attributes: slices.Concat(
			keys, schema.AttributesOf(User{}), []schema.Attribute{owner},
			schema.AttributesOf(Task{}, StatusCounts{}, PriorityCounts{}), []schema.Attribute{deletion, expiry},
			schema.IdempotencyAttributes(),
		),
		Indexes: []schema.Index{
			index("GSI1", "User tasks by status."),
			index("GSI2", "User tasks by due date. Sparse: only tasks that have one."),
			index("GSI3", "User tasks by priority. Sparse: only tasks that have one."),
			index("GSI4", "User tasks by category. Sparse: only tasks that have one."),
		},
	}
}
