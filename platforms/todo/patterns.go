package todo

import "github.com/onesynth-cdk/onesynth/schema"

// filters are what a list of tasks is narrowed by besides its key.
var filters = []string{"status", "priority", "category", "due_date"}

func accessPatterns() []schema.AccessPattern {
	const table = "AppData"
	const few = "~1-5 RCU depending on result size"
	list := func(name, index string, comparison schema.Comparison, description, seed,
		cost string) schema.AccessPattern {
		return schema.Query.Pattern(name, table, description).
			By(index, schema.Where(index+"PK", schema.Equal), schema.Where(index+"SK", comparison)).
			Filtering(filters...).InSeed(seed).Costing(cost)
	}

	patterns := []schema.AccessPattern{
		schema.GetItem.Pattern("GetUser", table, "A user as it is now.").
			InSeed("Fetch user by user_id").Costing("0.5 RCU"),
		schema.GetItem.Pattern("GetTask", table, "A task as it is now.").
			InSeed("Fetch task by task_id").Costing("0.5 RCU"),
		schema.GetItem.Pattern("GetTaskCounts", table, "How many tasks a user has, by status and by priority.").
			InSeed("Task analytics: Count by status; Task analytics: Count by priority").
			Costing("~50-200 RCU for large datasets").UsedBy("todoapi", "eraser"),

		list("ListTasks", "", schema.BeginsWith, "A user's tasks, newest first.",
			"Fetch all tasks for user; Pagination support", few).Downwards(),
		list("SearchTasks", "", schema.BeginsWith,
			"A user's tasks, newest first; the handler keeps those whose title or description has a text.",
			"Search tasks by title/description", "~50-500 RCU depending on dataset size").Downwards(),
		list("ListTasksByStatus", "GSI1", schema.BeginsWith, "A user's tasks in the order of their status.",
			"Fetch tasks by status for user", few),
		list("ListTasksWithStatus", "GSI1", schema.BeginsWith,
			"A user's tasks with one status, newest first.", "Fetch tasks by specific status for user",
			few).Downwards(),
		list("ListCompletedTasks", "GSI1", schema.BeginsWith, "A user's completed tasks, newest first.",
			"Fetch completed tasks by user", few).Downwards(),
		list("ListTasksByDueDate", "GSI2", schema.BeginsWith, "A user's tasks with a due date, earliest first.",
			"Fetch tasks by due date for user; Fetch all tasks with due dates for user", few),
		list("ListTasksDueOn", "GSI2", schema.BeginsWith, "A user's tasks that are due on one day.",
			"Fetch tasks by specific due date for user", few),
		list("ListTasksDueBetween", "GSI2", schema.Between,
			"A user's tasks that are due in a range of days, both included, earliest first.",
			"Fetch tasks by date range for user", "~1-5 RCU depending on range"),
		list("ListOverdueTasks", "GSI2", schema.Less,
			"A user's tasks that were due before a day and are neither completed nor cancelled, earliest first.",
			"Fetch overdue tasks for user", "~1-5 RCU depending on range"),
		list("ListTasksByPriority", "GSI3", schema.BeginsWith,
			"A user's tasks with a priority, in the order of its name.", "Fetch tasks by priority for user", few),
		list("ListTasksWithPriority", "GSI3", schema.BeginsWith,
			"A user's tasks with one priority, newest first.", "Fetch tasks by specific priority for user",
			few).Downwards(),
		list("ListTasksByCategory", "GSI4", schema.BeginsWith, "A user's tasks with a category, in its order.",
			"Fetch tasks by category for user", few),
		list("ListTasksWithCategory", "GSI4", schema.BeginsWith,
			"A user's tasks with one category, newest first.", "Fetch tasks by specific category for user",
			few).Downwards(),

		schema.Transaction("CreateUser", "Store a user whose email address no other one has.",
			schema.PutItem.On(table, "the user, unless there is one"),
			schema.PutItem.On(table, "the address's owner, unless it has one"),
			schema.PutItem.On(table, "the counts, all zero, unless there are some"),
			schema.KeepAnswer(table)),
		schema.Transaction("UpdateUser", "Change a user's name or email address.",
			schema.PutItem.On(table, "the user, if it is still as it was read"),
			schema.PutItem.On(table, "the new address's owner, unless it has one").IfNeeded(),
			schema.DeleteItem.On(table, "the old address's owner").IfNeeded(),
			schema.KeepAnswer(table)),
		schema.Transaction("CreateTask", "Store a task and count it.",
			schema.PutItem.On(table, "the task, unless its id exists"),
			schema.UpdateItem.On(table, "the counts, if the user exists and is not being deleted"),
			schema.KeepAnswer(table)).
			InSeed("Create/Update task").Costing("1 WCU"),
		schema.Transaction("UpdateTask", "Store a task's new version, with the keys of all four indexes, and update "+
			"the "+
			"counts.",
			schema.PutItem.On(table, "the task, if it still has the version that was read"),
			schema.UpdateItem.On(table,
				"the counts that change, if the user exists and is not being deleted").IfNeeded(),
			schema.ConditionCheckItem.On(table, "the counts, when none changes: the user exists and is not being "+
				"deleted").IfNeeded(),
			schema.KeepAnswer(table)).
			InSeed("Create/Update task").Costing("1 WCU"),
		schema.Transaction("DeleteTask", "Delete a task and take it from the counts.",
			schema.DeleteItem.On(table, "the task, if it still has the version that was read"),
			schema.UpdateItem.On(table, "the counts, if the user exists and is not being deleted"),
			schema.KeepAnswer(table)).
			InSeed("Delete task").Costing("0.5 WCU"),
		schema.Transaction("SetTaskStatuses", "Change the status of up to 50 tasks, all or none.",
			schema.PutItem.On(table, "a task, if it still has the version that was read").ForEach().IfNeeded(),
			schema.UpdateItem.On(table, "the counts, if the user exists and is not being deleted").IfNeeded(),
			schema.KeepAnswer(table)).
			InSeed("Bulk update task status").Costing("1.5 WCU per item"),
		schema.Transaction("DeleteCompletedTasks", "Delete up to 50 tasks that are completed.",
			schema.DeleteItem.On(table, "a task, if it still has the version that was read").ForEach().IfNeeded(),
			schema.UpdateItem.On(table, "the counts, if the user exists and is not being deleted").IfNeeded(),
			schema.KeepAnswer(table)).
			InSeed("Bulk delete completed tasks").Costing("0.5 WCU per item"),

		schema.Transaction("DeleteUser", "Delete a user and everything of theirs, up to 96 tasks and idempotency keys.",
			schema.DeleteItem.On(table, "the user, if it is still as it was read"),
			schema.DeleteItem.On(table, "the address's owner"),
			schema.DeleteItem.On(table, "the counts, if they are still as they were read"),
			schema.DeleteItem.On(table,
				"a task, if it still has the version that was read, or an idempotency key").ForEach().IfNeeded(),
			schema.KeepAnswer(table)),
		schema.Transaction("BeginUserDeletion", "Delete a user's own item. From then on nothing can be added.",
			schema.DeleteItem.On(table, "the user, if it is still as it was read"),
			schema.DeleteItem.On(table, "the address's owner"),
			schema.UpdateItem.On(table, "the counts: the id of the deletion"),
			schema.UpdateItem.On(table, "the request's idempotency key: the id of the deletion, by which a "+
				"later attempt knows it for its own").IfNeeded()),
		schema.GetItem.Pattern("GetUserDeletion", table,
			"The deletion of the user that an attempt at the same request began.").Returning("deletion"),
		schema.Query.Pattern("ListItemKeys", table,
			"The keys of all items with a user's partition key: tasks, or idempotency keys.").
			By("", schema.Where("PK", schema.Equal)).Consistently().
			Returning("PK", "SK", "deletion", "version", "expiration_timestamp").UsedBy("todoapi", "eraser"),
		schema.DeleteItem.Pattern("EraseItem", table,
			"Delete a task or an idempotency key of a user that is being deleted, if it is as it was read.").
			UsedBy("todoapi", "eraser"),
		schema.DeleteItem.Pattern("FinishUserDeletion", table,
			"Delete the counts, the last item of a user, if this deletion is still going on.").UsedBy("eraser"),
		schema.Transaction("AnswerUserDeletion", "FinishUserDeletion for the request that asked for it.",
			schema.DeleteItem.On(table, "the counts, if this deletion is still going on").IfNeeded(),
			schema.KeepAnswer(table)),
	}
	for _, p := range schema.IdempotencyPatterns(table) {
		if p.Name == schema.ClaimIdempotencyKey {
			p = p.InSeed("Idempotency check; Idempotency cleanup").Costing("0.5 RCU")
		}
		patterns = append(patterns, p)
	}
	return schema.UsedBy("todoapi", patterns...)
}
