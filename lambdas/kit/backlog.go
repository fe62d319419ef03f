package kit

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Work does work on each item, so many in parallel, until none is left, or the context ends in less
// than least: then it is unfinished. work returns the counter to add the item to; nil: none, as if it
// fails.
//
// An item that fails does not keep Work from the others; the error has all of these. An error of the
// list ends it.
func Work[T any](ctx context.Context, items iter.Seq2[T, error], parallel int, least time.Duration,
	work func(context.Context, T) (counter *int, err error)) (unfinished bool, _ error) {
	var mu sync.Mutex
	var errs []error
	done := func(counter *int, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			errs = append(errs, err)
		} else if counter != nil {
			*counter++
		}
	}
	var group errgroup.Group
	group.SetLimit(parallel)
	for item, err := range items {
		if err != nil {
			done(nil, err)
			break
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < least {
			unfinished = true
			break
		}
		group.Go(func() error {
			done(work(ctx, item))
			return nil
		})
	}
	_ = group.Wait()
	return unfinished, errors.Join(errs...)
}
