package dynamodb

import (
	"context"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
)

// EraseItems implements [todo.EraserStore]. It leaves the idempotency keys of the
// request that began the deletion, and of the one that continues it, because repeats
// get their answers.
func (s *Store) EraseItems(ctx context.Context, deletion todo.Deletion) (complete bool, err error) {
	own := ""
	if claim := idempotency.ClaimFrom(ctx); claim != nil {
		own, _ = claim.Key()[1].(string)
	}
	complete, err = s.db.Erase(ctx, dynamo.Erasure{
		List: "ListItemKeys", Delete: "EraseItems",
		Checks: []dynamo.Write{dynamo.Check(table, countsKey(deletion.User), dynamo.Equal("deletion", deletion.ID))},
		Keep: func(item dynamo.Item) bool {
			return textOf(item, "deletion") == deletion.ID || textOf(item, "SK") == own
		},
	}, taskPrefix+deletion.User, idempotencyPrefix+deletion.User)
	return complete, dynamo.UnlessStale(err, dynamo.Means(0, todo.ErrDeletionOver))
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
