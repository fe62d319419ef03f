package todo

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/platforms/todo"
)

// userItem is a USER# item.
type userItem struct {
	PK, SK string
	todo.User
}

func putUser(u todo.User, condition expression.ConditionBuilder) dynamo.Write {
	return dynamo.Put(table, userItem{PK: userPrefix + u.ID, SK: metadata, User: u}, condition)
}

// unchanged is the condition that a user still is as it was read.
func unchanged(read todo.User) expression.ConditionBuilder {
	return dynamo.Equal("email", read.Email).And(dynamo.Equal("name", read.Name),
		dynamo.Equal("created_at", read.CreatedAt), dynamo.Equal("updated_at", read.UpdatedAt))
}

// emailItem is an EMAIL# item: an address has one owner because its key has one item.
type emailItem struct {
	PK, SK string
	UserID string `dynamodbav:"user_id"`
}

// emailKey has the address in lower case: most mail servers ignore case, and people do.
func emailKey(address string) string { return emailPrefix + strings.ToLower(address) }

func putEmail(u todo.User) dynamo.Write {
	return dynamo.Put(table, emailItem{PK: emailKey(u.Email), SK: metadata, UserID: u.ID}, dynamo.Absent("PK"))
}

func deleteEmail(u todo.User) dynamo.Write {
	return dynamo.Delete(table, []any{emailKey(u.Email), metadata}, expression.ConditionBuilder{})
}

// CreateUser stores a user under the id, which is the subject of the user's token. It returns [todo.ErrUserExists],
// [todo.ErrUserBeingDeleted] or [todo.ErrEmailTaken].
func (s *Service) CreateUser(ctx context.Context, id string, in todo.UserBody) (todo.User, error) {
	now := s.now()
	user := todo.User{ID: id, Email: in.Email, Name: in.Name, CreatedAt: now, UpdatedAt: now}
	err := idempotency.Transact(ctx, s.DB, "CreateUser", user,
		putUser(user, dynamo.Absent("PK")),
		putEmail(user),
		dynamo.Put(table, counts{PK: countsPrefix + id, SK: metadata}, dynamo.Absent("PK")))
	return user, dynamo.UnlessStale(err, dynamo.OnFailed(0, todo.ErrUserExists),
		dynamo.OnFailed(2, todo.ErrUserBeingDeleted), dynamo.OnFailed(1, todo.ErrEmailTaken))
}

// GetUser reads a user. It returns [todo.ErrUserNotFound].
func (s *Service) GetUser(ctx context.Context, id string) (todo.User, error) {
	var item userItem
	found, err := s.DB.Get(ctx, "GetUser", &item, todo.UserKey(id)...)
	if err != nil {
		return todo.User{}, err
	}
	if !found {
		return todo.User{}, todo.ErrUserNotFound
	}
	item.User.ID = id
	return item.User, nil
}

// UpdateUser changes a user's name and email address. A user who has them already stays unchanged. It returns
// [todo.ErrUserNotFound] or [todo.ErrEmailTaken].
func (s *Service) UpdateUser(ctx context.Context, id string, in todo.UserBody) (todo.User, error) {
	var user todo.User
	err := retry.Do(ctx, func() error {
		read, err := s.GetUser(ctx, id)
		if err != nil {
			return err
		}
		user = read
		user.Email, user.Name = in.Email, in.Name
		if user == read {
			return nil
		}
		user.UpdatedAt = max(s.now(), read.UpdatedAt)
		writes := []dynamo.Write{putUser(user, unchanged(read))}
		if !strings.EqualFold(read.Email, user.Email) {
			writes = append(writes, putEmail(user), deleteEmail(read))
		}
		err = idempotency.Transact(ctx, s.DB, "UpdateUser", user, writes...)
		return dynamo.UnlessStale(err, dynamo.OnFailed(0, retry.ErrStale), dynamo.OnFailed(1, todo.ErrEmailTaken))
	})
	return user, err
}

// withUser does read, which reads tasks of a user, and reports whether there is such a user. The table may still have
// tasks of a user who is being deleted: drop what was read if there is none. The user is read at the same time, so that
// no caller waits for it.
func (s *Service) withUser(ctx context.Context, user string, read func() error) (exists bool, err error) {
	var group errgroup.Group
	group.Go(func() error {
		_, err := s.GetUser(ctx, user)
		return err
	})
	readErr := read()
	if err := group.Wait(); errors.Is(err, todo.ErrUserNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, readErr
}
