// Package ratelimit counts the calls of each caller in fixed windows. The counters are items of a table with a time to
// live, by schema.RateLimitPatterns. kit/httpapi counts the calls of a route towards the limit that the schema gives
// it.
package ratelimit

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/schema"
	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// State is how much of a limit is used, and LimitedError says that a call is beyond one.
type (
	State        = problem.State
	LimitedError = problem.LimitedError
)

// Counter counts calls in a table. It is safe for concurrent use. Use one Counter for the life of the process: it
// remembers what it has reserved, and which limits callers have reached.
type Counter struct {
	db    *dynamo.DB
	table string
	key   func(counter string) []any

	// items are the keys of items that also have a caller's counter, by the name of the limit.
	items map[string]func(caller string) []any

	mu      sync.Mutex
	windows map[string]*window
	swept   time.Time
}

// New returns the counter in a table with schema.RateLimitPatterns. key returns the primary key, partition key first,
// of a counter by its name. The name has at most 120 bytes if the names of limits have at most 40. If key is nil, the
// table has a partition key alone, a String, which then begins with COUNT#.
func New(db *dynamo.DB, table string, key func(counter string) []any) *Counter {
	if key == nil {
		key = func(counter string) []any { return []any{"COUNT#" + counter} }
	}
	return &Counter{db: db, table: table, key: key, windows: map[string]*window{}}
}

const (
	// maxWindows is how many callers' windows a counter remembers, some 300 bytes each. It counts
	// the calls of further callers one by one.
	maxWindows = 10_000
	// sweepEvery is how often a counter forgets the windows that have ended.
	sweepEvery = time.Minute
)

// CountRequest counts a caller's call towards a limit, in the window of now. It returns a [*LimitedError] if earlier
// calls have reached the limit. The counter keeps a token of the last call, so that an attempt whose answer was lost
// counts once; it counts twice only if another call of the caller came between the two. Once the limit is reached, the
// counter refuses the caller's calls for a second without a request to DynamoDB.
func (c *Counter) CountRequest(ctx context.Context, limit schema.RateLimit, caller string, now time.Time) (State,
	error) {
	return c.count(ctx, limit, caller, now, false)
}

// CountRead is [Counter.CountRequest] for calls that change nothing. A process counts them in steps, some before and as
// many after they were made, with one write for each step. All processes together count at most 5 % of the limit too
// much or too little, in any order of calls: so a caller can make at least 95 % and at most 105 % of the limit. A
// caller of one process can make exactly the limit. The more processes count a caller's calls, the smaller are their
// steps. Near the limit, and for a limit below 20, each step is one call. A write without an answer may count its step
// twice.
func (c *Counter) CountRead(ctx context.Context, limit schema.RateLimit, caller string, now time.Time) (State, error) {
	return c.count(ctx, limit, caller, now, aheadOf(limit.Requests) > 0)
}

// GiveBack gives back a call that was counted at now and is not made: the caller's next call to this process then needs
// no count. It makes no request to DynamoDB. The call stays counted if the process ends before the next one, or
// remembers 10,000 other callers.
func (c *Counter) GiveBack(limit schema.RateLimit, caller string, now time.Time) {
	counter, end := counterOf(limit, caller, now)
	if w := c.window(counter, end, now); w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.balance++
	}
}

// counterOf is the name of a caller's counter, and when its window ends.
func counterOf(limit schema.RateLimit, caller string, now time.Time) (string, time.Time) {
	start := now.Truncate(limit.Window)
	return fmt.Sprintf("%s#%s#%d", limit.Name, Digest(caller), start.Unix()), start.Add(limit.Window)
}

// Digest returns the SHA-256 of a caller in hexadecimal, as the key of what counts towards a limit. The counts outlive
// the caller's account: a caller who deletes the account and makes a new one has used as much as before, until the
// window of the limit ends.
func Digest(caller string) string {
	hash := sha256.Sum256([]byte(caller))
	return hex.EncodeToString(hash[:])
}

func (c *Counter) count(ctx context.Context, limit schema.RateLimit, caller string, now time.Time, steps bool) (State,
	error) {
	if c.items[limit.Name] != nil {
		return c.Along(limit, caller, now).Count(ctx)
	}
	counter, end := counterOf(limit, caller, now)
	state := State{Limit: limit.Requests, Reset: end}
	w := c.window(counter, end, now)
	if w == nil {
		w, steps = &window{}, false
	}
	if done, err := w.take(&state, now); done {
		return state, err
	}
	if steps {
		select {
		case w.turn <- struct{}{}:
			defer func() { <-w.turn }()
		case <-ctx.Done():
			return state, fmt.Errorf("count a request: %w", ctx.Err())
		}
		if done, err := w.take(&state, now); done {
			return state, err
		}
	}
	err := w.count(&state, now, steps, func(a addition) (counted, bool, error) {
		return c.write(ctx, counter, state, a)
	})
	return state, err
}

// window returns what is known of a counter; nil if no more are remembered.
func (c *Counter) window(counter string, end, now time.Time) *window {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.swept) >= sweepEvery {
		c.swept = now
		for name, w := range c.windows {
			if !now.Before(w.end) {
				delete(c.windows, name)
			}
		}
	}
	w := c.windows[counter]
	if w == nil && len(c.windows) < maxWindows {
		w = &window{turn: make(chan struct{}, 1), end: end}
		c.windows[counter] = w
	}
	return w
}

// write makes an addition to a counter, and returns what the table counts then; took is false if the table refused it.
func (c *Counter) write(ctx context.Context, counter string, state State, a addition) (table counted, took bool,
	err error) {
	timeToLive, err := c.db.TimeToLive(c.table)
	if err != nil {
		return table, false, fmt.Errorf("count a request: %w", err)
	}
	token := rand.Text()
	within := dynamo.Name("requests").LessThanEqual(expression.Value(a.most)).And(
		dynamo.Name("last_request").NotEqual(expression.Value(token)))
	if a.ahead > 0 {
		within = within.And(dynamo.Name("ahead").LessThanEqual(expression.Value(aheadOf(state.Limit) - a.ahead)))
	}
	err = c.db.Update(ctx, schema.CountRequest, c.key(counter),
		expression.Add(dynamo.Name("requests"), expression.Value(a.requests)).
			Add(dynamo.Name("ahead"), expression.Value(a.ahead)).
			Add(dynamo.Name("instances"), expression.Value(a.instances)).
			Set(dynamo.Name("last_request"), expression.Value(token)).
			Set(dynamo.Name(timeToLive), expression.Value(dynamo.ExpiryAt(state.Reset))),
		dynamo.Absent("requests").Or(within), &table)
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		if err := attributevalue.UnmarshalMap(refused.Item, &table); err != nil {
			return table, false, fmt.Errorf("read the counter: %w", err)
		}
		// Its own token: this is a repeat, and the answer to the attempt that counted was lost.
		return table, table.Last == token, nil
	}
	return table, err == nil, err
}
