// Package ratelimit counts how often callers call, in fixed windows, in a table that has a
// time to live. The platform has schema.RateLimitPatterns for it. kit/httpapi counts
// the calls of a route by the limit that the schema gives it.
package ratelimit

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// State is how much of a limit is used.
type State struct {
	// Limit is how many calls the window allows, Remaining how many are left.
	Limit, Remaining int
	// Reset is when the next window begins.
	Reset time.Time
}

// Header are the headers that tell the caller: X-RateLimit-Limit, -Remaining, and -Reset
// in Unix seconds.
func (s State) Header() http.Header {
	return http.Header{
		"X-Ratelimit-Limit":     {strconv.Itoa(s.Limit)},
		"X-Ratelimit-Remaining": {strconv.Itoa(s.Remaining)},
		"X-Ratelimit-Reset":     {strconv.FormatInt(s.Reset.Unix(), 10)},
	}
}

// LimitedError says that a call is beyond a limit.
type LimitedError struct{ State }

// Error says when to try again.
func (e *LimitedError) Error() string {
	return fmt.Sprintf("more than %d calls in this window: try again after %s", e.Limit, e.Reset.UTC().Format(time.RFC3339))
}

// RetryAt is when the next window begins.
func (e *LimitedError) RetryAt() time.Time { return e.Reset }

// Counter counts calls in a table. It is safe for concurrent use.
type Counter struct {
	db    *dynamo.DB
	table string
	key   func(counter string) []any
}

// New returns the counter in a table with schema.RateLimitPatterns. key gives the primary
// key, partition key first, of a counter by its name, which has at most 120 bytes if the
// names of limits have 40. Nil: the table has a partition key alone, a String, which then
// begins with COUNT#.
func New(db *dynamo.DB, table string, key func(counter string) []any) *Counter {
	if key == nil {
		key = func(counter string) []any { return []any{"COUNT#" + counter} }
	}
	return &Counter{db: db, table: table, key: key}
}

// CountRequest counts a call of a caller towards a limit, in the window in which now
// lies. It returns a [*LimitedError] when the limit was reached before it. The counter
// keeps a token of the last call, so that an attempt whose answer was lost counts once; it
// counts twice only if another call of the same caller was counted between the two.
func (c *Counter) CountRequest(ctx context.Context, limit schema.RateLimit, caller string, now time.Time) (State, error) {
	timeToLive, err := c.db.TimeToLive(c.table)
	if err != nil {
		return State{}, fmt.Errorf("count a request: %w", err)
	}
	start := now.Truncate(limit.Window)
	state := State{Limit: limit.Requests, Reset: start.Add(limit.Window)}
	hash := sha256.Sum256([]byte(caller))
	token := rand.Text()
	var counted struct {
		Requests int    `dynamodbav:"requests"`
		Last     string `dynamodbav:"last_request"`
	}
	err = c.db.Update(ctx, schema.CountRequest, c.key(fmt.Sprintf("%s#%s#%d", limit.Name, hex.EncodeToString(hash[:]), start.Unix())),
		expression.Add(dynamo.Name("requests"), expression.Value(1)).
			Set(dynamo.Name("last_request"), expression.Value(token)).
			Set(dynamo.Name(timeToLive), expression.Value(dynamo.ExpiryAt(state.Reset))),
		dynamo.Absent("requests").Or(dynamo.Name("requests").LessThan(expression.Value(limit.Requests)).
			And(dynamo.Name("last_request").NotEqual(expression.Value(token)))),
		&counted)
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		if err := attributevalue.UnmarshalMap(refused.Item, &counted); err != nil {
			return state, fmt.Errorf("read the counter: %w", err)
		}
		if counted.Last != token {
			return state, &LimitedError{state}
		}
		err = nil
	}
	if err != nil {
		return state, err
	}
	state.Remaining = limit.Requests - counted.Requests
	return state, nil
}
