package todo

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/onesynthtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// Every route answers in its form, no matter how much DynamoDB throttles. A repeated request is
// carried out once. A deletion is finished in the background.
func TestThrottling(t *testing.T) {
	t.Parallel()
	on := ownRun(t, local.Options{})
	var deleted []caller
	send := func(c caller, method, path string, body any) func(context.Context) (onesynthtest.Reply, error) {
		key := onesynthtest.Key(onesynthtest.Unique("key"))
		return func(ctx context.Context) (onesynthtest.Reply, error) { return c.Send(ctx, method, path, key, body) }
	}
	// counted checks how many tasks a user has, and the counts against the tasks.
	counted := func(t testing.TB, c caller, tasks int) []task {
		t.Helper()
		all, stats := c.all(t, nil), c.stats(t)
		byStatus := map[string]int{}
		for _, one := range all {
			byStatus[one.Status]++
		}
		for status, n := range stats.ByStatus {
			if n != byStatus[status] {
				t.Errorf("got %d tasks %s, and %d counted", byStatus[status], status, n)
			}
		}
		if len(all) != tasks || stats.Total != tasks {
			t.Errorf("got %d tasks, and %d counted; want %d", len(all), stats.Total, tasks)
		}
		return all
	}
	reads := func(path string) func(*testing.T) platform.Request {
		return func(t *testing.T) platform.Request {
			c := newUser(t, on)
			made := c.create(t, input{"title": "Read me"})
			if path == "/api/v1/tasks/{task_id}" {
				return platform.Request{Send: send(c, http.MethodGet, made.path(), nil), Status: http.StatusOK}
			}
			return platform.Request{Send: send(c, http.MethodGet, path, nil), Status: http.StatusOK}
		}
	}
	// changes is a change of one task of a user, to version 2.
	changes := func(method string, body any) func(*testing.T) platform.Request {
		return func(t *testing.T) platform.Request {
			c := newUser(t, on)
			made := c.create(t, input{"title": "Change me"})
			return platform.Request{Send: send(c, method, made.path(), body), Status: http.StatusOK,
				Check: func(t testing.TB, _ onesynthtest.Reply) {
					if all := counted(t, c, 1); len(all) == 1 && (all[0].Version != 2 || all[0].Status != "completed") {
						t.Errorf("got %+v; want the second version, completed", all[0])
					}
				}}
		}
	}
	const many = 30
	suite.CheckThrottling(t, on.Target, "/api/v1/openapi.json", map[string]func(*testing.T) platform.Request{
		"POST /api/v1/users/me": func(t *testing.T) platform.Request {
			c := newCaller(t, on)
			return platform.Request{Send: send(c, http.MethodPost, "/api/v1/users/me", profile{c.Email, "Ann"}),
				Status: http.StatusCreated, Check: func(t testing.TB, _ onesynthtest.Reply) {
					counted(t, c, 0)
				}}
		},
		"GET /api/v1/users/me": reads("/api/v1/users/me"),
		"PUT /api/v1/users/me": func(t *testing.T) platform.Request {
			c := newUser(t, on)
			return platform.Request{Send: send(c, http.MethodPut, "/api/v1/users/me", profile{"new-" + c.Email, "Bea"}),
				Status: http.StatusOK, Check: func(t testing.TB, _ onesynthtest.Reply) {
					if got := read[user](t, c.Try(t, http.MethodGet, "/api/v1/users/me", nil),
						http.StatusOK); got.Name != "Bea" || got.Email != "new-"+c.Email {
						t.Errorf("got %+v", got)
					}
					// The old address is free again.
					other := newCaller(t, on)
					read[user](t, other.Try(t, http.MethodPost, "/api/v1/users/me", profile{c.Email, "Cy"}),
						http.StatusCreated)
				}}
		},
		"DELETE /api/v1/users/me": func(t *testing.T) platform.Request {
			c := newUser(t, on)
			on.seedTasks(t, c.ID, 4*many)
			deleted = append(deleted, c)
			return platform.Request{Send: send(c, http.MethodDelete, "/api/v1/users/me", nil),
				Status: http.StatusNoContent, Begun: http.StatusAccepted,
				Check: func(t testing.TB, _ onesynthtest.Reply) {
					refused(t, c.Try(t, http.MethodGet, "/api/v1/users/me", nil), http.StatusNotFound)
				}}
		},
		"POST /api/v1/tasks": func(t *testing.T) platform.Request {
			c := newUser(t, on)
			return platform.Request{Send: send(c, http.MethodPost, "/api/v1/tasks", input{"title": "Once"}),
				Status: http.StatusCreated, Check: func(t testing.TB, r onesynthtest.Reply) {
					if all := counted(t, c, 1); len(all) == 1 &&
						all[0].TaskID != onesynthtest.Field(r.Body, "task_id") {
						t.Errorf("got %+v; told was %v", all[0], r)
					}
				}}
		},
		"GET /api/v1/tasks":       reads("/api/v1/tasks"),
		"GET /api/v1/tasks/stats": reads("/api/v1/tasks/stats"),
		"POST /api/v1/tasks/bulk": func(t *testing.T) platform.Request {
			c := newUser(t, on)
			ids := on.seedTasks(t, c.ID, many)
			open := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Index(ids, id)%4 > 1 })
			return platform.Request{Send: send(c, http.MethodPost, "/api/v1/tasks/bulk",
				map[string]any{"action": "set_status", "task_ids": open, "status": "cancelled"}), Status: http.StatusOK,
				Check: func(t testing.TB, r onesynthtest.Reply) {
					for _, one := range counted(t, c, many) {
						if changed := slices.Contains(open, one.TaskID); changed &&
							(one.Status != "cancelled" || one.Version != 2) || !changed && one.Version != 1 {
							t.Errorf("got %+v; changed is %v", one, changed)
						}
					}
				}}
		},
		"GET /api/v1/tasks/{task_id}":   reads("/api/v1/tasks/{task_id}"),
		"PUT /api/v1/tasks/{task_id}":   changes(http.MethodPut, input{"title": "Changed", "status": "completed"}),
		"PATCH /api/v1/tasks/{task_id}": changes(http.MethodPatch, input{"status": "completed"}),
		"DELETE /api/v1/tasks/{task_id}": func(t *testing.T) platform.Request {
			c := newUser(t, on)
			made := c.create(t, input{"title": "Delete me"})
			return platform.Request{Send: send(c, http.MethodDelete, made.path(), nil), Status: http.StatusNoContent,
				Check: func(t testing.TB, _ onesynthtest.Reply) {
					counted(t, c, 0)
				}}
		},
		"GET /api/v1/openapi.json": reads("/api/v1/openapi.json"),
		"GET /health":              reads("/health"),
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
		onesynthtest.Settled(t, "the users are erased", func() bool {
			return !slices.ContainsFunc(deleted, func(c caller) bool { return len(on.left(t, c.ID)) > 0 })
		})
	})
}
