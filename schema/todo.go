package schema

import (
	"slices"
	"time"
)

// Todo is the platform on which users keep tasks, and whose changes fill a lake:
// the one table of the seed (ADR-003), and the additions that its requirements
// force. docs/DEVIATIONS.md gives the reason for each addition.
func Todo() Platform {
	return Platform{
		Name:        "todo",
		Title:       "To-Do",
		Description: "Users keep tasks",
		Database: Database{
			Prefix:         "todo",
			Tables:         []Table{todoTable()},
			AccessPatterns: todoAccessPatterns(),
		},
		Functions: []Function{
			{
				Name:        "todoapi",
				ID:          "TodoAPI",
				Description: "Serves the routes of users and their tasks",
				// A deletion of a user that needs longer goes on in the eraser.
				Timeout: 10 * time.Second,
				Secrets: []string{"CursorSecret"},
				AccessPatterns: []string{
					"GetUser", "CreateUser", "UpdateUser", "GetTaskCounts",
					"GetTask", "CreateTask", "UpdateTask", "DeleteTask",
					"ListTasks", "SearchTasks",
					"ListTasksByStatus", "ListTasksWithStatus", "ListCompletedTasks",
					"ListTasksByDueDate", "ListTasksDueOn", "ListTasksDueBetween", "ListOverdueTasks",
					"ListTasksByPriority", "ListTasksWithPriority",
					"ListTasksByCategory", "ListTasksWithCategory",
					"SetTaskStatuses", "DeleteCompletedTasks",
					"DeleteUser", "BeginUserDeletion", "GetUserDeletion", "ListItemKeys", "EraseItem", "AnswerUserDeletion",
					ClaimIdempotencyKey, SettleIdempotencyKey,
				},
			},
			{
				Name:        "eraser",
				Description: "Finishes the deletion of users whose request could not",
				// Enough to erase some 20,000 items in one go.
				Timeout: 5 * time.Minute,
				// Every deletion of several writes. The request itself erases first.
				Trigger: OnStream{
					ID: "Erasure", Table: "AppData", Changes: "deletions of users",
					Filters:   []map[string]any{{"dynamodb": map[string]any{"NewImage": map[string]any{"deletion": map[string]any{"S": []any{map[string]any{"exists": true}}}}}}},
					BatchSize: 10, After: "todoapi", BatchWindow: 5 * time.Second, ReportItemFailures: true,
					Failures: Failures{ID: "DeadLetters", Description: "deletions of users that could not be finished"},
				},
				AccessPatterns: []string{"ListItemKeys", "GetTaskCounts", "EraseItem", "FinishUserDeletion"},
			},
		},
		Secrets: []Secret{
			CursorSecret(),
		},
		RequestHeaders:  []string{"Authorization", "Content-Type", "Idempotency-Key", "If-Match", "X-Timezone"},
		ResponseHeaders: []string{"ETag", "Idempotency-Replayed", "Location", "Retry-After"},
		Metrics: []Metric{
			{Name: "TasksCreated", Function: "todoapi", Unit: Count, Description: "tasks created; a repeat with the same idempotency key is none"},
			{Name: "TasksCompleted", Function: "todoapi", Unit: Count, Description: "tasks completed, one by one or in bulk; one that was completed before is none"},
			{Name: "UsersErased", Function: "eraser", Unit: Count, Description: "deletions of users in several writes that the eraser found done or finished"},
			{Name: "EraserFailures", Function: "eraser", Unit: Count, Description: "deletions that failed, and come again"},
		},
		Routes: todoRoutes(),
		Lakes:  []Lake{todoLake()},
	}
}

