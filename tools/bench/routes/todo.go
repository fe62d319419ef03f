package routes

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/parquet-go/parquet-go"
)

const (
	// tasksAtFirst is the number of tasks that a user begins with: three pages.
	tasksAtFirst = 60
	// tasksInBulk is the number of tasks in a bulk request.
	tasksInBulk = 10
)

// Todo says what to measure of To-Do.
func (described) Todo() Measured {
	begin := func(run *Run) *user {
		u := &user{caller: newCaller(run)}
		u.IdempotencyKeys = true
		return u
	}
	// having returns clients that begin with that many tasks.
	having := func(tasks int, prepare, request func(*user, context.Context) error) starter {
		return steps(begin, func(u *user, ctx context.Context) error {
			if err := u.needUser(ctx, tasks); err != nil || prepare == nil {
				return err
			}
			return prepare(u, ctx)
		}, request)
	}
	joined, hasTask, hasPages := having(0, nil, nil), having(1, nil, nil), having(tasksAtFirst, nil, nil)
	// The task, the counts and the idempotency key.
	one := Transaction{Items: 3, Indexed: 1}
	return Measured{
		Routes: []Route{
			{Name: "warm", Method: "GET", Path: "/health", Note: ", without DynamoDB",
				start: steps(begin, slowly, nil)},
			{Name: "create", Method: "POST", Path: "/api/v1/tasks", Clients: allClients, Transaction: one,
				start: having(0, nil, (*user).create)},
			{Name: "get", Method: "GET", Path: "/api/v1/tasks/{task_id}", Clients: allClients, start: hasTask},
			{Name: "patch", Method: "PATCH", Path: "/api/v1/tasks/{task_id}", Note: ", the status", Clients: allClients,
				Transaction: one, start: having(1, nil,
					with(func(u *user) given { return given{"status": u.status()} }))},
			{Name: "list", Method: "GET", Path: "/api/v1/tasks", Query: "limit=20", Note: ", 20 of 60",
				Clients: allClients, start: hasPages},
			{Name: "index", Method: "GET", Path: "/api/v1/tasks", Query: "limit=20&status=pending",
				Note: "?status=, 20 of 60", Clients: allClients, start: hasPages},
			{Name: "search", Method: "GET", Path: "/api/v1/tasks", Query: "limit=20&q=REPORT+7+", Note: "?q=, 1 of 60",
				Clients: allClients, start: hasPages},
			{Name: "stats", Method: "GET", Path: "/api/v1/tasks/stats", Clients: allClients, start: hasTask},
			{Name: "bulk", Method: "POST", Path: "/api/v1/tasks/bulk", Note: fmt.Sprintf(", status of %d", tasksInBulk),
				Clients: allClients, Transaction: Transaction{Items: tasksInBulk + 2, Indexed: tasksInBulk},
				start: having(tasksInBulk, nil, with((*user).bulk))},
			{Name: "delete", Method: "DELETE", Path: "/api/v1/tasks/{task_id}", Clients: allClients, Transaction: one,
				start: having(0, (*user).create, nil)},
			{Name: "replay", Method: "POST", Path: "/api/v1/tasks", Note: ", the same key", Clients: allClients,
				Refused: 1, start: having(0, (*user).needKey, nil)},
			{Name: "replace", Method: "PUT", Path: "/api/v1/tasks/{task_id}", Transaction: one,
				start: having(1, nil, with((*user).task))},
			{Name: "join", Method: "POST", Path: "/api/v1/users/me", start: steps(begin, (*user).leave, (*user).join)},
			{Name: "self", Method: "GET", Path: "/api/v1/users/me", start: joined},
			{Name: "rename", Method: "PUT", Path: "/api/v1/users/me", start: having(0, nil, with((*user).rename))},
			// User, address, counts, the task, the keys of its two requests, and the request's own.
			{Name: "erase", Method: "DELETE", Path: "/api/v1/users/me", Note: ", of 1 task",
				Transaction: Transaction{Items: 7, Indexed: 1}, start: having(0, (*user).needTask, nil)},
		},
		Change: func(l *Run) func(context.Context) (string, error) {
			u := begin(l)
			return func(ctx context.Context) (string, error) {
				if err := u.needUser(ctx, 0); err != nil {
					return "", err
				}
				if err := u.create(ctx); err != nil {
					return "", err
				}
				return fmt.Sprint(u.known["task_id"]), nil
			}
		},
		LakeTable: LakeTable{Entity: "task", IDs: func(object []byte) (ids []string, err error) {
			type row struct {
				ID string `parquet:"task_id,optional"`
			}
			rows, err := parquet.Read[row](bytes.NewReader(object), int64(len(object)))
			for _, r := range rows {
				ids = append(ids, r.ID)
			}
			return ids, err
		}},
	}
}

// user is one client, with a user and tasks of its own.
type user struct {
	caller
	tasks []any
	made  int // tasks, ever
	calls int // changes that alternate
}

// needUser signs the caller up, if they have not.
func (u *user) needUser(ctx context.Context, tasks int) error {
	if u.Header.Get("Authorization") != "" {
		return nil
	}
	return u.signUp(ctx, tasks)
}

func (u *user) signUp(ctx context.Context, tasks int) error {
	if err := u.leave(ctx); err != nil {
		return err
	}
	if err := u.join(ctx); err != nil {
		return err
	}
	for range tasks {
		if err := u.create(ctx); err != nil {
			return err
		}
	}
	return nil
}

// task is one with a value in every field, of about 0.5 KB in the table.
func (u *user) task() given {
	u.made++
	return given{
		"title":       fmt.Sprintf("Write report %d for the team", u.made),
		"description": "All of last month's figures, with one page on the next steps, and on who will take them.",
		"priority":    []string{"low", "medium", "high", "urgent"}[u.made%4],
		"category":    []string{"work", "home"}[u.made%2],
		"due_date":    time.Now().AddDate(0, 0, u.made%60).Format(time.DateOnly),
	}
}

func (u *user) create(ctx context.Context) error {
	err := u.call(ctx, "POST /api/v1/tasks", u.task(), nil)
	u.tasks = append(u.tasks, u.known["task_id"])
	return err
}

// status alternates, so that each change changes index and counts.
func (u *user) status() string {
	u.calls++
	return []string{"pending", "in_progress"}[u.calls%2]
}

func (u *user) bulk() given { return given{"task_ids": u.tasks, "status": u.status()} }

// needKey gives all further requests one key.
func (u *user) needKey(ctx context.Context) error {
	if !u.IdempotencyKeys {
		return nil
	}
	u.IdempotencyKeys = false
	u.Header.Set("Idempotency-Key", rand.Text())
	return u.request(ctx, nil)
}

// needTask signs up a new user after the last one was deleted.
func (u *user) needTask(ctx context.Context) error {
	if len(u.tasks) > 0 {
		u.tasks = nil
		return u.signUp(ctx, 1)
	}
	return u.create(ctx)
}

// leave makes the client someone who is no user yet.
func (u *user) leave(ctx context.Context) error {
	name := "bench-" + rand.Text()
	u.known["email"] = name + "@example.com"
	return u.as(ctx, name)
}

func (u *user) join(ctx context.Context) error { return u.call(ctx, "POST /api/v1/users/me", nil, nil) }

func (u *user) rename() given { return given{"name": "Ann " + u.status()} }
