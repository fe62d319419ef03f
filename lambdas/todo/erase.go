package todo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ownership"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Deletion is a deletion of a user in progress.
type Deletion struct {
	// User is the user's id.
	User string
	// ID distinguishes the deletions of a user who came back, and says when each began: a UUID
	// (version 7). Empty: the deletion is complete.
	ID string
}

// DeleteUser deletes a user and all their items, in one write if they fit into it, or in a few that other requests have
// met. Otherwise one write ends the user, and the background ([Service.Erase]) deletes the items: then complete is
// false, as for a repeat of the request meanwhile.
//
// It returns [todo.ErrUserNotFound], or [todo.ErrUserBeingDeleted] when another request began the deletion less than 15
// minutes ago. It carries out an older one, which the background has given up.
func (s *Service) DeleteUser(ctx context.Context, id string) (complete bool, err error) {
	var deletion Deletion
	going := false
	err = retry.Do(ctx, func() error {
		var read todo.User
		var deleted, many bool
		var err error
		if kit.Ends(ctx, stopTime) {
			many = true
			read, err = s.GetUser(ctx, id)
		} else {
			read, deleted, many, err = s.deleteAtOnce(ctx, id)
		}
		if errors.Is(err, todo.ErrUserNotFound) {
			deletion, going, err = s.resumeDeletion(ctx, id)
			return err
		}
		if err != nil || deleted {
			return err
		}
		begun := Deletion{User: id, ID: wire.NewID(s.Clock.Now())}
		if err := s.beginDeletion(ctx, read, begun); err != nil {
			return err
		}
		deletion, going = begun, many
		return nil
	})
	if err != nil || going {
		return false, err
	}
	return s.Erase(ctx, deletion)
}

