package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// TestEveryAccessPattern makes each pattern's request as the handlers do, through the service and
// under a claim on an idempotency key, compares it with its declaration, and prints what it
// consumed.
func TestEveryAccessPattern(t *testing.T) {
	t.Parallel()
	platform := schema.Todo()
	w := newWorld(t)
	w.user(t, "ada")
	full := todo.TaskInput{
		Title: "Write the report", Description: todo.Text(strings.Repeat("x", 300)), Status: todo.Pending, Priority: todo.High, Category: "work", DueDate: "2026-03-01",
	}
	// Twenty tasks of some 0.6 KB fill a page.
	for i := range 20 {
		in := full
		in.Status = []todo.Status{todo.Pending, todo.Completed}[i%2]
		w.task(t, "ada", in)
	}
	attempts := 0
	claimed := func() context.Context {
		attempts++
		ctx, _ := w.claimed(t, t.Context(), "ada", fmt.Sprint("key ", attempts))
		return ctx
	}
	list := func(f todo.TaskFilter) func() func() error {
		return func() func() error {
			return func() error {
				page, err := w.ListTasks(t.Context(), "ada", f)
				if err == nil && len(page.Tasks) == 0 {
					return fmt.Errorf("%+v lists nothing", f)
				}
				return err
			}
		}
	}
	// begun is a user with a task and a used key whose deletion has begun.
	begun := func(name string) func() (todo.Deletion, context.Context) {
		return func() (todo.Deletion, context.Context) {
			w.user(t, name)
			w.task(t, name, full)
			claimed, _ := w.claimed(t, hurried{t.Context()}, name, "delete")
			complete, err := w.DeleteUser(claimed, name)
			if err != nil || complete {
				t.Fatalf("begin a deletion: %v, %v", complete, err)
			}
			deletion, ok := w.deletion(t, name)
			if !ok {
				t.Fatal("no deletion has begun")
			}
			return deletion, claimed
		}
	}
	eraser := &w.eraser

	cases := dynamotest.Cases{
		"GetUser":       func() func() error { return func() error { return second(w.GetUser(t.Context(), "ada")) } },
		"GetTaskCounts": func() func() error { return func() error { return second(w.Stats(t.Context(), "ada")) } },
		"GetTask": func() func() error {
			id := w.task(t, "ada", full).ID
			return func() error { return second(w.GetTask(t.Context(), "ada", id)) }
		},
		"ListTasks":             list(todo.TaskFilter{}),
		"SearchTasks":           list(todo.TaskFilter{Search: "REPORT"}),
		"ListTasksByStatus":     list(todo.TaskFilter{Sort: todo.ByStatus}),
		"ListTasksWithStatus":   list(todo.TaskFilter{Status: todo.Pending}),
		"ListCompletedTasks":    list(todo.TaskFilter{Status: todo.Completed}),
		"ListTasksByDueDate":    list(todo.TaskFilter{Sort: todo.ByDueDate}),
		"ListTasksDueOn":        list(todo.TaskFilter{DueFrom: "2026-03-01", DueTo: "2026-03-01"}),
		"ListTasksDueBetween":   list(todo.TaskFilter{DueFrom: "2026-02-01", DueTo: "2026-03-01"}),
		"ListOverdueTasks":      list(todo.TaskFilter{Overdue: todo.Yes}),
		"ListTasksByPriority":   list(todo.TaskFilter{Sort: todo.ByPriority}),
		"ListTasksWithPriority": list(todo.TaskFilter{Priority: todo.High}),
		"ListTasksByCategory":   list(todo.TaskFilter{Sort: todo.ByCategory}),
		"ListTasksWithCategory": list(todo.TaskFilter{Category: "work"}),
		"CreateUser": func() func() error {
			ctx := claimed()
			return func() error {
				return second(w.CreateUser(ctx, "bob", todo.UserInput{Email: "bob@example.com", Name: "Bob"}))
			}
		},
		"UpdateUser": func() func() error {
			ctx := claimed()
			return func() error {
				return second(w.UpdateUser(ctx, "ada", todo.UserInput{Email: "new@example.com", Name: "Ada"}))
			}
		},
		"CreateTask": func() func() error {
			ctx := claimed()
			return func() error { return second(w.CreateTask(ctx, "ada", full)) }
		},
		"UpdateTask": func() func() error {
			ctx, id := claimed(), w.task(t, "ada", full).ID
			return func() error {
				return second(w.ChangeTask(ctx, "ada", id, todo.TaskChange{Status: new(todo.InProgress)}, 0))
			}
		},
		"DeleteTask": func() func() error {
			ctx, id := claimed(), w.task(t, "ada", full).ID
			return func() error { return w.DeleteTask(ctx, "ada", id, 0) }
		},
		"SetTaskStatuses": func() func() error {
			ctx := claimed()
			all := ids([]todo.Task{w.task(t, "ada", full), w.task(t, "ada", full), w.task(t, "ada", full), w.task(t, "ada", full)})
			return func() error { return second(w.SetStatuses(ctx, "ada", all, todo.InProgress)) }
		},
		"DeleteCompletedTasks": func() func() error {
			ctx := claimed()
			return func() error {
				deleted, _, err := w.DeleteCompleted(ctx, "ada")
				t.Logf("DeleteCompletedTasks deletes %d", deleted)
				return err
			}
		},
		"DeleteUser": func() func() error {
			w.user(t, "ivy")
			w.task(t, "ivy", full)
			ctx, _ := w.claimed(t, t.Context(), "ivy", "delete")
			return func() error { return second(w.DeleteUser(ctx, "ivy")) }
		},
		"BeginUserDeletion": func() func() error {
			w.user(t, "carol")
			ctx, _ := w.claimed(t, t.Context(), "carol", "delete")
			return func() error { return second(w.DeleteUser(hurried{ctx}, "carol")) }
		},
		"GetUserDeletion": func() func() error {
			_, ctx := begun("dora")()
			return func() error { return second(w.DeleteUser(ctx, "dora")) }
		},
		"ListItemKeys": func() func() error {
			deletion, _ := begun("eve")()
			return func() error { return second(eraser.Erase(t.Context(), deletion)) }
		},
		"EraseItem": func() func() error {
			deletion, _ := begun("fay")()
			return func() error { return second(eraser.Erase(t.Context(), deletion)) }
		},
		"FinishUserDeletion": func() func() error {
			deletion, _ := begun("gil")()
			return func() error { return second(eraser.Erase(t.Context(), deletion)) }
		},
		"AnswerUserDeletion": func() func() error {
			_, ctx := begun("hal")()
			ctx = unhurried{ctx}
			w.advance(15 * time.Minute)
			return func() error {
				complete, err := w.DeleteUser(ctx, "hal")
				if err == nil && !complete {
					err = errors.New("the deletion is not complete")
				}
				return err
			}
		},
		schema.ClaimIdempotencyKey: func() func() error {
			return func() error { claimed(); return nil }
		},
		schema.SettleIdempotencyKey: func() func() error {
			_, claim := w.claimed(t, t.Context(), "ada", "settled")
			return func() error {
				return w.keys.Settle(t.Context(), claim, idempotency.Response{Status: 404, Body: []byte(`{"detail":"there is no such task"}`)})
			}
		},
	}

	// Tasks of some 0.6 KB are in all four indexes, on pages of 20, and answers under
	// an idempotency key. DynamoDB Local counts the table's part of a transaction once,
	// where AWS charges 2 WCU for each item of up to 1 KB.
	w.tables.Measure(t, platform.Database.AccessPatterns, cases, func(pattern string, made []dynamotest.Request) []dynamotest.Request {
		// Of a deletion that is gone on with the second read is the mark on the key; of
		// the transactions the first begins or erases, the last finishes.
		switch pattern {
		case "GetUserDeletion":
			return made[1:2]
		case "BeginUserDeletion", "EraseItem":
			return made[:1]
		case "FinishUserDeletion", "AnswerUserDeletion":
			return made[len(made)-1:]
		default:
			return made
		}
	})
	w.advance(time.Minute)
	w.check(t)
}

// unhurried is the context of an attempt that has time again.
type unhurried struct{ context.Context }

func (unhurried) Deadline() (time.Time, bool) { return time.Time{}, false }
