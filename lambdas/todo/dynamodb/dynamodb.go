// Package dynamodb stores To-Do in DynamoDB: the table and access patterns of
// schema.Todo.
//
// Items that must agree are written in one transaction: a task with the keys of all four indexes,
// the counts that it is in, and the answer to the request that writes it ([idempotency.Transact]).
// A write succeeds only if the items that it was computed from are unchanged. A user's counts
// exist, without a deletion, as long as the user does, so nothing is added to a deleted user.
package dynamodb

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/todo"
	"github.com/onesynth-cdk/onesynth/schema"
)

var _ todo.Store = (*Store)(nil)

// Store implements the stores of package todo. It is safe for concurrent use.
type Store struct{ db *dynamo.DB }

// New returns a store on the table.
func New(db *dynamo.DB) *Store { return &Store{db: db} }

// Open returns the store of a function of schema.Todo, on the table that its environment
// names.
func Open(environment kit.Environment, function string) (*Store, error) {
	db, err := dynamo.Open(environment, schema.Todo(), function)
	if err != nil {
		return nil, err
	}
	return New(db), nil
}

// Keys returns the idempotency keys in the same table. Their scope is the user's
// id.
func (s *Store) Keys() *idempotency.Keys {
	keys := idempotency.New(s.db, table, idempotencyKey)
	keys.CreatedAt = "created_at"
	return keys
}

const table = "AppData"

// The keys of the items. Callers' text is the last part of a key, so that keys differ for any text.
const (
	metadata          = "METADATA"
	userPrefix        = "USER#"
	emailPrefix       = "EMAIL#"
	taskPrefix        = "TASK#"
	countsPrefix      = "COUNTS#"
	idempotencyPrefix = "IDEMPOTENCY#"
	ownerPrefix       = "OWNER#"
)

func countsKey(user string) []any { return []any{countsPrefix + user, metadata} }

// idempotencyKey digests the caller's key, which may be longer than a sort key can be.
func idempotencyKey(user, key string) []any {
	digest := sha256.Sum256([]byte(key))
	return []any{idempotencyPrefix + user, "KEY#" + hex.EncodeToString(digest[:])}
}

func fromUnix(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

func toUnix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
