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

// newCaller returns a caller with a token who is not a user yet.
func newCaller(t testing.TB, target *platform.Target) platform.Caller {
	t.Helper()
	c := platform.NewCaller(t, target)
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
func newUser(t testing.TB, target *platform.Target) platform.Caller {
	t.Helper()
	c := newCaller(t, target)
	join(t, c)
	return c
}

// join makes the caller a user.
func join(t testing.TB, c platform.Caller) client.Answer[todo.User] {
	t.Helper()
	return onesynthtest.Call(t, c, todo.CreateUser, schema.None{}, todo.UserBody{Email: c.Email, Name: "Ann"})
}

// gone checks that the caller is no user.
func gone(t testing.TB, c platform.Caller) {
	t.Helper()
	if _, err := client.Call(t.Context(), c, todo.ReadUser, schema.None{}, schema.None{}); !errors.Is(err,
		todo.ErrUserNotFound) {
		t.Errorf("got %v; want %v", err, todo.ErrUserNotFound)
	}
}
