package todo

import (
	"context"
	"errors"
	"testing"

	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/client"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// caller is a caller with a token.
type caller struct{ platform.Caller }

// newCaller returns a caller with a token who is not a user yet.
func newCaller(t testing.TB, target *target) caller {
	t.Helper()
	c := caller{platform.NewCaller(t, target.Target)}
	c.IdempotencyKeys = true
	if target.Run == nil {
		t.Cleanup(func() {
			_, err := client.Call(context.Background(), c, todo.DeleteUser, schema.None{}, schema.None{})
			if err != nil && !errors.Is(err, todo.ErrUserNotFound) {
				t.Errorf("delete the user: %v", err)
			}
		})
	}
	return c
}

// newUser returns a caller with a token who is a user.
func newUser(t testing.TB, target *target) caller {
	t.Helper()
	c := newCaller(t, target)
	c.join(t)
	return c
}

func (c caller) ann() todo.UserBody { return todo.UserBody{Email: c.Email, Name: "Ann"} }

func (c caller) join(t testing.TB) client.Answer[todo.User] {
	t.Helper()
	return onesynthtest.Call(t, c, todo.CreateUser, schema.None{}, c.ann())
}

// leave deletes the user.
func (c caller) leave(t testing.TB) {
	t.Helper()
	onesynthtest.Call(t, c, todo.DeleteUser, schema.None{}, schema.None{})
}

// gone checks that the caller is no user.
func (c caller) gone(t testing.TB) {
	t.Helper()
	if _, err := client.Call(t.Context(), c, todo.ReadUser, schema.None{}, schema.None{}); !errors.Is(err,
		todo.ErrUserNotFound) {
		t.Errorf("got %v; want %v", err, todo.ErrUserNotFound)
	}
}

func (c caller) create(t testing.TB, body todo.TaskBody) todo.Task {
	t.Helper()
	return onesynthtest.Call(t, c, todo.CreateTask, schema.None{}, body).Value
}

func (c caller) task(t testing.TB, id string) todo.Task {
	t.Helper()
	return onesynthtest.Call(t, c, todo.ReadTask, todo.TaskParams{ID: id}, schema.None{}).Value
}

func (c caller) change(t testing.TB, id string, status todo.Status) todo.Task {
	t.Helper()
	return onesynthtest.Call(t, c, todo.ChangeTask, todo.TaskParams{ID: id}, todo.TaskChangeBody{Status: &status}).Value
}

func (c caller) drop(t testing.TB, id string) {
	t.Helper()
	onesynthtest.Call(t, c, todo.DeleteTask, todo.TaskParams{ID: id}, schema.None{})
}

// all reads a list page by page to its end.
func (c caller) all(t testing.TB, filter todo.TaskFilter) (all []todo.Task) {
	t.Helper()
	for filter.Limit = 100; ; {
		page := onesynthtest.Call(t, c, todo.ListTasks, filter, schema.None{}).Value
		all = append(all, page.Tasks...)
		if filter.Cursor = page.Next; filter.Cursor == "" {
			return all
		}
	}
}

func (c caller) stats(t testing.TB) todo.Stats {
	t.Helper()
	return onesynthtest.Call(t, c, todo.ReadStats, schema.None{}, schema.None{}).Value
}
