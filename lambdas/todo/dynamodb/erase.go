package dynamodb

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
)

// DeleteUser implements [todo.Store]. Everything is read at the same time, and the conditions of the
// write say that nothing has come or changed since: a new task changes the counts. Of idempotency keys
// only those are deleted that were there; one that another request of the user claims meanwhile ends
// with its time to live.
func (s *Store) DeleteUser(ctx context.Context, id string) (read todo.User, deleted, many bool, err error) {
	var count counts
	var tasks, keys dynamo.Page
	group, reading := errgroup.WithContext(ctx)
	group.Go(func() (err error) { read, err = s.User(reading, id); return err })
	group.Go(func() error {
		_, err := s.db.Get(reading, "GetTaskCounts", &count, countsKey(id)...)
		return err
	})
	for partition, page := range map[string]*dynamo.Page{taskPrefix: &tasks, idempotencyPrefix: &keys} {
		group.Go(func() (err error) {
			*page, err = s.db.Page(reading, "ListItemKeys", dynamo.Query{Values: []any{partition + id}, PageSize: dynamo.MaxWrites})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return todo.User{}, false, false, err
	}
	writes := []dynamo.Write{
		dynamo.Delete(table, []any{userPrefix + id, metadata}, unchanged(read)),
		dynamo.Delete(table, emailKey(read.Email), expression.ConditionBuilder{}),
		dynamo.Delete(table, countsKey(id), dynamo.Absent("deletion").And(
			dynamo.Equal("pending", count.Pending), dynamo.Equal("in_progress", count.InProgress), dynamo.Equal("completed", count.Completed), dynamo.Equal("cancelled", count.Cancelled))),
	}
	for _, item := range tasks.Items {
		writes = append(writes, dynamo.Delete(table, []any{item["PK"], item["SK"]}, dynamo.Equal("version", item["version"])))
	}
	own := ownKey(ctx)
	for _, item := range keys.Items {
		if textOf(item, "SK") != own {
			writes = append(writes, dynamo.Delete(table, []any{item["PK"], item["SK"]}, expression.ConditionBuilder{}))
		}
	}
	// The request's own key is written, too.
	all := count.Pending + count.InProgress + count.Completed + count.Cancelled
	if many = len(writes) >= dynamo.MaxWrites || tasks.Next != nil || keys.Next != nil; many || len(tasks.Items) != all {
		return read, false, many, nil
	}
	err = idempotency.Transact(ctx, s.db, "DeleteUser", todo.Erased{Complete: true}, writes...)
	if refused, ok := errors.AsType[*dynamo.TransactionError](err); ok {
		if _, changed := refused.Failed(0); changed {
			return todo.User{}, false, false, retry.ErrStale
		}
		return read, false, false, nil
	}
	return read, err == nil, false, err
}

// ownKey is the sort key of the idempotency key of the context's request; "" without one.
func ownKey(ctx context.Context) string {
	claim := idempotency.ClaimFrom(ctx)
	if claim == nil {
		return ""
	}
	own, _ := claim.Key()[1].(string)
	return own
}

// EraseItems implements [todo.EraserStore]. It leaves the idempotency keys of the
// request that began the deletion, and of the one that continues it, because repeats
// get their answers.
func (s *Store) EraseItems(ctx context.Context, deletion todo.Deletion) (complete bool, err error) {
	own := ownKey(ctx)
	return s.db.Erase(ctx, dynamo.Erasure{
		List: "ListItemKeys", Delete: "EraseItem",
		// The user cannot come back before the deletion is over. So what was listed before it goes on is not of a new user.
		GoesOn: func(ctx context.Context) error {
			var stored counts
			if _, err := s.db.Get(ctx, "GetTaskCounts", &stored, countsKey(deletion.User)...); err != nil {
				return err
			}
			if stored.Deletion != deletion.ID {
				return todo.ErrDeletionOver
			}
			return nil
		},
		// A new user may use a key again, but no task's id.
		If: func(item dynamo.Item) expression.ConditionBuilder {
			if end, ok := item["expiration_timestamp"]; ok {
				return dynamo.Equal("expiration_timestamp", end)
			}
			return expression.ConditionBuilder{}
		},
		Keep: func(item dynamo.Item) bool {
			return textOf(item, "deletion") == deletion.ID || textOf(item, "SK") == own
		},
	}, taskPrefix+deletion.User, idempotencyPrefix+deletion.User)
}

// FinishDeletion implements [todo.EraserStore].
func (s *Store) FinishDeletion(ctx context.Context, deletion todo.Deletion) error {
	key, goesOn := countsKey(deletion.User), dynamo.Equal("deletion", deletion.ID)
	if idempotency.ClaimFrom(ctx) == nil {
		_, err := dynamo.Held(s.db.Delete(ctx, "FinishUserDeletion", key, goesOn))
		return err
	}
	const pattern = "AnswerUserDeletion"
	erased := todo.Erased{Complete: true}
	finished, err := dynamo.Held(idempotency.Transact(ctx, s.db, pattern, erased, dynamo.Delete(table, key, goesOn)))
	if err == nil && !finished {
		// Another attempt was faster; only the answer remains to be kept.
		return idempotency.Transact(ctx, s.db, pattern, erased)
	}
	return err
}
