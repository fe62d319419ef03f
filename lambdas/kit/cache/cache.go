// Package cache keeps values that a function reads often and that rarely change.
package cache

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

const (
	// rest is how long a [Cache] answers with an old value after a read that AWS refused or did not
	// answer.
	rest = 5 * time.Second
	// read is how long one read may take, also if its callers have less time.
	read = 5 * time.Second
)

// Cache answers from memory. Concurrent calls for the same key share one read. While AWS refuses reads or does not
// answer them, a cache answers with what it read last, however old. If it has read nothing yet, it returns the error of
// the read: ErrBusy or ErrUnanswered of package retry.
//
// Set the fields before the first use. A cache is safe for concurrent use.
type Cache[V any] struct {
	// Age is how long the cache answers with a value before it reads again.
	Age time.Duration
	// Max limits the number of values in the cache. It drops those that it read longest ago.
	Max int
	// Gone is the error of a read of a value that no longer exists: the cache then drops the value. Nil: no error drops
	// one.
	Gone  error
	Clock wire.Clock

	reads singleflight.Group
	mu    sync.Mutex
	kept  map[string]*entry[V]
}

// entry is what was read for a key, until a moment without question.
type entry[V any] struct {
	value V
	until time.Time
}

// Get returns the value in the cache, or calls load to read it. The context of load does not end with ctx, since all
// callers who wait for the key share the read. Callers share the value, and must not change it.
func (c *Cache[V]) Get(ctx context.Context, key string, load func(context.Context) (V, error)) (none V, err error) {
	if kept, ok := c.fresh(key); ok {
		return kept, nil
	}
	// The read serves all who wait for it, so it does not end with the request of the first.
	result := c.reads.DoChan(key, func() (any, error) {
		if kept, ok := c.fresh(key); ok {
			return kept, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), read)
		defer cancel()
		found, err := load(ctx)
		return c.settle(key, found, err)
	})
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case r := <-result:
		if r.Err != nil {
			return none, r.Err
		}
		return r.Val.(V), nil
	}
}

func (c *Cache[V]) fresh(key string) (none V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, ok := c.kept[key]
	if !ok || !c.Clock.Now().Before(kept.until) {
		return none, false
	}
	return kept.value, true
}

// settle keeps what a read returned, and answers with it or with what was kept before.
func (c *Cache[V]) settle(key string, found V, err error) (V, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, known := c.kept[key]
	switch {
	case err == nil:
		c.store(key, &entry[V]{found, c.Clock.Now().Add(c.Age)})
	case known && (errors.Is(err, retry.ErrBusy) || errors.Is(err, retry.ErrUnanswered) ||
		errors.Is(err, context.DeadlineExceeded)):
		before.until = c.Clock.Now().Add(rest)
		return before.value, nil
	case c.Gone != nil && errors.Is(err, c.Gone):
		delete(c.kept, key)
	}
	return found, err
}

// store stores an entry in place of the oldest if there are too many.
func (c *Cache[V]) store(key string, e *entry[V]) {
	if c.kept == nil {
		c.kept = map[string]*entry[V]{}
	}
	if _, known := c.kept[key]; !known && len(c.kept) >= c.Max {
		oldest := key
		for k, kept := range c.kept {
			if oldest == key || kept.until.Before(c.kept[oldest].until) {
				oldest = k
			}
		}
		delete(c.kept, oldest)
	}
	c.kept[key] = e
}
