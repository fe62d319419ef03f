package routes

import (
	"fmt"
	"slices"
	"time"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

const (
	// tasksAtFirst is the number of tasks that a user begins with: three pages.
	tasksAtFirst = 60
	// tasksInBulk is the number of tasks in a bulk request.
	tasksInBulk = 10
)

// Todo says what to measure of To-Do.
func (described) Todo() Measured {
	task, pages := []string{"task_id"}, slices.Repeat([]string{"task_id"}, tasksAtFirst)
	// Each change alternates the status, so that it changes index and counts.
	status := func(_ *caller, n int) given {
		return given{"status": []todo.Status{todo.Pending, todo.InProgress}[n%2]}
	}
	// The task, the counts and the idempotency key.
	one := Transaction{Items: 3, Indexed: 1}
	return Measured{
		platform: todo.Platform(), Change: todo.CreateTask, LakeTable: LakeTable{Entity: "task", ID: "task_id"},
		makers: map[string]schema.Described{"user_id": todo.CreateUser, "task_id": todo.CreateTask},
		usual:  []string{"user_id"},
		bodies: map[string]func(*caller, int) given{
			todo.CreateTask.ID: wholeTask, todo.ReplaceTask.ID: otherTask, todo.ChangeTask.ID: status,
			todo.ReplaceUser.ID: func(_ *caller, n int) given { return given{"name": fmt.Sprint("Ann ", n)} },
			todo.ChangeTasks.ID: func(c *caller, n int) given {
				return given{"task_ids": c.made["task_id"], "status": status(c, n)["status"]}
			},
		},
		Routes: []Route{
			{Name: "warm", Of: todo.ReadHealth, Note: ", without DynamoDB"},
			{Name: "create", Of: todo.CreateTask, Clients: allClients, Transaction: one},
			{Name: "get", Of: todo.ReadTask, Clients: allClients},
			{Name: "patch", Of: todo.ChangeTask, Note: ", the status", Clients: allClients, Transaction: one},
			{Name: "list", Of: todo.ListTasks, Params: todo.TaskFilter{Limit: 20}, Note: ", 20 of 60",
				Clients: allClients, has: pages},
			{Name: "index", Of: todo.ListTasks, Params: todo.TaskFilter{Limit: 20, Status: todo.Pending},
				Note: "?status=, 20 of 60", Clients: allClients, has: pages},
			{Name: "search", Of: todo.ListTasks, Params: todo.TaskFilter{Limit: 20, Search: "REPORT 7 "},
				Note: "?q=, 1 of 60", Clients: allClients, has: pages},
			{Name: "stats", Of: todo.ReadStats, Clients: allClients, has: task},
			{Name: "bulk", Of: todo.ChangeTasks, Note: fmt.Sprintf(", status of %d", tasksInBulk), Clients: allClients,
				Transaction: Transaction{Items: tasksInBulk + 2, Indexed: tasksInBulk},
				has:         pages[:tasksInBulk]},
			{Name: "delete", Of: todo.DeleteTask, Clients: allClients, Transaction: one},
			{Name: "replay", Of: todo.CreateTask, Note: ", the same key", Clients: allClients, Refused: 1, same: true,
				body: func(*caller, int) given { return nil }},
			{Name: "replace", Of: todo.ReplaceTask, Transaction: one},
			{Name: "join", Of: todo.CreateUser, per: 1},
			{Name: "self", Of: todo.ReadUser},
			{Name: "rename", Of: todo.ReplaceUser},
			// User, address, counts, the task, the keys of its two requests, and the request's own.
			{Name: "erase", Of: todo.DeleteUser, Note: ", of 1 task", Transaction: Transaction{Items: 7, Indexed: 1},
				has: task, per: 1},
		},
	}
}

// wholeTask is a task with a value in every field, of about 0.5 KB in the table.
func wholeTask(_ *caller, n int) given {
	return given{
		"title":       fmt.Sprintf("Write report %d for the team", n),
		"description": "All of last month's figures, with one page on the next steps, and on who will take them.",
		"priority":    todo.Priorities()[n%4],
		"category":    []string{"work", "home"}[n%2],
		"due_date":    time.Now().AddDate(0, 0, n%60).Format(time.DateOnly),
	}
}

// otherTask is one that differs from a task that was just created.
func otherTask(c *caller, n int) given { return wholeTask(c, n+1) }
