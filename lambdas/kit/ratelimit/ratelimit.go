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
	"sync"
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

// Counter counts calls in a table. It is safe for concurrent use. Use one for the life of the
// process: it remembers what it has reserved, and which limits callers have reached.
type Counter struct {
	db    *dynamo.DB
	table string
	key   func(counter string) []any

	mu      sync.Mutex
	windows map[string]*window
	swept   time.Time
}

// New returns the counter in a table with schema.RateLimitPatterns. key gives the primary
// key, partition key first, of a counter by its name, which has at most 120 bytes if the
// names of limits have 40. Nil: the table has a partition key alone, a String, which then
// begins with COUNT#.
func New(db *dynamo.DB, table string, key func(counter string) []any) *Counter {
	if key == nil {
		key = func(counter string) []any { return []any{"COUNT#" + counter} }
	}
	return &Counter{db: db, table: table, key: key, windows: map[string]*window{}}
}

const (
	// stepsOfLimit is how many steps a limit has: what one instance reserves is at most 5 % of it.
	stepsOfLimit = 20
	// mostWindows is how many callers' windows a counter remembers, some 300 bytes each. It counts
	// the calls of further callers one by one.
	mostWindows = 10_000
	// sweepEvery is how often a counter forgets the windows that have ended.
	sweepEvery = time.Minute
	// refuseFor is how long a counter refuses a caller before it looks again.
	refuseFor = time.Second
)

// window is what an instance knows of one caller's window of a limit.
type window struct {
	// turn has room for one call that writes, so that others wait for what it reserves.
	turn chan struct{}
	end  time.Time

	mu      sync.Mutex
	left    int // calls that are counted in the table and have not been made
	counted int // calls that the table counts, at the last write
	// reached is when the table last counted as many calls as the limit allows.
	reached time.Time
}

// CountRequest counts a call of a caller towards a limit, in the window in which now
// lies. It returns a [*LimitedError] when the limit was reached before it. The counter
// keeps a token of the last call, so that an attempt whose answer was lost counts once; it
// counts twice only if another call of the same caller was counted between the two. Once the
// limit is reached, it refuses the caller's calls for a second without a request to DynamoDB.
func (c *Counter) CountRequest(ctx context.Context, limit schema.RateLimit, caller string, now time.Time) (State, error) {
	return c.count(ctx, limit, caller, now, 1)
}

// CountRead is [Counter.CountRequest] for calls that change nothing. It counts them in steps of a twentieth of the limit, one
// write each: the write reserves the calls, and the next calls of the caller to this process need none. So
// no caller ever makes more calls than the limit allows. What a process has reserved when it ends is lost to the caller: less than 5 % of the limit.
// The step is one call for a limit below 40, and near the end of a limit at most a quarter of what is left, so that
// several processes share it.
func (c *Counter) CountRead(ctx context.Context, limit schema.RateLimit, caller string, now time.Time) (State, error) {
	return c.count(ctx, limit, caller, now, max(1, limit.Requests/stepsOfLimit))
}

// GiveBack gives a call back that was counted at now and is not made: the caller's next call to this process
// needs no count. It makes no request to DynamoDB. The call stays counted if the process ends before the next one, or
// remembers 10,000 other callers.
func (c *Counter) GiveBack(limit schema.RateLimit, caller string, now time.Time) {
	counter, end := counterOf(limit, caller, now)
	if w := c.window(counter, end, now); w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.left++
	}
}

// counterOf is the name of a caller's counter, and when its window ends.
func counterOf(limit schema.RateLimit, caller string, now time.Time) (string, time.Time) {
	start := now.Truncate(limit.Window)
	hash := sha256.Sum256([]byte(caller))
	return fmt.Sprintf("%s#%s#%d", limit.Name, hex.EncodeToString(hash[:]), start.Unix()), start.Add(limit.Window)
}

