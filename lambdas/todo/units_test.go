package todo_test

import (
	"context"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// TestWriteUnits writes as the handlers do, with an idempotency key, and compares the
// write units with those of docs/reference/costs/todo.md: as DynamoDB counts them, and with the indexes of a
// transaction doubled, as DynamoDB Local counts them.
func TestWriteUnits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.user(t, "ada")
	// In all four indexes, with some 0.6 KB.
	full := todo.TaskBody{Title: "Write the report", Description: todo.Text(strings.Repeat("x", 300)),
		Priority: todo.High, Category: "work", DueDate: "2026-03-01"}
	made := func(n int) (made []string) {
		for range n {
			made = append(made, w.task(t, "ada", full).ID)
		}
		return made
	}
	for _, test := range []struct {
		name         string
		units, local float64
		tasks        int
		do           func(ctx context.Context, ids []string) error
	}{
		{"create", 10, 14, 0, func(ctx context.Context, _ []string) error {
			return second(w.CreateTask(ctx, "ada", full))
		}},
		{"create in one index", 7, 8, 0, func(ctx context.Context, _ []string) error {
			return second(w.CreateTask(ctx, "ada", todo.TaskBody{Title: "bare"}))
		}},
		{"change of the status", 11, 16, 1, func(ctx context.Context, ids []string) error {
			return second(w.ChangeTask(ctx, "ada", ids[0], todo.TaskChangeBody{Status: new(todo.InProgress)}, 0))
		}},
		{"change of the title", 10, 14, 1, func(ctx context.Context, ids []string) error {
			return second(w.ChangeTask(ctx, "ada", ids[0], todo.TaskChangeBody{Title: new("new")}, 0))
		}},
		{"delete", 10, 14, 1, func(ctx context.Context, ids []string) error {
			return w.DeleteTask(ctx, "ada", ids[0], 0)
		}},
		{"bulk change of 10", 74, 124, 10, func(ctx context.Context, ids []string) error {
			return second(w.SetStatuses(ctx, "ada", ids, todo.InProgress))
		}},
		{"bulk deletion of 10", 64, 104, 10, func(ctx context.Context, _ []string) error {
			_, err := w.DeleteCompleted(ctx, "ada")
			return err
		}},
	} {
		ids := made(test.tasks)
		if test.name == "bulk deletion of 10" {
			must.Get(w.SetStatuses(t.Context(), "ada", ids, todo.Completed))(t)
		}
		ledger := w.Tables.Writes(t, func() {
			claim, _, err := w.IdempotencyKeys.Begin(t.Context(), "ada", test.name, []byte("request"),
				idempotency.Deferred)
			must.OK(t, err)
			must.OK(t, test.do(idempotency.WithClaim(t.Context(), claim, func(any) (idempotency.Response, error) {
				return idempotency.Response{Status: 201}, nil
			}), ids))
		})
		if got, local := ledger.Units(false), ledger.Units(true); got != test.units || local != test.local {
			t.Errorf("%s: got %v write units, and %v with doubled indexes; want %v and %v:\n%s", test.name, got, local,
				test.units, test.local, ledger)
		}
	}
}
