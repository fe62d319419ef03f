// Package dynamodb stores Clarity in DynamoDB: the tables and access patterns of schema.Clarity.
//
// An attempt is stored before it is evaluated. Each later write of it is conditional: on the version
// that was read, or on the token of the try that evaluates it. So no write is lost, and no attempt is
// evaluated twice.
package dynamodb

import (
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/cursor"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/schema"
)

// Store implements the stores of package clarity. It is safe for concurrent use.
type Store struct {
	// CursorKey signs the cursors of lists. Set it before the first list is read.
	CursorKey cursor.Key

	db *dynamo.DB
}

// New returns a store on the tables.
func New(db *dynamo.DB) *Store { return &Store{db: db} }

// Open returns the store of a function of schema.Clarity, on the tables that its environment names.
func Open(environment kit.Environment, function string) (*Store, error) {
	db, err := dynamo.Open(environment, schema.Clarity(), function)
	if err != nil {
		return nil, err
	}
	return New(db), nil
}

// Keys returns the idempotency keys. Their scope is the user's id.
func (s *Store) Keys() *idempotency.Keys { return idempotency.New(s.db, "Guards", nil) }