func (c *Counter) count(ctx context.Context, limit schema.RateLimit, caller string, now time.Time, step int) (State, error) {
	counter, end := counterOf(limit, caller, now)
	state := State{Limit: limit.Requests, Reset: end}
	w := c.window(counter, state.Reset, now)
	if w == nil {
		counted, err := c.reserve(ctx, counter, state, 1)
		state.Remaining = limit.Requests - counted
		return state, err
	}
	if done, err := w.take(&state, now); done {
		return state, err
	}
	if step > 1 {
		select {
		case w.turn <- struct{}{}:
			defer func() { <-w.turn }()
		case <-ctx.Done():
			return state, fmt.Errorf("count a request: %w", ctx.Err())
		}
		if done, err := w.take(&state, now); done {
			return state, err
		}
		step = w.step(step, limit.Requests)
	}
	counted, err := c.reserve(ctx, counter, state, step)
	if limited, ok := errors.AsType[*LimitedError](err); ok && limited.Remaining > 0 {
		// Other instances have reserved since: less than a step is left.
		step = 1
		counted, err = c.reserve(ctx, counter, state, step)
	}
	return w.counts(state, counted, step, now, err)
}

// window returns what is known of a counter; nil if there is no room to remember it.
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
	if w == nil && len(c.windows) < mostWindows {
		w = &window{turn: make(chan struct{}, 1), end: end}
		c.windows[counter] = w
	}
	return w
}

// take makes a call that was reserved, or refuses one, if the window knows enough for that.
func (w *window) take(state *State, now time.Time) (done bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left > 0 {
		w.left--
		state.Remaining = state.Limit - w.counted + w.left
		return true, nil
	}
	if now.Before(w.reached.Add(refuseFor)) {
		return true, &LimitedError{*state}
	}
	return false, nil
}

// step is how many calls to reserve next, of at most most.
func (w *window) step(most, limit int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(1, min(most, (limit-w.counted)/4))
}

// counts remembers the outcome of a write that reserved calls, and makes the first of them.
func (w *window) counts(state State, counted, step int, now time.Time, err error) (State, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if limited, ok := errors.AsType[*LimitedError](err); ok {
		if limited.Remaining == 0 {
			w.reached = now
		}
		limited.Remaining = 0
		return limited.State, err
	}
	if err != nil {
		return state, err
	}
	state.Remaining = state.Limit - counted + step - 1
	w.left, w.counted = w.left+step-1, max(w.counted, counted)
	return state, nil
}

// reserve counts calls in the table, and returns how many it counts then. It returns a
// [*LimitedError], with the calls that are left, if these are fewer.
func (c *Counter) reserve(ctx context.Context, counter string, state State, calls int) (int, error) {
	timeToLive, err := c.db.TimeToLive(c.table)
	if err != nil {
		return 0, fmt.Errorf("count a request: %w", err)
	}
	token := rand.Text()
	var counted struct {
		Requests int    `dynamodbav:"requests"`
		Last     string `dynamodbav:"last_request"`
	}
	err = c.db.Update(ctx, schema.CountRequest, c.key(counter),
		expression.Add(dynamo.Name("requests"), expression.Value(calls)).
			Set(dynamo.Name("last_request"), expression.Value(token)).
			Set(dynamo.Name(timeToLive), expression.Value(dynamo.ExpiryAt(state.Reset))),
		dynamo.Absent("requests").Or(dynamo.Name("requests").LessThanEqual(expression.Value(state.Limit-calls)).
			And(dynamo.Name("last_request").NotEqual(expression.Value(token)))),
		&counted)
	if refused, ok := errors.AsType[*dynamo.ConditionError](err); ok {
		if err := attributevalue.UnmarshalMap(refused.Item, &counted); err != nil {
			return 0, fmt.Errorf("read the counter: %w", err)
		}
		if counted.Last != token {
			state.Remaining = max(0, state.Limit-counted.Requests)
			return 0, &LimitedError{state}
		}
		err = nil
	}
	return counted.Requests, err
}
