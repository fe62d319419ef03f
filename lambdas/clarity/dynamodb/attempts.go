package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/clarity"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
)

var _ clarity.Store = (*Store)(nil)

const (
	attempts = "Attempts"
	guards   = "Guards"
	// pending is the partition of PendingEvaluations.
	pending = "pending"
)

// attemptItem is an item of Attempts.
type attemptItem struct {
	clarity.Attempt
	PendingEvaluation string `dynamodbav:"pendingEvaluation,omitempty"`
	SchemaVersion     string `dynamodbav:"schemaVersion"`
}

func newAttemptItem(attempt clarity.Attempt) attemptItem {
	item := attemptItem{Attempt: attempt, SchemaVersion: clarity.SchemaVersion}
	if !attempt.EvaluateAfter.IsZero() {
		item.PendingEvaluation = pending
	}
	return item
}

// Attempt implements [clarity.Store].
func (s *Store) Attempt(ctx context.Context, id string) (clarity.Attempt, error) {
	var attempt clarity.Attempt
	found, err := s.db.Get(ctx, "GetAttempt", &attempt, id)
	if err == nil && !found {
		err = clarity.ErrAttemptNotFound
	}
	return attempt, err
}

// Attempts implements [clarity.Store].
func (s *Store) Attempts(ctx context.Context, user string, most int, from string) (list clarity.AttemptList, err error) {
	read := dynamo.List{Pattern: "ListUserAttempts", Values: []any{user}, Parameter: "nextToken", Key: s.CursorKey, Scope: []string{user}}
	list.Attempts, list.NextToken, err = dynamo.ReadPage[clarity.Attempt](ctx, s.db, read, from, most)
	return list, err
}

// CreateAttempt implements [clarity.Store]. The answer to the request that completes an attempt is
// kept with its evaluation.
func (s *Store) CreateAttempt(ctx context.Context, attempt clarity.Attempt) (clarity.Attempt, bool, error) {
	item, isNew := newAttemptItem(attempt), dynamo.Absent("attemptId")
	var err error
	if attempt.Status == clarity.Completed {
		err = s.db.Put(ctx, "StoreAttempt", item, isNew)
	} else {
		err = idempotency.Transact(ctx, s.db, "CreateAttempt", attempt, dynamo.Put(attempts, item, isNew))
	}
	var stored dynamo.Item
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		stored = refused.Item
	} else if refused, ok := errors.AsType[*dynamo.TransactionError](err); ok {
		stored, _ = refused.Failed(0)
	} else {
		return attempt, err == nil, err
	}
	var existing clarity.Attempt
	if err := attributevalue.UnmarshalMap(stored, &existing); err != nil {
		return clarity.Attempt{}, false, fmt.Errorf("read the stored attempt: %w", err)
	}
	return existing, false, nil
}

// SaveAttempt implements [clarity.Store], and keeps answers as [Store.CreateAttempt] does.
func (s *Store) SaveAttempt(ctx context.Context, attempt clarity.Attempt) error {
	asRead := dynamo.Equal("version", attempt.Version-1).And(dynamo.Equal("status", clarity.InProgress))
	put := dynamo.Put(attempts, newAttemptItem(attempt), asRead)
	if attempt.Status == clarity.Completed {
		return dynamo.UnlessStale(s.db.Transact(ctx, "SaveAttempt", put))
	}
	return dynamo.UnlessStale(idempotency.Transact(ctx, s.db, "SaveAttempt", attempt, put))
}

// ClaimEvaluation implements [clarity.Store].
func (s *Store) ClaimEvaluation(ctx context.Context, attempt clarity.Attempt, now time.Time, limit int) error {
	update, err := dynamo.Changes(newAttemptItem(attempt), "claim", "claimedUntil", "evaluationStatus", "evaluationTries", "pendingEvaluation", "evaluateAfter")
	if err != nil {
		return err
	}
	free := dynamo.Equal("status", clarity.Completed).And(dynamo.Absent("evaluation"), dynamo.Absent("claim").Or(
		dynamo.Name("claimedUntil").LessThanEqual(expression.Value(dynamo.FormatTime(now)))))
	day := now.UTC().Truncate(24 * time.Hour)
	tomorrow := day.AddDate(0, 0, 1)
	counted := expression.Add(dynamo.Name("evaluations"), expression.Value(1)).
		Set(dynamo.Name("expiresAt"), expression.Value(dynamo.ExpiryAt(tomorrow.AddDate(0, 0, 1))))
	allowed := dynamo.Absent("evaluations").Or(dynamo.Name("evaluations").LessThan(expression.Value(limit)))
	err = s.db.Transact(ctx, "ClaimEvaluation",
		dynamo.Update(attempts, []any{attempt.ID}, update, free),
		dynamo.Update(guards, []any{"EVALUATIONS#" + day.Format(time.DateOnly) + "#" + attempt.UserID}, counted, allowed))
	if refused, ok := errors.AsType[*dynamo.TransactionError](err); ok {
		if _, stale := refused.Failed(0); !stale {
			return &clarity.LimitError{Until: tomorrow}
		}
	}
	return dynamo.UnlessStale(err)
}

// SettleEvaluation implements [clarity.Store].
func (s *Store) SettleEvaluation(ctx context.Context, attempt clarity.Attempt) error {
	own := dynamo.Absent("claim")
	if attempt.Claim != "" {
		own = dynamo.Equal("claim", attempt.Claim)
	}
	attempt.Claim, attempt.ClaimedUntil = "", time.Time{}
	update, err := dynamo.Changes(newAttemptItem(attempt), "claim", "claimedUntil", "evaluation", "evaluationStatus", "evaluationFailure", "pendingEvaluation", "evaluateAfter")
	if err != nil {
		return err
	}
	return dynamo.UnlessStale(idempotency.Transact(ctx, s.db, "SettleEvaluation", attempt,
		dynamo.Update(attempts, []any{attempt.ID}, update, own.And(dynamo.Absent("evaluation"), dynamo.Equal("status", clarity.Completed)))))
}

// PendingEvaluations implements [clarity.Store].
func (s *Store) PendingEvaluations(ctx context.Context, now time.Time) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for attempt, err := range dynamo.Read[clarity.Attempt](ctx, s.db, "ListPendingEvaluations", dynamo.Query{Values: []any{pending, dynamo.FormatTime(now)}}) {
			if !yield(attempt.ID, err) {
				return
			}
		}
	}
}
