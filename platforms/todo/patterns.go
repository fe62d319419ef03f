package todo

import (
	"slices"

	"github.com/onesynth-cdk/onesynth/schema"
)

const appData = "AppData"

func accessPatterns() []schema.AccessPattern {
	idempotency := append(schema.IdempotencyPatterns(appData), schema.ReadIdempotency(appData))
	for i, p := range idempotency {
		if p.Name == schema.ClaimIdempotencyKey {
			idempotency[i] = p.InOrigin("Idempotency check; Idempotency cleanup").Costing("0.5 RCU")
		}
	}
	return schema.UsedBy("todoapi",
		slices.Concat(reads(), lists(), userWrites(), taskWrites(), deletionOfUsers(), idempotency)...)
}

func reads() []schema.AccessPattern {
	return []schema.AccessPattern{
		get("GetUser", "A user as it is now.").InOrigin("Fetch user by user_id").Costing("0.5 RCU"),
		get("GetTask", "A task as it is now.").InOrigin("Fetch task by task_id").Costing("0.5 RCU"),
		get("GetTaskCounts", "How many tasks a user has, by status and by priority.").
			InOrigin("Task analytics: Count by status; Task analytics: Count by priority").
			Costing("~50-200 RCU for large datasets").UsedBy("todoapi", "eraser"),
	}
}

func lists() []schema.AccessPattern {
	list := func(name, index string, comparison schema.Comparison, description, origin string) schema.AccessPattern {
		return schema.Query.Pattern(name, appData, description).
			By(index, schema.Where(index+"PK", schema.Equal), schema.Where(index+"SK", comparison)).
			Filtering("status", "priority", "category", "due_date").
			InOrigin(origin).Costing("~1-5 RCU depending on result size")
	}
	const begins, byRange = schema.BeginsWith, "~1-5 RCU depending on range"
	return []schema.AccessPattern{
		list("ListTasks", "", begins, "A user's tasks, newest first.",
			"Fetch all tasks for user; Pagination support").Downwards(),
		list("SearchTasks", "", begins,
			"A user's tasks, newest first; the handler keeps those whose title or description has a text.",
			"Search tasks by title/description").Costing("~50-500 RCU depending on dataset size").Downwards(),
		list("ListTasksByStatus", "GSI1", begins, "A user's tasks in the order of their status.",
			"Fetch tasks by status for user"),
		list("ListTasksWithStatus", "GSI1", begins, "A user's tasks with one status, newest first.",
			"Fetch tasks by specific status for user").Downwards(),
		list("ListCompletedTasks", "GSI1", begins, "A user's completed tasks, newest first.",
			"Fetch completed tasks by user").Downwards(),
		list("ListTasksByDueDate", "GSI2", begins, "A user's tasks with a due date, earliest first.",
			"Fetch tasks by due date for user; Fetch all tasks with due dates for user"),
		list("ListTasksDueOn", "GSI2", begins, "A user's tasks that are due on one day.",
			"Fetch tasks by specific due date for user"),
		list("ListTasksDueBetween", "GSI2", schema.Between,
			"A user's tasks that are due in a range of days, both included, earliest first.",
			"Fetch tasks by date range for user").Costing(byRange),
		list("ListOverdueTasks", "GSI2", schema.Less,
			"A user's tasks that were due before a day and are neither completed nor cancelled, earliest first.",
			"Fetch overdue tasks for user").Costing(byRange),
		list("ListTasksByPriority", "GSI3", begins, "A user's tasks with a priority, in the order of its name.",
			"Fetch tasks by priority for user"),
		list("ListTasksWithPriority", "GSI3", begins, "A user's tasks with one priority, newest first.",
			"Fetch tasks by specific priority for user").Downwards(),
		list("ListTasksByCategory", "GSI4", begins, "A user's tasks with a category, in its order.",
			"Fetch tasks by category for user"),
		list("ListTasksWithCategory", "GSI4", begins, "A user's tasks with one category, newest first.",
			"Fetch tasks by specific category for user").Downwards(),
	}
}