func todoRoutes() []Route {
	var routes []Route
	add := func(method, path string, caller Caller, summary string) {
		routes = append(routes, Route{Method: method, Path: path, Function: "todoapi", Caller: caller, Summary: summary})
	}
	add("POST", "/api/v1/users/me", CallerUser, "Create one's user")
	add("GET", "/api/v1/users/me", CallerUser, "Read one's user")
	add("PUT", "/api/v1/users/me", CallerUser, "Change one's name and email address")
	add("DELETE", "/api/v1/users/me", CallerUser, "Delete one's user and everything of it")
	add("POST", "/api/v1/tasks", CallerUser, "Create a task")
	add("GET", "/api/v1/tasks", CallerUser, "List, filter and search one's tasks")
	add("GET", "/api/v1/tasks/stats", CallerUser, "Count one's tasks by status and by priority")
	add("POST", "/api/v1/tasks/bulk", CallerUser, "Change the status of many tasks, or delete the completed ones")
	add("GET", "/api/v1/tasks/{task_id}", CallerUser, "Read a task")
	add("PUT", "/api/v1/tasks/{task_id}", CallerUser, "Replace a task")
	add("PATCH", "/api/v1/tasks/{task_id}", CallerUser, "Change fields of a task")
	add("DELETE", "/api/v1/tasks/{task_id}", CallerUser, "Delete a task")
	add("GET", "/api/v1/openapi.json", CallerAnyone, "Read this API's OpenAPI document")
	add("GET", "/health", CallerAnyone, "See that the API answers")
	return routes
}

func todoTable() Table {
	const unixSeconds = "in Unix seconds"
	table := Table{
		Name:         "AppData",
		PhysicalName: "app-data",
		Description:  "Users, their tasks, the counts of these, the owners of email addresses, and idempotency keys.",
		Key:          Key{"PK", "SK"},
		TimeToLive:   "expiration_timestamp",
		Stream:       StreamNewAndOldImages,
		Attributes: []Attribute{
			{"PK", String, "Partition key: USER#user, TASK#user, COUNTS#user, EMAIL#address or IDEMPOTENCY#user"},
			{"SK", String, "Sort key: METADATA; of a task TASK# and its id; of an idempotency key KEY# and the key's SHA-256"},
			{"GSI1PK", String, "OWNER#user, on tasks"},
			{"GSI1SK", String, "STATUS#status#task"},
			{"GSI2PK", String, "OWNER#user, on tasks with a due date"},
			{"GSI2SK", String, "DUEDATE#date#task"},
			{"GSI3PK", String, "OWNER#user, on tasks with a priority"},
			{"GSI3SK", String, "PRIORITY#priority#task"},
			{"GSI4PK", String, "OWNER#user, on tasks with a category"},
			{"GSI4SK", String, "CATEGORY#category#task, in the category %25 for % and %23 for #"},
			{"email", String, "User's email address, as given"},
			{"name", String, "User's display name, 1 to 100 characters"},
			{"user_id", String, "On an EMAIL# item: the user whose address it is"},
			{"title", String, "Task title, 1 to 200 characters"},
			{"description", String, "Task description, up to 1000 characters; absent when empty"},
			{"status", String, "pending, in_progress, completed or cancelled"},
			{"priority", String, "low, medium, high or urgent; absent when there is none"},
			{"category", String, "Task category, up to 50 characters; absent when there is none"},
			{"due_date", String, "YYYY-MM-DD; absent when there is none"},
			{"created_at", Number, "Creation, of an idempotency key its last claim, " + unixSeconds},
			{"updated_at", Number, "Last change, " + unixSeconds},
			{"completed_at", Number, "Completion of a task, " + unixSeconds + "; absent unless it is completed"},
			{"version", Number, "Of a task: 1, and one more with each change; a write holds only on the version that it read"},
			{"pending", Number, "On a COUNTS# item, as the following: the user's tasks with this status"},
			{"in_progress", Number, "See pending"},
			{"completed", Number, "See pending"},
			{"cancelled", Number, "See pending"},
			{"low", Number, "The user's tasks with this priority"},
			{"medium", Number, "See low"},
			{"high", Number, "See low"},
			{"urgent", Number, "See low"},
			{"no_priority", Number, "The user's tasks without a priority"},
			{"deletion", String, "On a COUNTS# item: random id of the deletion of the user that is going on; absent otherwise. On an idempotency key: that of the deletion which its request began"},
			{"expiration_timestamp", Number, "End of use of an idempotency key, " + unixSeconds + ", 24 hours after its claim (TTL attribute)"},
		},
		Indexes: []Index{
			{Name: "GSI1", Key: Key{"GSI1PK", "GSI1SK"}, Description: "User tasks by status."},
			{Name: "GSI2", Key: Key{"GSI2PK", "GSI2SK"}, Description: "User tasks by due date. Sparse: only tasks that have one."},
			{Name: "GSI3", Key: Key{"GSI3PK", "GSI3SK"}, Description: "User tasks by priority. Sparse: only tasks that have one."},
			{Name: "GSI4", Key: Key{"GSI4PK", "GSI4SK"}, Description: "User tasks by category. Sparse: only tasks that have one."},
		},
	}
	table.Attributes = append(table.Attributes, IdempotencyAttributes()...)
	return table
}

