package kit

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Work calls work for each item, that many in parallel, until no item is left, or until the context ends in less than
// least: then it is unfinished. work returns the counter to which Work adds the item, or nil, as when it fails.
//
// A failed item does not keep Work from the others; the error joins those of all items. An error of the list ends Work.
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
