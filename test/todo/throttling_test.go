package todo

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/test/platform"
	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

// Every route answers in its form, no matter how much DynamoDB throttles. A repeated request is
// carried out once. A deletion is finished in the background.
func TestThrottling(t *testing.T) {
	t.Parallel()
	on := ownRun(t, run.Options{})
	const many = 30
	var deleted []caller
	suite.CheckThrottling(t, on.Target, map[string]platform.Outcome{
		"POST /api/v1/users/me": {Check: func(t testing.TB, r routes.Request, _ onesynthtest.Reply) {
			on.counted(t, r, 0)
		}},
		"PUT /api/v1/users/me": {Prepare: func(t testing.TB) routes.Request {
			c := newUser(t, on)
			return c.request(http.MethodPut, "/api/v1/users/me",
				map[string]any{"email": "new-" + c.Email, "name": "Bea"})
		}, Check: func(t testing.TB, r routes.Request, _ onesynthtest.Reply) {
			email := r.Body["email"].(string)
			if got := onesynthtest.Call(t, on.by(t, r), todo.ReadUser, schema.None{},
				schema.None{}).Value; got.Name != "Bea" || got.Email != email {
				t.Errorf("got %+v", got)
			}
			// The old address is free again.
			other := newCaller(t, on)
			other.Email = strings.TrimPrefix(email, "new-")
			other.join(t)
		}},
		"DELETE /api/v1/users/me": {Prepare: func(t testing.TB) routes.Request {
			c := newUser(t, on)
			on.seedTasks(t, c.ID, 4*many)
			deleted = append(deleted, c)
			return c.request(http.MethodDelete, "/api/v1/users/me", nil)
		}, Check: func(t testing.TB, r routes.Request, _ onesynthtest.Reply) {
			on.by(t, r).gone(t)
		}},
		"POST /api/v1/tasks": {Check: func(t testing.TB, r routes.Request, told onesynthtest.Reply) {
			if all := on.counted(t, r, 1); len(all) == 1 && all[0].ID != onesynthtest.Field(told.Body, "task_id") {
				t.Errorf("got %+v; told was %v", all[0], told)
			}
		}},
		"POST /api/v1/tasks/bulk": {Prepare: func(t testing.TB) routes.Request {
			c := newUser(t, on)
			ids := on.seedTasks(t, c.ID, many)
			open := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Index(ids, id)%4 > 1 })
			return c.request(http.MethodPost, "/api/v1/tasks/bulk",
				map[string]any{"action": "set_status", "task_ids": open, "status": "cancelled"})
		}, Check: func(t testing.TB, r routes.Request, _ onesynthtest.Reply) {
			for _, one := range on.counted(t, r, many) {
				if changed := slices.Contains(r.Body["task_ids"].([]string), one.ID); changed &&
					(one.Status != "cancelled" || one.Version != 2) || !changed && one.Version != 1 {
					t.Errorf("got %+v; changed is %v", one, changed)
				}
			}
		}},
		"PUT /api/v1/tasks/{task_id}":   {Check: on.changed},
		"PATCH /api/v1/tasks/{task_id}": {Check: on.changed},
		"DELETE /api/v1/tasks/{task_id}": {Check: func(t testing.TB, r routes.Request, _ onesynthtest.Reply) {
			on.counted(t, r, 0)
		}},
	}, func(t *testing.T, share float64) {
		// A deletion that cannot be finished goes back to the stream.
		event := fmt.Sprintf(
			`{"Records":[{"eventID":"e","dynamodb":{"SequenceNumber":"7","Keys":{"PK":{"S":"COUNTS#%s"}},"NewImage":{"deletion":{"S":"%s"}}}}]}`,
			deleted[len(deleted)-1].ID, "01980000-0000-7000-8000-000000000000")
		result, err := on.Run.Invoke(t.Context(), on.Function(t, "Eraser"), []byte(event))
		if err != nil || result.FunctionError != "" ||
			share == 1 && string(result.Payload) != `{"batchItemFailures":[{"itemIdentifier":"7"}]}` {
			t.Errorf("the eraser: got %s %s, %v; want the record given back", result.FunctionError, result.Payload, err)
		}
	}, func(t *testing.T) {
		if err := on.Run.FlushStreams(t.Context()); err != nil {
			t.Fatal(err)
		}
		wait.For(t, "the items that are left of erased users", 0, func() (left int) {
			for _, c := range deleted {
				left += len(on.left(t, c.ID))
			}
			return left
		}, wait.On(on))
	})
}

// request is a request of the caller with an idempotency key.
func (c caller) request(method, path string, body map[string]any) routes.Request {
	header := onesynthtest.Key(onesynthtest.Unique("key"))
	header.Set("Authorization", c.Header.Get("Authorization"))
	var sent any
	if body != nil {
		sent = body
	}
	return routes.Request{Header: header, Body: body, Send: func(ctx context.Context) (onesynthtest.Reply, error) {
		return c.Send(ctx, method, path, header, sent)
	}}
}

// by is the caller who makes a request.
func (p *target) by(t testing.TB, r routes.Request) caller {
	t.Helper()
	c := caller{platform.Caller{Client: platform.NewClient(t, p.Target)}}
	c.Header = http.Header{"Authorization": r.Header["Authorization"]}
	return c
}

// counted checks how many tasks the user of a request has, and the counts against the tasks.
func (p *target) counted(t testing.TB, r routes.Request, tasks int) []todo.Task {
	t.Helper()
	c := p.by(t, r)
	all, stats := c.all(t, todo.TaskFilter{}), c.stats(t)
	found := map[todo.Status]int{}
	for _, one := range all {
		found[one.Status]++
	}
	if counted := stats.ByStatus; counted != (todo.StatusCounts{Pending: found[todo.Pending],
		InProgress: found[todo.InProgress], Completed: found[todo.Completed], Cancelled: found[todo.Cancelled]}) {
		t.Errorf("got the tasks %v, and %+v counted", found, counted)
	}
	if len(all) != tasks || stats.Total != tasks {
		t.Errorf("got %d tasks, and %d counted; want %d", len(all), stats.Total, tasks)
	}
	return all
}

// changed checks that a request has changed the one task of a user, once.
func (p *target) changed(t testing.TB, r routes.Request, _ onesynthtest.Reply) {
	t.Helper()
	for _, one := range p.counted(t, r, 1) {
		if status, given := r.Body["status"]; one.Version != 2 || given && one.Status != status {
			t.Errorf("got %+v; want the second version, with %v", one, r.Body)
		}
	}
}
