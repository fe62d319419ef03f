package kit

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Work calls work for each item, for up to parallel items at once. It stops early, with unfinished true, when less than
// least is left until the context's deadline. work returns the counter that Work increments for the item, or nil.
//
// A failed item does not stop the others. The error joins the errors of all items. An error of items ends Work.
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