// todoFilters are what a list of tasks is narrowed by besides its key.
var todoFilters = []string{"status", "priority", "category", "due_date"}

func todoAccessPatterns() []AccessPattern {
	const table = "AppData"
	const few = "~1-5 RCU depending on result size"
	get := func(name, description, seed, cost string) AccessPattern {
		return AccessPattern{Name: name, Description: description, Operation: GetItem, Table: table, Consistent: true, Seed: seed, SeedCost: cost}
	}
	list := func(name, index string, comparison Comparison, description, seed, cost string) AccessPattern {
		key := Key{"PK", "SK"}
		if index != "" {
			key = Key{index + "PK", index + "SK"}
		}
		return AccessPattern{
			Name: name, Description: description, Operation: Query, Table: table, Index: index, Filter: todoFilters,
			KeyConditions: []KeyCondition{{key.Partition, Equal}, {key.Sort, comparison}},
			Seed:          seed, SeedCost: cost,
		}
	}
	newestFirst := func(p AccessPattern) AccessPattern { p.Descending = true; return p }
	transaction := func(name, description, seed, cost string, writes ...Write) AccessPattern {
		return AccessPattern{Name: name, Description: description, Operation: TransactWriteItems, Writes: writes, Seed: seed, SeedCost: cost}
	}
	write := func(operation Operation, description string) Write {
		return Write{Table: table, Operation: operation, Description: description}
	}
	optional := func(w Write) Write { w.Optional = true; return w }
	each := func(w Write) Write { w.Repeated = true; return w }

	patterns := []AccessPattern{
		get("GetUser", "A user as it is now.", "Fetch user by user_id", "0.5 RCU"),
		get("GetTask", "A task as it is now.", "Fetch task by task_id", "0.5 RCU"),
		get("GetTaskCounts", "How many tasks a user has, by status and by priority.",
			"Task analytics: Count by status; Task analytics: Count by priority", "~50-200 RCU for large datasets"),

		newestFirst(list("ListTasks", "", BeginsWith, "A user's tasks, newest first.", "Fetch all tasks for user; Pagination support", few)),
		newestFirst(list("SearchTasks", "", BeginsWith, "A user's tasks, newest first; the handler keeps those whose title or description has a text.",
			"Search tasks by title/description", "~50-500 RCU depending on dataset size")),
		list("ListTasksByStatus", "GSI1", BeginsWith, "A user's tasks in the order of their status.", "Fetch tasks by status for user", few),
		newestFirst(list("ListTasksWithStatus", "GSI1", BeginsWith, "A user's tasks with one status, newest first.", "Fetch tasks by specific status for user", few)),
		newestFirst(list("ListCompletedTasks", "GSI1", BeginsWith, "A user's completed tasks, newest first.", "Fetch completed tasks by user", few)),
		list("ListTasksByDueDate", "GSI2", BeginsWith, "A user's tasks with a due date, earliest first.",
			"Fetch tasks by due date for user; Fetch all tasks with due dates for user", few),
		list("ListTasksDueOn", "GSI2", BeginsWith, "A user's tasks that are due on one day.", "Fetch tasks by specific due date for user", few),
		list("ListTasksDueBetween", "GSI2", Between, "A user's tasks that are due in a range of days, both included, earliest first.",
			"Fetch tasks by date range for user", "~1-5 RCU depending on range"),
		list("ListOverdueTasks", "GSI2", Less, "A user's tasks that were due before a day and are neither completed nor cancelled, earliest first.",
			"Fetch overdue tasks for user", "~1-5 RCU depending on range"),
		list("ListTasksByPriority", "GSI3", BeginsWith, "A user's tasks with a priority, in the order of its name.", "Fetch tasks by priority for user", few),
		newestFirst(list("ListTasksWithPriority", "GSI3", BeginsWith, "A user's tasks with one priority, newest first.", "Fetch tasks by specific priority for user", few)),
		list("ListTasksByCategory", "GSI4", BeginsWith, "A user's tasks with a category, in its order.", "Fetch tasks by category for user", few),
		newestFirst(list("ListTasksWithCategory", "GSI4", BeginsWith, "A user's tasks with one category, newest first.", "Fetch tasks by specific category for user", few)),

		transaction("CreateUser", "Store a user whose email address no other one has.", "", "",
			write(PutItem, "the user, unless there is one"),
			write(PutItem, "the address's owner, unless it has one"),
			write(PutItem, "the counts, all zero, unless there are some"),
			KeepAnswer(table)),
		transaction("UpdateUser", "Change a user's name or email address.", "", "",
			write(PutItem, "the user, if it is still as it was read"),
			optional(write(PutItem, "the new address's owner, unless it has one")),
			optional(write(DeleteItem, "the old address's owner")),
			KeepAnswer(table)),
		transaction("CreateTask", "Store a task and count it.", "Create/Update task", "1 WCU",
			write(PutItem, "the task, unless its id exists"),
			write(UpdateItem, "the counts, if the user exists and is not being deleted"),
			KeepAnswer(table)),
		transaction("UpdateTask", "Store a task's new version, with the keys of all four indexes, and update the counts.", "Create/Update task", "1 WCU",
			write(PutItem, "the task, if it still has the version that was read"),
			optional(write(UpdateItem, "the counts that change, if the user exists and is not being deleted")),
			optional(write(ConditionCheckItem, "the counts, when none changes: the user exists and is not being deleted")),
			KeepAnswer(table)),
		transaction("DeleteTask", "Delete a task and take it from the counts.", "Delete task", "0.5 WCU",
			write(DeleteItem, "the task, if it still has the version that was read"),
			write(UpdateItem, "the counts, if the user exists and is not being deleted"),
			KeepAnswer(table)),
		transaction("SetTaskStatuses", "Change the status of up to 50 tasks, all or none.", "Bulk update task status", "1.5 WCU per item",
			optional(each(write(PutItem, "a task, if it still has the version that was read"))),
			optional(write(UpdateItem, "the counts, if the user exists and is not being deleted")),
			KeepAnswer(table)),
		transaction("DeleteCompletedTasks", "Delete up to 50 tasks that are completed.", "Bulk delete completed tasks", "0.5 WCU per item",
			optional(each(write(DeleteItem, "a task, if it still has the version that was read"))),
			optional(write(UpdateItem, "the counts, if the user exists and is not being deleted")),
			KeepAnswer(table)),

		transaction("DeleteUser", "Delete a user and everything of theirs, up to 96 tasks and idempotency keys.", "", "",
			write(DeleteItem, "the user, if it is still as it was read"),
			write(DeleteItem, "the address's owner"),
			write(DeleteItem, "the counts, if they are still as they were read"),
			optional(each(write(DeleteItem, "a task, if it still has the version that was read, or an idempotency key"))),
			KeepAnswer(table)),
		transaction("BeginUserDeletion", "Delete a user's own item. From then on nothing can be added.", "", "",
			write(DeleteItem, "the user, if it is still as it was read"),
			write(DeleteItem, "the address's owner"),
			write(UpdateItem, "the counts: the id of the deletion"),
			optional(write(UpdateItem, "the request's idempotency key: the id of the deletion, by which a later attempt knows it for its own"))),
		{
			Name: "GetUserDeletion", Description: "The deletion of the user that an attempt at the same request began.",
			Operation: GetItem, Table: table, Consistent: true, Attributes: []string{"deletion"},
		},
		{
			Name: "ListItemKeys", Description: "The keys of all items with a user's partition key: tasks, or idempotency keys.",
			Operation: Query, Table: table, Consistent: true,
			KeyConditions: []KeyCondition{{"PK", Equal}}, Attributes: []string{"PK", "SK", "deletion", "version", "expiration_timestamp"},
		},
		{
			Name: "EraseItem", Description: "Delete a task or an idempotency key of a user that is being deleted, if it is as it was read.",
			Operation: DeleteItem, Table: table,
		},
		{
			Name: "FinishUserDeletion", Description: "Delete the counts, the last item of a user, if this deletion is still going on.",
			Operation: DeleteItem, Table: table,
		},
		transaction("AnswerUserDeletion", "FinishUserDeletion for the request that asked for it.", "", "",
			optional(write(DeleteItem, "the counts, if this deletion is still going on")),
			KeepAnswer(table)),
	}
	for _, p := range IdempotencyPatterns(table) {
		if p.Name == ClaimIdempotencyKey {
			p.Seed, p.SeedCost = "Idempotency check; Idempotency cleanup", "0.5 RCU"
		}
		patterns = append(patterns, p)
	}
	return patterns
}

