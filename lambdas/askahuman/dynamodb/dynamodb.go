// Package dynamodb stores Ask-a-Human in DynamoDB: the tables and access patterns
// of schema.AskAHuman.
//
// Items that must agree are written in one transaction, or in an order in which the first means nothing
// without the second; uniqueness is a condition
// on a key that only one item can have, and no count is ever read to be written
// back, except a person's own stats, whose write has their version as a condition.
package dynamodb

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/ratelimit"
	"github.com/onesynth-cdk/onesynth/schema"
)

var (
	_ askahuman.AgentStore    = (*Store)(nil)
	_ askahuman.PeopleStore   = (*Store)(nil)
	_ askahuman.NotifierStore = (*Store)(nil)
)

// Store implements the three stores of package askahuman. It is safe for
// concurrent use.
type Store struct {
	// Quota is how many questions of one agent may be open or partial; 0 is
	// [askahuman.DefaultOpenQuestions].
	Quota int
	// Parts says what the platform has besides. The zero value: the parts of [schema.AskAHuman].
	Parts schema.AskAHumanParts

	db     *dynamo.DB
	shards Shards
}

// New returns a store on the tables.
func New(db *dynamo.DB, shards Shards) *Store {
	return &Store{db: db, shards: shards.withDefaults()}
}

// Open returns the store of a function of schema.AskAHuman, on the tables that its
// environment names.
// Its variables SHARDS and READ_SHARDS are [Shards.Write], 1 by default, and
// [Shards.Read], by default the same. LEFT_OUT names the parts that the stack has not.
func Open(environment kit.Environment, function string) (*Store, error) {
	parts, err := schema.ParseAskAHumanParts(environment.Getenv("LEFT_OUT"))
	if err != nil {
		return nil, err
	}
	tables, err := dynamo.Open(environment, schema.AskAHumanWith(parts), function)
	if err != nil {
		return nil, err
	}
	shards, err := environment.Int("SHARDS", 1)
	if err != nil {
		return nil, err
	}
	read, err := environment.Int("READ_SHARDS", shards)
	if err != nil {
		return nil, err
	}
	store := New(tables, Shards{Write: shards, Read: read})
	store.Parts = parts
	return store, nil
}

func formatTime(t time.Time) string { return dynamo.FormatTime(t) }

func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339, text)
}

func digest(parts ...string) string {
	hash := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(hash[:])
}

// answerable is true of questions whose stored status takes answers. It compares the beginning,
// because the shard follows the status.
func answerable() expression.ConditionBuilder {
	return dynamo.Name("status").BeginsWith(string(askahuman.StatusOpen)).
		Or(dynamo.Name("status").BeginsWith(string(askahuman.StatusPartial)))
}

// Limiter returns the counter of calls.
func (s *Store) Limiter() *ratelimit.Counter {
	return ratelimit.New(s.db, "Guards", func(counter string) []any { return []any{"RATE#" + counter} })
}
