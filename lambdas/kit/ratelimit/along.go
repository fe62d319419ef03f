package ratelimit

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/schema"
)

// KeepIn stores the counters of a limit in items that the platform has for other reasons, one for each caller. key
// returns the key of a caller's item. A write to the item can then count a call, too ([Call.With]). Such a counter is
// exact, even for [Counter.CountRead]. Use KeepIn before the first call is counted.
func (c *Counter) KeepIn(limit string, key func(caller string) []any) {
	if c.items == nil {
		c.items = map[string]func(string) []any{}
	}
	c.items[limit] = key
}

// countedSince is the beginning of the window that an item's counter is of, in Unix seconds.
const countedSince = "counted_since"

// Call is a call to count once: by a write of its operation, or by a separate write. Nil is no call.
type Call struct {
	counter *Counter
	limit   schema.RateLimit
	key     []any
	token   string
	now     time.Time
	start   int64
	window  *window

	mu    sync.Mutex
	state State
	done  bool
	err   error
}

// Along returns a caller's call towards a limit of [Counter.KeepIn]. It is nil if the limit's counters have their own
// items.
func (c *Counter) Along(limit schema.RateLimit, caller string, now time.Time) *Call {
	key := c.items[limit.Name]
	if key == nil {
		return nil
	}
	counter, end := counterOf(limit, caller, now)
	w := cmp.Or(c.window(counter, end, now), &window{})
	return &Call{
		counter: c, limit: limit, key: key(caller), token: rand.Text(), now: now,
		start:  now.Truncate(limit.Window).Unix(),
		window: w, state: State{Limit: limit.Requests, Reset: end},
	}
}

type callKey struct{}

// WithCall returns a context whose operation may count its call.
func WithCall(ctx context.Context, call *Call) context.Context {
	return context.WithValue(ctx, callKey{}, call)
}

// CallFrom returns the call that the operation may count, or nil.
func CallFrom(ctx context.Context) *Call {
	call, _ := ctx.Value(callKey{}).(*Call)
	return call
}

// Counting is the part of a write that counts a call. The zero value counts no call.
type Counting struct {
	call *Call
	// begun says that the window has begun, as far as is known.
	begun bool
}

// Counts reports whether there is a call to count.
func (c Counting) Counts() bool { return c.call != nil }

// Update adds the count to an update of the caller's item. Each attempt needs a new update, because the SDK's builder
// keeps what it gets.
func (c Counting) Update(update expression.UpdateBuilder) expression.UpdateBuilder {
	if c.call == nil {
		return update
	}
	requests := dynamo.Name("requests")
	update = update.Set(dynamo.Name("last_request"), expression.Value(c.call.token))
	if c.begun {
		return update.Add(requests, expression.Value(1))
	}
	return update.Set(requests, expression.Value(1)).Set(dynamo.Name(countedSince), expression.Value(c.call.start))
}

// And adds its own condition to the condition of the write.
func (c Counting) And(condition expression.ConditionBuilder) expression.ConditionBuilder {
	if c.call == nil {
		return condition
	}
	since, start := dynamo.Name(countedSince), expression.Value(c.call.start)
	if c.begun {
		return condition.And(since.GreaterThanEqual(start),
			dynamo.Name("requests").LessThan(expression.Value(c.call.limit.Requests)),
			dynamo.Name("last_request").NotEqual(expression.Value(c.call.token)))
	}
	return condition.And(dynamo.Absent(countedSince).Or(since.LessThan(start)))
}

// With makes a write to the caller's item that counts the call. If the call has been counted, it makes the write
// unchanged. write returns how many requests the item then counts. With calls write again if the window has begun or
// ended without this process knowing. It returns the error of the write, or a [*LimitedError], with which nothing is
// written. After any other error the call is not counted, unless the answer to its write was lost.
func (c *Call) With(write func(Counting) (requests int, err error)) error {
	if c == nil {
		_, err := write(Counting{})
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		if c.err != nil {
			return c.err
		}
		_, err := write(Counting{})
		return err
	}
	if c.window.refuses(c.now) {
		return c.limited()
	}
	for begun := c.window.begun(); ; begun = !begun {
		requests, err := write(Counting{c, begun})
		refused, ok := errors.AsType[*dynamo.ConditionError](err)
		if err == nil {
			c.counted(requests)
		}
		if !ok {
			return err
		}
		var stored struct {
			Since    int64  `dynamodbav:"counted_since"`
			Requests int    `dynamodbav:"requests"`
			Last     string `dynamodbav:"last_request"`
		}
		if err := attributevalue.UnmarshalMap(refused.Item, &stored); err != nil {
			return fmt.Errorf("read the counter: %w", err)
		}
		switch has := stored.Since >= c.start; {
		case stored.Last == c.token:
			// The answer to an attempt was lost.
			c.counted(stored.Requests)
			return nil
		case has && stored.Requests >= c.limit.Requests:
			return c.limited()
		case has == begun:
			// The write has another condition.
			return err
		}
	}
}

// Count counts the call by a separate write, unless it has been counted. It returns a [*LimitedError] beyond the limit.
func (c *Call) Count(ctx context.Context) (State, error) {
	name, err := c.counter.db.TimeToLive(c.counter.table)
	if err != nil {
		return c.state, fmt.Errorf("count a request: %w", err)
	}
	// What the item is for may need it for longer than the window.
	timeToLive, end := dynamo.Name(name), dynamo.ExpiryAt(c.state.Reset)
	for ends := false; ; ends = !ends {
		var expires expression.OperandBuilder = timeToLive.IfNotExists(expression.Value(end))
		lasts := dynamo.Absent(name).Or(timeToLive.GreaterThanEqual(expression.Value(end)))
		if ends {
			expires, lasts = expression.Value(end), timeToLive.LessThan(expression.Value(end))
		}
		err := c.With(func(counting Counting) (int, error) {
			if !counting.Counts() {
				return 0, nil
			}
			var counted struct {
				Requests int `dynamodbav:"requests"`
			}
			err := c.counter.db.Update(ctx, schema.CountRequest, c.key,
				counting.Update(expression.Set(timeToLive, expires)), counting.And(lasts), &counted)
			return counted.Requests, err
		})
		refused, ok := errors.AsType[*dynamo.ConditionError](err)
		if !ok {
			return c.state, err
		}
		var was int64
		if err := attributevalue.Unmarshal(refused.Item[name], &was); err != nil {
			return c.state, fmt.Errorf("count a request: read %s: %w", name, err)
		}
		if sooner := refused.Item[name] != nil && was < end; sooner == ends {
			return c.state, fmt.Errorf("count a request: %w", err)
		}
	}
}

// counted notes that the call is counted. The caller holds the lock.
func (c *Call) counted(requests int) {
	c.done, c.state.Remaining = true, max(0, c.limit.Requests-requests)
	c.window.knows(requests, c.now, false)
}

// limited notes that the call is beyond the limit. The caller holds the lock.
func (c *Call) limited() error {
	c.done, c.err = true, &LimitedError{State: c.state}
	c.window.knows(c.limit.Requests, c.now, true)
	return c.err
}