// deleteAtOnce deletes a user and everything of theirs in one write, if it is few enough for that, and no other write
// meets it. Otherwise deleted is false, and the user is as it was read; many says that there is more of theirs than one
// write deletes. It returns [todo.ErrUserNotFound], or [retry.ErrStale] when the user has changed.
//
// Everything is read at the same time, and the conditions of the write say that nothing has come or changed since: a
// new task changes the counts. Of idempotency keys only those are deleted that were there; one that another request of
// the user claims meanwhile ends with its time to live.
func (s *Service) deleteAtOnce(ctx context.Context, id string) (read todo.User, deleted, many bool, err error) {
	var count counts
	var tasks, keys dynamo.Page
	group, reading := errgroup.WithContext(ctx)
	group.Go(func() (err error) { read, err = s.GetUser(reading, id); return err })
	group.Go(func() (err error) { count, err = s.counts(reading, id); return err })
	for partition, page := range map[string]*dynamo.Page{taskPrefix: &tasks, idempotencyPrefix: &keys} {
		group.Go(func() (err error) {
			query := dynamo.Query{Values: []any{partition + id}, PageSize: dynamo.MaxWrites}
			*page, err = s.DB.Page(reading, "ListItemKeys", query)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return todo.User{}, false, false, err
	}
	writes := []dynamo.Write{
		dynamo.Delete(table, todo.UserKey(id), unchanged(read)),
		deleteEmail(read),
		dynamo.Delete(table, countsKey(id), dynamo.Absent("deletion").And(
			dynamo.Equal("pending", count.Pending), dynamo.Equal("in_progress", count.InProgress),
			dynamo.Equal("completed", count.Completed), dynamo.Equal("cancelled", count.Cancelled))),
	}
	for _, item := range tasks.Items {
		same := dynamo.Equal("version", item["version"])
		writes = append(writes, dynamo.Delete(table, []any{item["PK"], item["SK"]}, same))
	}
	own := ownKey(ctx)
	for _, item := range keys.Items {
		if dynamo.Text(item, "SK") != own {
			writes = append(writes, dynamo.Delete(table, []any{item["PK"], item["SK"]}, expression.ConditionBuilder{}))
		}
	}
	// The request's own key is written, too.
	many = len(writes) >= dynamo.MaxWrites || tasks.Next != nil || keys.Next != nil
	if many || len(tasks.Items) != count.Total() {
		return read, false, many, nil
	}
	err = idempotency.Transact(ctx, s.DB, "DeleteUser", todo.Erased{Complete: true}, writes...)
	if refused, ok := errors.AsType[*dynamo.TransactionError](err); ok {
		if _, changed := refused.Failed(0); changed {
			return todo.User{}, false, false, retry.ErrStale
		}
		return read, false, false, nil
	}
	return read, err == nil, false, err
}

// beginDeletion deletes a user's own item, if it still is as it was read; from then on no item of the user can be
// added. It returns [retry.ErrStale].
func (s *Service) beginDeletion(ctx context.Context, read todo.User, deletion Deletion) error {
	mark := expression.Set(dynamo.Name("deletion"), expression.Value(deletion.ID))
	writes := []dynamo.Write{
		dynamo.Delete(table, todo.UserKey(read.ID), unchanged(read)),
		deleteEmail(read),
		dynamo.Update(table, countsKey(read.ID), mark, dynamo.Absent("deletion")),
	}
	if claim := idempotency.ClaimFrom(ctx); claim != nil {
		held := expression.AttributeExists(dynamo.Name("request_digest"))
		writes = append(writes, dynamo.Update(table, claim.Key(), mark, held))
	}
	// The answer is not kept yet, because the work is not done.
	err := s.DB.Transact(ctx, "BeginUserDeletion", writes...)
	return dynamo.UnlessStale(err, dynamo.OnFailed(0, retry.ErrStale), dynamo.OnFailed(3, idempotency.ErrClaimLost))
}

// abandonedAfter is the age from which on no request carries out a deletion any more: no invocation
// of a Lambda function is longer.
const abandonedAfter = 15 * time.Minute

// resumeDeletion finds the deletion of a user who is deleted already. It leaves it to the eraser, until the deletion is
// abandoned: then going is false, and the request has to carry it out. Otherwise it would never be finished, and the
// user could not come back. Without an idempotency key, all requests are the same one.
func (s *Service) resumeDeletion(ctx context.Context, user string) (deletion Deletion, going bool, err error) {
	var mark struct {
		Deletion string `dynamodbav:"deletion"`
	}
	claim := idempotency.ClaimFrom(ctx)
	if claim != nil {
		if _, err := s.DB.Get(ctx, "GetUserDeletion", &mark, claim.Key()...); err != nil {
			return Deletion{}, false, err
		}
	}
	stored, err := s.counts(ctx, user)
	if err != nil {
		return Deletion{}, false, err
	}
	if stored.Deletion == "" && mark.Deletion == "" {
		return Deletion{}, false, todo.ErrUserNotFound
	}
	own := claim == nil || stored.Deletion == "" || mark.Deletion == stored.Deletion
	id, err := uuid.Parse(stored.Deletion)
	going = err == nil && s.Clock.Now().Sub(time.Unix(id.Time().UnixTime())) < abandonedAfter
	if going && !own {
		return Deletion{}, false, todo.ErrUserBeingDeleted
	}
	return Deletion{User: user, ID: stored.Deletion}, going, nil
}

// errDeletionOver says that the deletion has been completed meanwhile. The user's present items are new, and stay.
var errDeletionOver = errors.New("the deletion is complete already")

// Erase deletes what is left of a user in progress of deletion. It reports whether that is complete; otherwise the
// context's deadline is near: call it again. Several may work on the same deletion. If one dies at any point, another
// can continue.
func (s *Service) Erase(ctx context.Context, deletion Deletion) (complete bool, err error) {
	if deletion.ID == "" {
		return true, nil
	}
	switch complete, err = s.eraseItems(ctx, deletion); {
	case errors.Is(err, errDeletionOver):
	case err != nil:
		return false, fmt.Errorf("erase what is the user's: %w", err)
	case !complete:
		return false, nil
	}
	if err := s.finishDeletion(ctx, deletion); err != nil {
		return false, fmt.Errorf("finish the deletion of the user: %w", err)
	}
	return true, nil
}

// eraseItems deletes what is the user's, if the deletion is still going on; otherwise it returns [errDeletionOver]. It
// leaves the idempotency keys of the request that began the deletion, and of the one that continues it, because repeats
// get their answers.
func (s *Service) eraseItems(ctx context.Context, deletion Deletion) (complete bool, err error) {
	own := ownKey(ctx)
	return ownership.Deletion{
		DB: s.DB, Owned: todo.Owned(), Person: deletion.User,
		// The user cannot come back before the deletion is over. So what was listed before it goes on is not of a new
		// user.
		GoesOn: func(ctx context.Context) error {
			stored, err := s.counts(ctx, deletion.User)
			if err == nil && stored.Deletion != deletion.ID {
				err = errDeletionOver
			}
			return err
		},
		// A new user may use a key again, but no task's id.
		If: func(item dynamo.Item) expression.ConditionBuilder {
			if end, ok := item["expiration_timestamp"]; ok {
				return dynamo.Equal("expiration_timestamp", end)
			}
			return expression.ConditionBuilder{}
		},
		Keep: func(item dynamo.Item) bool {
			return dynamo.Text(item, "deletion") == deletion.ID || dynamo.Text(item, "SK") == own
		},
	}.Erase(ctx)
}

// finishDeletion ends the deletion, if it is still going on.
func (s *Service) finishDeletion(ctx context.Context, deletion Deletion) error {
	key, goesOn := countsKey(deletion.User), dynamo.Equal("deletion", deletion.ID)
	if idempotency.ClaimFrom(ctx) == nil {
		_, err := dynamo.Satisfied(s.DB.Delete(ctx, "FinishUserDeletion", key, goesOn))
		return err
	}
	const pattern = "AnswerUserDeletion"
	erased := todo.Erased{Complete: true}
	finished, err := dynamo.Satisfied(idempotency.Transact(ctx, s.DB, pattern, erased,
		dynamo.Delete(table, key, goesOn)))
	if err == nil && !finished {
		// Another attempt was faster; only the answer remains to be kept.
		return idempotency.Transact(ctx, s.DB, pattern, erased)
	}
	return err
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