// todoLake leaves out counts, idempotency keys and email owners, and of users
// their names and addresses, so that the lake holds no directory of people.
func todoLake() Lake {
	task := Entity{
		Name: "task", Description: "A task of a user.", PartitionPrefix: "TASK#", SortPrefix: "TASK#",
		Columns: []Column{
			{Name: "user_id", Attribute: "PK", TrimPrefix: "TASK#", Description: "The task's owner"},
			{Name: "task_id", Attribute: "SK", TrimPrefix: "TASK#", Description: "The task's id"},
			{Name: "title", Description: "Title"},
			{Name: "description", Description: "Description, if any"},
			{Name: "status"},
			{Name: "priority", Description: "low, medium, high or urgent, if any"},
			{Name: "category", Description: "Category, if any"},
			{Name: "due_date", Type: ColumnDate, Description: "Due date, if any"},
			{Name: "created_at", Type: ColumnTimestamp, Description: "Creation"},
			{Name: "updated_at", Type: ColumnTimestamp, Description: "Last change"},
			{Name: "completed_at", Type: ColumnTimestamp, Description: "Completion, if completed"},
			{Name: "version", Description: "Version"},
			{Name: "status_before", Attribute: "status", Before: true, Description: "Status before the change; null for a new task"},
		},
	}
	withBefore := task.ColumnsOf(todoTable())
	columns := slices.DeleteFunc(slices.Clone(withBefore), func(c Column) bool { return c.Before })
	events := append(ChangeColumns(), columns...)
	events = append(events, Column{Name: "previous_status", Type: ColumnText, Description: "Status before the change, if there was one"})
	return Lake{
		Name:  "todo",
		Table: "AppData",
		Entities: []Entity{
			task,
			{
				Name: "user", Description: "A user, without name and address.", PartitionPrefix: "USER#", SortPrefix: "METADATA",
				Columns: []Column{
					{Name: "user_id", Attribute: "PK", TrimPrefix: "USER#", Description: "The user's id"},
					{Name: "created_at", Type: ColumnTimestamp, Description: "Creation"},
					{Name: "updated_at", Type: ColumnTimestamp, Description: "Last change"},
				},
			},
		},
		Views: []View{
			{
				Name: "task_events", Columns: events,
				Description: "Each change of a task once, with the status before it.",
				SQL: `SELECT
  event_id, event_name, event_time, sequence_number,
  user_id, task_id, title, description, status, priority, category, due_date, created_at, updated_at, completed_at, version,
  previous_status
FROM (
  SELECT
    event_id, event_name, event_time, sequence_number,
    user_id, task_id, title, description, status, priority, category, due_date, created_at, updated_at, completed_at, version,
    lag(status) OVER (PARTITION BY user_id, task_id ORDER BY sequence_number) AS previous_status,
    lag(sequence_number) OVER (PARTITION BY user_id, task_id ORDER BY sequence_number) AS previous_number
  FROM task_changes
) AS changes
WHERE previous_number IS NULL OR previous_number <> sequence_number`,
			},
			{
				Name: "tasks_current", Columns: columns,
				Description: "Each task that exists, as its latest change left it.",
				SQL: `SELECT
  user_id, task_id, title, description, status, priority, category, due_date, created_at, updated_at, completed_at, version
FROM (
  SELECT
    event_name,
    user_id, task_id, title, description, status, priority, category, due_date, created_at, updated_at, completed_at, version,
    row_number() OVER (PARTITION BY user_id, task_id ORDER BY sequence_number DESC) AS recency
  FROM task_changes
) AS changes
WHERE recency = 1 AND event_name <> 'REMOVE'`,
			},
			{
				Name: "user_metrics",
				Columns: []Column{
					{Name: "user_id", Type: ColumnText, Description: "The user's id"},
					{Name: "tasks", Type: ColumnInteger, Description: "Tasks that exist"},
					{Name: "open_tasks", Type: ColumnInteger, Description: "Pending or in progress"},
					{Name: "completed_tasks", Type: ColumnInteger, Description: "Completed"},
					{Name: "overdue_tasks", Type: ColumnInteger, Description: "Open and due before today (UTC)"},
					{Name: "completion_rate", Type: ColumnDecimal, Description: "Completed of those not cancelled, 0 to 1; null without any"},
					{Name: "average_hours_to_complete", Type: ColumnDecimal, Description: "From creation to completion; null when none is completed"},
					{Name: "last_change", Type: ColumnTimestamp, Description: "Last change of a task"},
				},
				Description: "Each user with tasks.",
				SQL: `SELECT
  user_id,
  count(*) AS tasks,
  count(CASE WHEN status IN ('pending', 'in_progress') THEN 1 END) AS open_tasks,
  count(CASE WHEN status = 'completed' THEN 1 END) AS completed_tasks,
  count(CASE WHEN status IN ('pending', 'in_progress') AND due_date < current_date THEN 1 END) AS overdue_tasks,
  CAST(count(CASE WHEN status = 'completed' THEN 1 END) AS double) / nullif(count(CASE WHEN status <> 'cancelled' THEN 1 END), 0) AS completion_rate,
  avg(CAST(date_diff('second', created_at, completed_at) AS double)) / 3600 AS average_hours_to_complete,
  max(updated_at) AS last_change
FROM tasks_current
GROUP BY user_id`,
			},
			{
				Name: "category_trends",
				Columns: []Column{
					{Name: "day", Type: ColumnDate, Description: "Day (UTC) of the changes"},
					{Name: "category", Type: ColumnText, Description: "Category at the change; null for none"},
					{Name: "created_tasks", Type: ColumnInteger, Description: "Tasks created"},
					{Name: "completed_tasks", Type: ColumnInteger, Description: "Tasks completed"},
					{Name: "deleted_tasks", Type: ColumnInteger, Description: "Tasks deleted"},
				},
				Description: "Each day and category with changes.",
				SQL: `SELECT
  CAST(event_time AS date) AS day,
  category,
  count(CASE WHEN event_name = 'INSERT' THEN 1 END) AS created_tasks,
  count(CASE WHEN event_name <> 'REMOVE' AND status = 'completed' AND coalesce(previous_status, '') <> 'completed' THEN 1 END) AS completed_tasks,
  count(CASE WHEN event_name = 'REMOVE' THEN 1 END) AS deleted_tasks
FROM task_events
GROUP BY CAST(event_time AS date), category`,
			},
			{
				Name: "kpis",
				Columns: []Column{
					{Name: "users", Type: ColumnInteger, Description: "Users that exist"},
					{Name: "tasks", Type: ColumnInteger, Description: "Tasks that exist"},
					{Name: "completed_tasks", Type: ColumnInteger, Description: "Completed"},
					{Name: "overdue_tasks", Type: ColumnInteger, Description: "Open and due before today (UTC)"},
					{Name: "completion_rate", Type: ColumnDecimal, Description: "Completed of those not cancelled, 0 to 1; null without any"},
					{Name: "average_hours_to_complete", Type: ColumnDecimal, Description: "From creation to completion; null when none is completed"},
				},
				Description: "One row: the platform in figures.",
				SQL: `SELECT
  (SELECT count(*) FROM (
    SELECT event_name, row_number() OVER (PARTITION BY user_id ORDER BY sequence_number DESC) AS recency FROM user_changes
  ) AS changes WHERE recency = 1 AND event_name <> 'REMOVE') AS users,
  count(*) AS tasks,
  count(CASE WHEN status = 'completed' THEN 1 END) AS completed_tasks,
  count(CASE WHEN status IN ('pending', 'in_progress') AND due_date < current_date THEN 1 END) AS overdue_tasks,
  CAST(count(CASE WHEN status = 'completed' THEN 1 END) AS double) / nullif(count(CASE WHEN status <> 'cancelled' THEN 1 END), 0) AS completion_rate,
  avg(CAST(date_diff('second', created_at, completed_at) AS double)) / 3600 AS average_hours_to_complete
FROM tasks_current`,
			},
		},
		Queries: []SavedQuery{
			{Name: "Overdue tasks", Description: "Open tasks that were due before today, longest overdue first. Reads all days",
				SQL: "SELECT user_id, task_id, title, due_date FROM tasks_current\nWHERE status IN ('pending', 'in_progress') AND due_date < current_date\nORDER BY due_date, user_id, task_id\nLIMIT 100"},
			{Name: "Most active users", Description: "Users by tasks completed. Reads all days",
				SQL: "SELECT user_id, completed_tasks, completion_rate FROM user_metrics\nORDER BY completed_tasks DESC, user_id\nLIMIT 20"},
			// As category_trends, which has to read all days to know each task's former status:
			// a change completes its task if it was made on the day of the completion.
			{Name: "Category trends of the last 30 days", Description: "What was created, completed and deleted by day and category. Reads 30 days",
				SQL: `SELECT
  event_date AS day,
  category,
  count(DISTINCT CASE WHEN event_name = 'INSERT' THEN task_id END) AS created_tasks,
  count(DISTINCT CASE WHEN event_name <> 'REMOVE' AND CAST(completed_at AS date) = CAST(updated_at AS date) THEN task_id END) AS completed_tasks,
  count(DISTINCT CASE WHEN event_name = 'REMOVE' THEN task_id END) AS deleted_tasks
FROM task_changes
WHERE event_date >= current_date - INTERVAL '30' DAY
GROUP BY event_date, category
ORDER BY day, category`},
			{Name: "Status changes of a day", Description: "How tasks moved from status to status today. Reads one day",
				SQL: "SELECT status_before AS previous_status, status, count(DISTINCT event_id) AS changes FROM task_changes\nWHERE event_date = current_date AND event_name <> 'REMOVE'\nGROUP BY status_before, status\nORDER BY changes DESC, status"},
			{Name: "Key figures", Description: "The platform in figures. Reads all days", SQL: "SELECT * FROM kpis"},
		},
	}
}
