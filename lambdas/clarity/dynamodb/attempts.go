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
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
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

// CreateAttempt implements [clarity.Store].
func (s *Store) CreateAttempt(ctx context.Context, attempt clarity.Attempt, limit int) (clarity.Attempt, bool, error) {
	isNew := dynamo.Absent("attemptId")
	var err error
	if attempt.Claim == "" && idempotency.ClaimFrom(ctx) == nil {
		err = s.db.Put(ctx, "StoreAttempt", newAttemptItem(attempt), isNew)
	} else {
		err = s.put(ctx, attempt, isNew, limit)
	}
	var stored dynamo.Item
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		stored = refused.Item
	} else if refused, ok := errors.AsType[*dynamo.TransactionError](err); ok {
		if stored, ok = refused.Failed(0); !ok {
			return clarity.Attempt{}, false, beyond(time.Time(attempt.Timestamp))
		}
	} else {
		return attempt, err == nil, err
	}
	var existing clarity.Attempt
	if err := attributevalue.UnmarshalMap(stored, &existing); err != nil {
		return clarity.Attempt{}, false, fmt.Errorf("read the stored attempt: %w", err)
	}
	return existing, false, nil
}

// SaveAttempt implements [clarity.Store].
func (s *Store) SaveAttempt(ctx context.Context, attempt clarity.Attempt, limit int) error {
	asRead := dynamo.Equal("version", attempt.Version-1).And(dynamo.Equal("status", clarity.InProgress))
	return unlessStale(s.put(ctx, attempt, asRead, limit), time.Time(attempt.Timestamp))
}

// put stores an attempt, if the condition is true: with a claim it is counted, and the request's
// idempotency key claimed. Without one the answer to the request is kept, which is complete.
func (s *Store) put(ctx context.Context, attempt clarity.Attempt, condition expression.ConditionBuilder, limit int) error {
	stored := dynamo.Put(attempts, newAttemptItem(attempt), condition)
	if attempt.Claim == "" {
		return idempotency.Transact(ctx, s.db, "SaveAttempt", attempt, stored)
	}
	return idempotency.Claiming(ctx, s.db, "SubmitAttempt", stored, counted(attempt.UserID, time.Time(attempt.Timestamp), limit))
}

// ClaimEvaluation implements [clarity.Store].
func (s *Store) ClaimEvaluation(ctx context.Context, attempt clarity.Attempt, now time.Time, limit int) error {
	update, err := dynamo.Changes(newAttemptItem(attempt), "claim", "claimedUntil", "evaluationStatus", "evaluationTries", "pendingEvaluation", "evaluateAfter")
	if err != nil {
		return err
	}
	free := dynamo.Equal("status", clarity.Completed).And(dynamo.Absent("evaluation"), dynamo.Absent("claim").Or(
		dynamo.Name("claimedUntil").LessThanEqual(expression.Value(dynamo.FormatTime(now)))))
	return unlessStale(s.db.Transact(ctx, "ClaimEvaluation",
		dynamo.Update(attempts, []any{attempt.ID}, update, free), counted(attempt.UserID, now, limit)), now)
}

// counted counts an evaluation of a user on the day of a moment, unless it has limit already. It is the
// second write of a transaction.
func counted(user string, now time.Time, limit int) dynamo.Write {
	day := dayOf(now)
	update := expression.Add(dynamo.Name("evaluations"), expression.Value(1)).
		Set(dynamo.Name("expiresAt"), expression.Value(dynamo.ExpiryAt(day.AddDate(0, 0, 2))))
	allowed := dynamo.Absent("evaluations").Or(dynamo.Name("evaluations").LessThan(expression.Value(limit)))
	return dynamo.Update(guards, []any{"EVALUATIONS#" + day.Format(time.DateOnly) + "#" + user}, update, allowed)
}

// unlessStale returns [retry.ErrStale] or a [*clarity.LimitError] for a transaction that was refused,
// whose second write has counted at a moment.
func unlessStale(err error, now time.Time) error {
	return dynamo.UnlessStale(err, dynamo.Means(0, retry.ErrStale), dynamo.Means(1, beyond(now)))
}

// beyond is the error of an evaluation beyond the limit of the day.
func beyond(now time.Time) error { return &clarity.LimitError{Until: dayOf(now).AddDate(0, 0, 1)} }

func dayOf(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }

// SettleEvaluation implements [clarity.Store].
func (s *Store) SettleEvaluation(ctx context.Context, attempt clarity.Attempt) error {
	// A try that was claimed meanwhile has counted, also if it is over.
	own := dynamo.Absent("claim").And(dynamo.Absent("evaluationTries").Or(dynamo.Equal("evaluationTries", attempt.EvaluationTries)))
	if attempt.Claim != "" {
		own = dynamo.Equal("claim", attempt.Claim)
	}
	attempt.Claim, attempt.ClaimedUntil = "", time.Time{}
	item, open := newAttemptItem(attempt), own.And(dynamo.Absent("evaluation"), dynamo.Equal("status", clarity.Completed))
	if idempotency.ClaimFrom(ctx) == nil {
		// Half the price of a transaction.
		return dynamo.UnlessStale(s.db.Put(ctx, "SettleEvaluation", item, open))
	}
	return dynamo.UnlessStale(idempotency.Transact(ctx, s.db, "AnswerEvaluation", attempt, dynamo.Put(attempts, item, open)))
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
