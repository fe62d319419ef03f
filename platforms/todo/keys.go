package todo

// What the keys of items begin with, and the sort key of an item that is alone in its partition.
const (
	UserPrefix = "USER#"
	TaskPrefix = "TASK#"
	Metadata   = "METADATA"
)

// UserKey returns the primary key of a user's item, partition key first, for the access patterns of functions that a
// team adds.
func UserKey(id string) []any { return []any{UserPrefix + id, Metadata} }

// TaskKey returns the primary key of a task's item, as [UserKey] does. The user is the task's owner.
func TaskKey(user, id string) []any { return []any{TaskPrefix + user, TaskPrefix + id} }
