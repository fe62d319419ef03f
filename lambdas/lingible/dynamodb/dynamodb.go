// Package dynamodb stores Lingible in DynamoDB: the tables and access patterns of schema.Lingible.
//
// Each write that uses up what a user has left, or adds something of a user, depends on the user's
// usage, alone or in one transaction: so no limit is overshot, and nothing is added for a user whose
// account is deleted.
package dynamodb

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/cursor"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/schema"
)

// The tables.
const (
	submissions  = "Submissions"
	lexicon      = "Lexicon"
	trending     = "Trending"
	users        = "Users"
	translations = "Translations"
)

// Store implements the stores of package lingible. It is safe for concurrent use.
type Store struct {
	// CursorKey signs the cursors of lists. Set it before the first list is read.
	CursorKey cursor.Key

	db *dynamo.DB
}

// New returns a store on the tables.
func New(db *dynamo.DB) *Store { return &Store{db: db} }

// Open returns the store of a function of schema.Lingible, on the tables that its environment names.
func Open(environment kit.Environment, function string) (*Store, error) {
	db, err := dynamo.Open(environment, schema.Lingible(), function)
	if err != nil {
		return nil, err
	}
	return New(db), nil
}

// Keys returns the idempotency keys. Their scope is the user's id, and they go with the user.
func (s *Store) Keys() *idempotency.Keys {
	return idempotency.New(s.db, users, func(user, key string) []any {
		return []any{userKey(user), fmt.Sprintf("KEY#%x", sha256.Sum256([]byte(key)))}
	})
}

// Limiter returns the counter of rate limits.
func (s *Store) Limiter() *ratelimit.Counter {
	return ratelimit.New(s.db, users, func(counter string) []any { return []any{"RATE#" + counter, "METADATA"} })
}

// key is the primary key that all tables have. A struct that embeds it is an item.
type key struct {
	PK string `dynamodbav:"PK"`
	SK string `dynamodbav:"SK"`
}

func (k key) values() []any { return []any{k.PK, k.SK} }

// first reads the first item of a query; false: there is none.
func first[T any](ctx context.Context, s *Store, pattern string, values ...any) (item T, found bool, err error) {
	page, err := s.db.Page(ctx, pattern, dynamo.Query{Values: values, PageSize: 1})
	if err != nil || len(page.Items) == 0 {
		return item, false, err
	}
	return item, true, attributevalue.UnmarshalMap(page.Items[0], &item)
}

func userKey(id string) string { return "USER#" + id }

// termKey is the partition key of what belongs to a term, by its slug.
func termKey(slug string) string { return "TERM#" + slug }

// slugOf is the slug of a partition key of [termKey].
func slugOf(partition string) string { return strings.TrimPrefix(partition, termKey("")) }
