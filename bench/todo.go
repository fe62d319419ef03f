package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"time"

	"github.com/onesynth-cdk/onesynth/schema"
)

const (
	// tasksAtFirst is the number of tasks that a user begins with: three pages.
	tasksAtFirst = 60
	// tasksInBulk is the number of tasks in a bulk request.
	tasksInBulk = 10
)

// Todo says what to measure of To-Do.
func (described) Todo() platform {
	begin := func(l *local) *user {
		return &user{caller: caller{base: l.api, http: &http.Client{Transport: &http.Transport{}}}, local: l}
	}
	// with returns clients that begin with that many tasks.
	with := func(tasks int, prepare, request func(*user, context.Context) error) newClient {
		return client(begin, func(u *user, ctx context.Context) error {
			if err := u.needUser(ctx, tasks); err != nil || prepare == nil {
				return err
			}
			return prepare(u, ctx)
		}, request)
	}
	list := func(query string) func(*user, context.Context) error {
		return func(u *user, ctx context.Context) error {
			return u.call(ctx, http.MethodGet, "/tasks?limit=20"+query, http.StatusOK, nil, nil)
		}
	}
	claim := schema.ClaimIdempotencyKey
	// The task, the counts and the idempotency key.
	one := transaction{items: 3, indexed: 1}
	return platform{
		routes: []route{
			{name: "warm    GET /health, without DynamoDB", clients: []int{1}, client: client(begin, slowly, (*user).health)},
			{name: "create  POST /tasks", clients: allClients, patterns: []string{claim, "CreateTask"}, transaction: one, client: with(0, nil, (*user).create)},
			{name: "get     GET /tasks/{id}", clients: allClients, patterns: []string{"GetTask"}, client: with(1, nil, (*user).get)},
			{name: "patch   PATCH /tasks/{id}, the status", clients: allClients, patterns: []string{claim, "GetTask", "UpdateTask"}, transaction: one, client: with(1, nil, (*user).patch)},
			{name: "list    GET /tasks, 20 of 60", clients: allClients, patterns: []string{"ListTasks"}, client: with(tasksAtFirst, nil, list(""))},
			{name: "index   GET /tasks?status=, 20 of 60", clients: allClients, patterns: []string{"ListTasksWithStatus"}, client: with(tasksAtFirst, nil, list("&status=pending"))},
			{name: "search  GET /tasks?q=, 1 of 60", clients: allClients, patterns: []string{"SearchTasks"}, client: with(tasksAtFirst, nil, list("&q=REPORT+7+"))},
			{name: "stats   GET /tasks/stats", clients: allClients, patterns: []string{"GetTaskCounts"}, client: with(1, nil, (*user).stats)},
			{name: fmt.Sprintf("bulk    POST /tasks/bulk, status of %d", tasksInBulk), clients: allClients, patterns: []string{claim, "GetTask", "SetTaskStatuses"},
				transaction: transaction{items: tasksInBulk + 2, indexed: tasksInBulk}, client: with(tasksInBulk, nil, (*user).bulk)},
			{name: "delete  DELETE /tasks/{id}", clients: allClients, patterns: []string{claim, "GetTask", "DeleteTask"}, transaction: one, client: with(0, (*user).create, (*user).delete)},
			{name: "replay  POST /tasks, the same key", clients: allClients, patterns: []string{claim}, refused: 1, client: with(0, (*user).needKey, (*user).replay)},
			// To begin: user, address, counts and key. To erase: the check of the counts, the
			// task, the keys of its two requests. To finish: counts and key.
			{name: "erase   DELETE /users/me, of 1 task", clients: []int{1}, transaction: transaction{items: 4 + 4 + 2, indexed: 1}, client: with(0, (*user).needTask, (*user).erase)},
		},
		change: func(l *local) func(context.Context) (string, error) {
			u := begin(l)
			return func(ctx context.Context) (string, error) {
				if err := u.needUser(ctx, 0); err != nil {
					return "", err
				}
				if err := u.create(ctx); err != nil {
					return "", err
				}
				return u.tasks[len(u.tasks)-1], nil
			}
		},
		lakeTable: lakeTable{entity: "task", column: "task_id"},
	}
}