func userWrites() []schema.AccessPattern {
	return []schema.AccessPattern{
		answering("CreateUser", "Store a user whose email address no other one has.",
			put("the user, unless there is one"), put("the address's owner, unless it has one"),
			put("the counts, all zero, unless there are some")),
		answering("UpdateUser", "Change a user's name or email address.",
			put("the user, if it is still as it was read"),
			put("the new address's owner, unless it has one").IfNeeded(),
			remove("the old address's owner").IfNeeded()),
	}
}

func taskWrites() []schema.AccessPattern {
	const asRead = ", if it still has the version that was read"
	counts := update("the counts, if the user exists and is not being deleted")
	return []schema.AccessPattern{
		answering("CreateTask", "Store a task and count it.", put("the task, unless its id exists"), counts).
			InOrigin("Create/Update task").Costing("1 WCU"),
		answering("UpdateTask",
			"Store a task's new version, with the keys of all four indexes, and update the counts.",
			put("the task"+asRead),
			update("the counts that change, if the user exists and is not being deleted").IfNeeded(),
			schema.ConditionCheckItem.On(appData,
				"the counts, when none changes: the user exists and is not being deleted").IfNeeded()).
			InOrigin("Create/Update task").Costing("1 WCU"),
		answering("DeleteTask", "Delete a task and take it from the counts.", remove("the task"+asRead), counts).
			InOrigin("Delete task").Costing("0.5 WCU"),
		answering("SetTaskStatuses", "Change the status of up to 50 tasks, all or none.",
			put("a task"+asRead).ForEach().IfNeeded(), counts.IfNeeded()).
			InOrigin("Bulk update task status").Costing("1.5 WCU per item"),
		answering("MoveOverdueTasks", "Change the due date of up to 50 tasks, all or none.",
			put("a task"+asRead).ForEach().IfNeeded(),
			schema.ConditionCheckItem.On(appData, "the counts: the user exists and is not being deleted").IfNeeded()),
		answering("DeleteCompletedTasks", "Delete up to 50 tasks that are completed.",
			remove("a task"+asRead).ForEach().IfNeeded(), counts.IfNeeded()).
			InOrigin("Bulk delete completed tasks").Costing("0.5 WCU per item"),
	}
}

func deletionOfUsers() []schema.AccessPattern {
	user, owner := remove("the user, if it is still as it was read"), remove("the address's owner")
	return []schema.AccessPattern{
		answering("DeleteUser", "Delete a user and everything of theirs, up to 96 tasks and idempotency keys.",
			user, owner, remove("the counts, if they are still as they were read"),
			remove("a task, if it still has the version that was read, or an idempotency key").ForEach().IfNeeded()),
		schema.Transaction("BeginUserDeletion", "Delete a user's own item. From then on nothing can be added.",
			user, owner, update("the counts: the id of the deletion"),
			update("the request's idempotency key: the id of the deletion, by which a later attempt knows it for its "+
				"own").IfNeeded()),
		get("GetUserDeletion", "The deletion of the user that an attempt at the same request began.").
			Returning("deletion"),
		schema.Query.Pattern("ListItemKeys", appData,
			"The keys of all items with a user's partition key: tasks, or idempotency keys.").
			By("", schema.Where("PK", schema.Equal)).Consistently().
			Returning("PK", "SK", "deletion", "version", "expiration_timestamp").UsedBy("todoapi", "eraser"),
		schema.DeleteItem.Pattern("EraseItem", appData,
			"Delete a task or an idempotency key of a user that is being deleted, if it is as it was read.").
			UsedBy("todoapi", "eraser"),
		schema.DeleteItem.Pattern("FinishUserDeletion", appData,
			"Delete the counts, the last item of a user, if this deletion is still going on.").UsedBy("eraser"),
		answering("AnswerUserDeletion", "FinishUserDeletion for the request that asked for it.",
			remove("the counts, if this deletion is still going on").IfNeeded()),
	}
}

func get(name, description string) schema.AccessPattern {
	return schema.GetItem.Pattern(name, appData, description)
}

// answering is a transaction that keeps the answer to its request, too.
func answering(name, description string, writes ...schema.Write) schema.AccessPattern {
	return schema.Transaction(name, description, append(writes, schema.KeepAnswer(appData))...)
}

func put(description string) schema.Write    { return schema.PutItem.On(appData, description) }
func update(description string) schema.Write { return schema.UpdateItem.On(appData, description) }
func remove(description string) schema.Write { return schema.DeleteItem.On(appData, description) }
