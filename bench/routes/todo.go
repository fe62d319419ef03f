package routes

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
func (described) Todo() Measured {
	begin := func(l *Run) *user {
		return &user{caller: caller{run: l, http: &http.Client{Transport: &http.Transport{}}}}
	}
	// with returns clients that begin with that many tasks.
	with := func(tasks int, prepare, request func(*user, context.Context) error) NewClient {
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
	one := Transaction{Items: 3, Indexed: 1}
	return Measured{
		Routes: []Route{
			{Name: "warm    GET /health, without DynamoDB", Clients: []int{1}, Client: client(begin, slowly, (*user).health)},
			{Name: "create  POST /tasks", Clients: allClients, Patterns: []string{claim, "CreateTask"}, Transaction: one, Client: with(0, nil, (*user).create)},
			{Name: "get     GET /tasks/{id}", Clients: allClients, Patterns: []string{"GetTask"}, Client: with(1, nil, (*user).get)},
			{Name: "patch   PATCH /tasks/{id}, the status", Clients: allClients, Patterns: []string{claim, "GetTask", "UpdateTask"}, Transaction: one, Client: with(1, nil, (*user).patch)},
			{Name: "list    GET /tasks, 20 of 60", Clients: allClients, Patterns: []string{"ListTasks"}, Client: with(tasksAtFirst, nil, list(""))},
			{Name: "index   GET /tasks?status=, 20 of 60", Clients: allClients, Patterns: []string{"ListTasksWithStatus"}, Client: with(tasksAtFirst, nil, list("&status=pending"))},
			{Name: "search  GET /tasks?q=, 1 of 60", Clients: allClients, Patterns: []string{"SearchTasks"}, Client: with(tasksAtFirst, nil, list("&q=REPORT+7+"))},
			{Name: "stats   GET /tasks/stats", Clients: allClients, Patterns: []string{"GetTaskCounts"}, Client: with(1, nil, (*user).stats)},
			{Name: fmt.Sprintf("bulk    POST /tasks/bulk, status of %d", tasksInBulk), Clients: allClients, Patterns: []string{claim, "GetTask", "SetTaskStatuses"},
				Transaction: Transaction{Items: tasksInBulk + 2, Indexed: tasksInBulk}, Client: with(tasksInBulk, nil, (*user).bulk)},
			{Name: "delete  DELETE /tasks/{id}", Clients: allClients, Patterns: []string{claim, "GetTask", "DeleteTask"}, Transaction: one, Client: with(0, (*user).create, (*user).delete)},
			{Name: "replay  POST /tasks, the same key", Clients: allClients, Patterns: []string{claim}, Refused: 1, Client: with(0, (*user).needKey, (*user).replay)},
			{Name: "replace PUT /tasks/{id}", Clients: single, Patterns: []string{claim, "GetTask", "UpdateTask"}, Transaction: one, Client: with(1, nil, (*user).replace)},
			{Name: "join    POST /users/me", Clients: single, Client: client(begin, (*user).leave, (*user).join)},
			{Name: "self    GET /users/me", Clients: single, Client: with(0, nil, (*user).self)},
			{Name: "rename  PUT /users/me", Clients: single, Client: with(0, nil, (*user).rename)},
			// User, address, counts, the task, the keys of its two requests, and the request's own.
			{Name: "erase   DELETE /users/me, of 1 task", Clients: []int{1}, Transaction: Transaction{Items: 7, Indexed: 1}, Client: with(0, (*user).needTask, (*user).erase)},
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
				return u.tasks[len(u.tasks)-1], nil
			}
		},
		LakeTable: LakeTable{Entity: "task", Column: "task_id"},
	}
}

// user is one client, with a user and tasks of its own.
type user struct {
	caller
	token string
	email string
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

// leave makes the client someone who is no user yet.
func (u *user) leave(ctx context.Context) (err error) {
	name := "bench-" + rand.Text()
	u.email = name + "@example.com"
	u.token, err = u.run.Token(ctx, name)
	return err
}

func (u *user) join(ctx context.Context) error {
	return u.call(ctx, http.MethodPost, "/users/me", http.StatusCreated, map[string]string{"email": u.email, "name": "Ann"}, nil)
}

func (u *user) self(ctx context.Context) error {
	return u.call(ctx, http.MethodGet, "/users/me", http.StatusOK, nil, nil)
}

func (u *user) rename(ctx context.Context) error {
	return u.call(ctx, http.MethodPut, "/users/me", http.StatusOK, map[string]string{"email": u.email, "name": "Ann " + u.status()}, nil)
}

func (u *user) replace(ctx context.Context) error {
	return u.call(ctx, http.MethodPut, u.last(), http.StatusOK, u.task(), nil)
}