// user is one client, with a user and tasks of its own.
type user struct {
	caller
	local *local
	token string
	tasks []string
	made  int    // tasks, ever
	calls int    // changes that alternate
	key   string // to use again
}

// call makes a request; a change has a new idempotency key.
func (u *user) call(ctx context.Context, method, path string, want int, body, out any) error {
	header := http.Header{"Authorization": {"Bearer " + u.token}}
	if method != http.MethodGet {
		header.Set("Idempotency-Key", rand.Text())
	}
	return u.caller.call(ctx, method, "/api/v1"+path, header, want, body, out)
}

// needUser signs the caller up, if they have not.
func (u *user) needUser(ctx context.Context, tasks int) error {
	if u.token != "" {
		return nil
	}
	return u.signUp(ctx, tasks)
}

func (u *user) signUp(ctx context.Context, tasks int) error {
	name := "bench-" + rand.Text()
	token, err := u.local.token(ctx, name)
	if err != nil {
		return err
	}
	u.token = token
	if err := u.call(ctx, http.MethodPost, "/users/me", http.StatusCreated, map[string]string{"email": name + "@example.com", "name": name}, nil); err != nil {
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
func (u *user) task() map[string]string {
	u.made++
	return map[string]string{
		"title": fmt.Sprintf("Write report %d for the team", u.made), "description": "All of last month's figures, with one page on the next steps, and on who will take them.",
		"priority": []string{"low", "medium", "high", "urgent"}[u.made%4], "category": []string{"work", "home"}[u.made%2], "due_date": time.Now().AddDate(0, 0, u.made%60).Format(time.DateOnly),
	}
}

func (u *user) create(ctx context.Context) error {
	var created struct {
		ID string `json:"task_id"`
	}
	err := u.call(ctx, http.MethodPost, "/tasks", http.StatusCreated, u.task(), &created)
	u.tasks = append(u.tasks, created.ID)
	return err
}

func (u *user) last() string { return "/tasks/" + u.tasks[len(u.tasks)-1] }

func (u *user) get(ctx context.Context) error {
	return u.call(ctx, http.MethodGet, u.last(), http.StatusOK, nil, nil)
}

// status alternates, so that each change changes index and counts.
func (u *user) status() string {
	u.calls++
	return []string{"pending", "in_progress"}[u.calls%2]
}

func (u *user) patch(ctx context.Context) error {
	return u.call(ctx, http.MethodPatch, u.last(), http.StatusOK, map[string]string{"status": u.status()}, nil)
}

func (u *user) stats(ctx context.Context) error {
	return u.call(ctx, http.MethodGet, "/tasks/stats", http.StatusOK, nil, nil)
}

func (u *user) bulk(ctx context.Context) error {
	return u.call(ctx, http.MethodPost, "/tasks/bulk", http.StatusOK, map[string]any{"action": "set_status", "task_ids": u.tasks, "status": u.status()}, nil)
}

func (u *user) delete(ctx context.Context) error {
	last := u.last()
	u.tasks = u.tasks[:len(u.tasks)-1]
	return u.call(ctx, http.MethodDelete, last, http.StatusNoContent, nil, nil)
}

func (u *user) needKey(ctx context.Context) error {
	if u.key != "" {
		return nil
	}
	u.key = rand.Text()
	return u.replay(ctx)
}

func (u *user) replay(ctx context.Context) error {
	return u.caller.call(ctx, http.MethodPost, "/api/v1/tasks", http.Header{"Authorization": {"Bearer " + u.token}, "Idempotency-Key": {u.key}}, http.StatusCreated, map[string]string{"title": "Write it once"}, nil)
}

// needTask signs up a new user after the last one was deleted.
func (u *user) needTask(ctx context.Context) error {
	if len(u.tasks) > 0 {
		u.tasks = nil
		return u.signUp(ctx, 1)
	}
	return u.create(ctx)
}

func (u *user) erase(ctx context.Context) error {
	return u.call(ctx, http.MethodDelete, "/users/me", http.StatusNoContent, nil, nil)
}

func (u *user) health(ctx context.Context) error {
	return u.caller.call(ctx, http.MethodGet, "/health", nil, http.StatusOK, nil, nil)
}
