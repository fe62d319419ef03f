package dynamodb

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
)

// user is a USER# item.
type user struct {
	PK        string `dynamodbav:"PK"`
	SK        string `dynamodbav:"SK"`
	Email     string `dynamodbav:"email"`
	Name      string `dynamodbav:"name"`
	CreatedAt int64  `dynamodbav:"created_at"`
	UpdatedAt int64  `dynamodbav:"updated_at"`
}

func newUser(u todo.User) user {
	return user{
		PK: userPrefix + u.ID, SK: metadata,
		Email: u.Email, Name: u.Name, CreatedAt: toUnix(u.CreatedAt), UpdatedAt: toUnix(u.UpdatedAt),
	}
}

func (u user) domain() todo.User {
	return todo.User{
		ID: strings.TrimPrefix(u.PK, userPrefix), Email: u.Email, Name: u.Name,
		CreatedAt: fromUnix(u.CreatedAt), UpdatedAt: fromUnix(u.UpdatedAt),
	}
}

// unchanged is the condition that a user still is as it was read.
func unchanged(read todo.User) expression.ConditionBuilder {
	u := newUser(read)
	return dynamo.Equal("email", u.Email).And(dynamo.Equal("name", u.Name), dynamo.Equal("created_at", u.CreatedAt), dynamo.Equal("updated_at", u.UpdatedAt))
}

// email is an EMAIL# item: an address has one owner because its key has one item.
type email struct {
	PK     string `dynamodbav:"PK"`
	SK     string `dynamodbav:"SK"`
	UserID string `dynamodbav:"user_id"`
}

// emailKey has the address in lower case: most mail servers ignore case, and people do.
func emailKey(address string) []any { return []any{emailPrefix + strings.ToLower(address), metadata} }

func putEmail(u todo.User) dynamo.Write {
	return dynamo.Put(table, email{PK: emailPrefix + strings.ToLower(u.Email), SK: metadata, UserID: u.ID}, dynamo.Absent("PK"))
}

// User implements [todo.Store].
func (s *Store) User(ctx context.Context, id string) (todo.User, error) {
	var item user
	found, err := s.db.Get(ctx, "GetUser", &item, userPrefix+id, metadata)
	if err != nil {
		return todo.User{}, err
	}
	if !found {
		return todo.User{}, todo.ErrUserNotFound
	}
	return item.domain(), nil
}

// CreateUser implements [todo.Store].
func (s *Store) CreateUser(ctx context.Context, u todo.User) error {
	err := idempotency.Transact(ctx, s.db, "CreateUser", u,
		dynamo.Put(table, newUser(u), dynamo.Absent("PK")),
		putEmail(u),
		dynamo.Put(table, counts{PK: countsPrefix + u.ID, SK: metadata}, dynamo.Absent("PK")))
	return dynamo.UnlessStale(err, dynamo.Means(0, todo.ErrUserExists), dynamo.Means(2, todo.ErrUserBeingDeleted), dynamo.Means(1, todo.ErrEmailTaken))
}

// ReplaceUser implements [todo.Store].
func (s *Store) ReplaceUser(ctx context.Context, read, u todo.User) error {
	writes := []dynamo.Write{dynamo.Put(table, newUser(u), unchanged(read))}
	if !strings.EqualFold(read.Email, u.Email) {
		writes = append(writes, putEmail(u), dynamo.Delete(table, emailKey(read.Email), expression.ConditionBuilder{}))
	}
	err := idempotency.Transact(ctx, s.db, "UpdateUser", u, writes...)
	return dynamo.UnlessStale(err, dynamo.Means(0, retry.ErrStale), dynamo.Means(1, todo.ErrEmailTaken))
}

// BeginDeletion implements [todo.Store].
func (s *Store) BeginDeletion(ctx context.Context, read todo.User, deletion todo.Deletion) error {
	mark := expression.Set(dynamo.Name("deletion"), expression.Value(deletion.ID))
	writes := []dynamo.Write{
		dynamo.Delete(table, []any{userPrefix + read.ID, metadata}, unchanged(read)),
		dynamo.Delete(table, emailKey(read.Email), expression.ConditionBuilder{}),
		dynamo.Update(table, countsKey(read.ID), mark, dynamo.Absent("deletion")),
	}
	if claim := idempotency.ClaimFrom(ctx); claim != nil {
		writes = append(writes, dynamo.Update(table, claim.Key(), mark, expression.AttributeExists(dynamo.Name("request_digest"))))
	}
	// The answer is not kept yet, because the work is not done.
	err := s.db.Transact(ctx, "BeginUserDeletion", writes...)
	return dynamo.UnlessStale(err, dynamo.Means(0, retry.ErrStale), dynamo.Means(3, idempotency.ErrClaimLost))
}

// ResumeDeletion implements [todo.Store]. Without an idempotency key, all requests
// are the same one.
func (s *Store) ResumeDeletion(ctx context.Context, user string) (deletion todo.Deletion, own bool, err error) {
	var mark struct {
		Deletion string `dynamodbav:"deletion"`
	}
	claim := idempotency.ClaimFrom(ctx)
	if claim != nil {
		if _, err := s.db.Get(ctx, "GetUserDeletion", &mark, claim.Key()...); err != nil {
			return todo.Deletion{}, false, err
		}
	}
	var stored counts
	if _, err := s.db.Get(ctx, "GetTaskCounts", &stored, countsKey(user)...); err != nil {
		return todo.Deletion{}, false, err
	}
	if stored.Deletion == "" && mark.Deletion == "" {
		return todo.Deletion{}, false, todo.ErrUserNotFound
	}
	own = claim == nil || stored.Deletion == "" || mark.Deletion == stored.Deletion
	return todo.Deletion{User: user, ID: stored.Deletion}, own, nil
}
