// Package dynamodb stores Ask-a-Human in DynamoDB: the tables and access patterns
// of schema.AskAHuman.
//
// Items that must agree are written in one transaction, uniqueness is a condition
// on a key that only one item can have, and no count is ever read to be written
// back, except a person's own stats, whose write has their version as a condition.
package dynamodb

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/askahuman"
	"github.com/onesynth-cdk/onesynth/lambdas/kit"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
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

	db     *dynamo.DB
	shards Shards
}

// New returns a store on the tables.
func New(db *dynamo.DB, shards Shards) *Store {
	return &Store{db: db, shards: shards.withDefaults()}
}

// Open returns the store of a function: on the tables that its environment names.
// Its variables SHARDS and READ_SHARDS are [Shards.Write], 1 by default, and
// [Shards.Read], by default the same.
func Open(environment kit.Environment) (*Store, error) {
	tables, err := dynamo.Open(environment.AWS, schema.AskAHuman().Database)
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
	return New(tables, Shards{Write: shards, Read: read}), nil
}

// timeFormat has one width, so that text sorts as time does.
const timeFormat = "2006-01-02T15:04:05.000Z"

func formatTime(t time.Time) string { return t.UTC().Format(timeFormat) }

func formatOptionalTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return formatTime(t)
}

func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return time.Parse(timeFormat, text)
}

func digest(parts ...string) string {
	hash := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(hash[:])
}

// held turns a write whose condition does not hold into false.
func held(err error) (bool, error) {
	var transaction *dynamo.TransactionError
	var condition *dynamo.ConditionError
	if errors.As(err, &transaction) || errors.As(err, &condition) {
		return false, nil
	}
	return err == nil, err
}

// answerable holds for questions whose stored status takes answers. The shard
// follows the status, so it compares the beginning.
func answerable() expression.ConditionBuilder {
	return dynamo.Name("status").BeginsWith(string(askahuman.StatusOpen)).
		Or(dynamo.Name("status").BeginsWith(string(askahuman.StatusPartial)))
}

// CountRequest counts a call of a caller towards a limit, in the window in which
// now lies. It returns a [*askahuman.RateLimitedError] when the limit was
// reached before it. The counter keeps a token of the last call, so that an attempt
// whose answer was lost counts once; it counts twice only if another call of the
// same caller was counted between the two.
func (s *Store) CountRequest(ctx context.Context, limit schema.RateLimit, caller string, now time.Time) (askahuman.RateLimitState, error) {
	start := now.Truncate(limit.Window)
	state := askahuman.RateLimitState{Limit: limit.Requests, Reset: start.Add(limit.Window)}
	key := fmt.Sprintf("RATE#%s#%s#%d", limit.Name, digest(caller), start.Unix())
	token := rand.Text()
	var counted struct {
		Requests int    `dynamodbav:"requests"`
		Last     string `dynamodbav:"last_request"`
	}
	err := s.db.Update(ctx, "CountRequest", []any{key},
		expression.Add(dynamo.Name("requests"), expression.Value(1)).
			Set(dynamo.Name("last_request"), expression.Value(token)).
			Set(dynamo.Name("expires_at"), expression.Value(dynamo.ExpiryAt(state.Reset))),
		dynamo.Absent("requests").Or(dynamo.Name("requests").LessThan(expression.Value(limit.Requests)).
			And(dynamo.Name("last_request").NotEqual(expression.Value(token)))),
		&counted)
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		if err := attributevalue.UnmarshalMap(refused.Item, &counted); err != nil {
			return state, fmt.Errorf("read the counter: %w", err)
		}
		if counted.Last != token {
			return state, &askahuman.RateLimitedError{RateLimitState: state}
		}
		err = nil
	}
	if err != nil {
		return state, err
	}
	state.Remaining = limit.Requests - counted.Requests
	return state, nil
}
