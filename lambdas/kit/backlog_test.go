package kit_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit"
)

var errBroken, errList = errors.New("broken"), errors.New("the list broke")

// numbers are those below n, and then maybe an error.
func numbers(n int, last error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			if !yield(i, nil) {
				return
			}
		}
		if last != nil {
			yield(0, last)
		}
	}
}

// Items that fail do not keep Work from the others. It takes none for which there is no time.
func TestWork(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		items      int
		last       error
		time       time.Duration
		even, odd  int
		unfinished bool
	}{
		"OKNone":  {time: time.Minute},
		"OK":      {items: 10, time: time.Minute, even: 4, odd: 5},
		"List":    {items: 10, last: errList, time: time.Minute, even: 4, odd: 5},
		"NoTime":  {items: 10, time: 9 * time.Second, unfinished: true},
		"SomeFor": {items: 10, time: 11500 * time.Millisecond, even: 4, odd: 3, unfinished: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.time)
				defer cancel()
				var even, odd int
				var running, most atomic.Int64
				unfinished, err := kit.Work(ctx, numbers(test.items, test.last), 3, 10*time.Second,
					func(_ context.Context, i int) (*int, error) {
						most.Store(max(most.Load(), running.Add(1)))
						defer running.Add(-1)
						time.Sleep(time.Second)
						switch {
						case i == 8:
							return &even, errBroken
						case i%2 == 0:
							return &even, nil
						}
						return &odd, nil
					})
				if even != test.even || odd != test.odd || unfinished != test.unfinished || most.Load() > 3 {
					t.Errorf("got %d and %d, %v, %d at once", even, odd, unfinished, most.Load())
				}
				if errors.Is(err, errBroken) != (test.items > 8 && !test.unfinished) ||
					errors.Is(err, errList) != (test.last != nil) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}
