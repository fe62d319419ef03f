package dynamodb

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
)

// maxErased is how many items one transaction deletes: with the check of the
// deletion it has as many parts as it may (100, "Transactions", DynamoDB developer
// guide).
const maxErased = 99

// EraseItems implements [todo.EraserStore]. It leaves the idempotency keys of the
// request that began the deletion, and of the one that continues it, because repeats
// get their answers.
func (s *Store) EraseItems(ctx context.Context, deletion todo.Deletion) (more bool, err error) {
	keys, err := s.itemsOf(ctx, deletion)
	if err != nil || len(keys) == 0 {
		return false, err
	}
	if len(keys) > maxErased {
		keys, more = keys[:maxErased], true
	}
	writes := []dynamo.Write{dynamo.Check(table, countsKey(deletion.User), dynamo.Equal("deletion", deletion.ID))}
	for _, key := range keys {
		writes = append(writes, dynamo.Delete(table, key, expression.ConditionBuilder{}))
	}
	err = s.db.Transact(ctx, "EraseItems", writes...)
	return more, refusals{{0, todo.ErrDeletionOver}}.meaning(err)
}

// itemsOf reads the keys of the user's remaining items, at most one more than one
// transaction deletes.
func (s *Store) itemsOf(ctx context.Context, deletion todo.Deletion) (keys [][]any, err error) {
	const most = maxErased + 1
	var own any
	if claim := idempotency.ClaimFrom(ctx); claim != nil {
		own = claim.Key()[1]
	}
	for _, partition := range []string{taskPrefix + deletion.User, idempotencyPrefix + deletion.User} {
		for item, err := range s.db.Items(ctx, "ListItemKeys", dynamo.Query{Values: []any{partition}, PageSize: most}) {
			if err != nil {
				return nil, err
			}
			var key struct {
				PK       string `dynamodbav:"PK"`
				SK       string `dynamodbav:"SK"`
				Deletion string `dynamodbav:"deletion"`
			}
			if err := attributevalue.UnmarshalMap(item, &key); err != nil {
				return nil, fmt.Errorf("read the key of an item: %w", err)
			}
			if key.Deletion == deletion.ID || key.SK == own {
				continue
			}
			if keys = append(keys, []any{key.PK, key.SK}); len(keys) == most {
				return keys, nil
			}
		}
	}
	return keys, nil
}

// FinishDeletion implements [todo.EraserStore].
func (s *Store) FinishDeletion(ctx context.Context, deletion todo.Deletion) error {
	finish := dynamo.Delete(table, countsKey(deletion.User), dynamo.Equal("deletion", deletion.ID))
	over := func(err error) bool {
		return errors.Is(refusals{{0, todo.ErrDeletionOver}}.meaning(err), todo.ErrDeletionOver)
	}
	if idempotency.ClaimFrom(ctx) == nil {
		if err := s.db.Transact(ctx, "FinishUserDeletion", finish); !over(err) {
			return err
		}
		return nil
	}
	const pattern = "AnswerUserDeletion"
	erased := todo.Erased{Complete: true}
	if err := idempotency.Transact(ctx, s.db, pattern, erased, finish); !over(err) {
		return err
	}
	// Another one was faster; what is left to do is to keep the answer.
	return idempotency.Transact(ctx, s.db, pattern, erased)
}
