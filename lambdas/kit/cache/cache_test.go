package cache_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/cache"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

var errGone = errors.New("gone")

// shelf is what a cache reads: each read takes a second, and fails with err.
type shelf struct {
	mu    sync.Mutex
	gone  map[string]bool
	err   error
	reads int
}

func (s *shelf) read(ctx context.Context, key string) (string, error) {
	if err := retry.Pause(ctx, time.Second); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.gone[key] {
		return "", errGone
	}
	return "the " + key, s.err
}

// made counts the reads since it was called last.
func (s *shelf) made() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, s.reads = s.reads, 0
	return n
}

// cached runs a test with a cache that keeps 200 values for a minute.
func cached(t *testing.T, test func(t *testing.T, s *shelf, get func(ctx context.Context, key string) error)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, kept := &shelf{gone: map[string]bool{}}, &cache.Cache[string]{Age: time.Minute, Max: 200, Gone: errGone}
		test(t, s, func(ctx context.Context, key string) error {
			got, err := kept.Get(ctx, key, func(ctx context.Context) (string, error) { return s.read(ctx, key) })
			if err == nil && got != "the "+key {
				t.Errorf("%s: got %q", key, got)
			}
			return err
		})
	})
}

// What is gone is no longer kept.
func TestCacheForgetsWhatIsGone(t *testing.T) {
	cached(t, func(t *testing.T, s *shelf, get func(context.Context, string) error) {
		must.OK(t, get(t.Context(), "a"))
		s.gone["a"] = true
		time.Sleep(time.Minute)
		if err := get(t.Context(), "a"); !errors.Is(err, errGone) {
			t.Errorf("got %v, want %v", err, errGone)
		}
		s.gone["a"], s.err = false, retry.ErrBusy
		if err := get(t.Context(), "a"); !errors.Is(err, retry.ErrBusy) {
			t.Errorf("then: got %v, want %v", err, retry.ErrBusy)
		}
	})
}

// Concurrent callers share a read, and it goes on when the first of them leaves.
func TestCacheSharesReads(t *testing.T) {
	cached(t, func(t *testing.T, s *shelf, get func(context.Context, string) error) {
		first, leave := context.WithCancel(t.Context())
		var callers sync.WaitGroup
		callers.Go(func() {
			if err := get(first, "a"); !errors.Is(err, context.Canceled) {
				t.Errorf("the first caller: got %v", err)
			}
		})
		synctest.Wait()
		for range 50 {
			callers.Go(func() {
				if err := get(t.Context(), "a"); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		leave()
		callers.Wait()
		if reads := s.made(); reads != 1 {
			t.Errorf("got %d reads, want 1", reads)
		}
	})
}

// Under full throttling a cache answers with what it has, and asks again every five seconds; what it does not have is
// the error of the read.
func TestCacheThrottled(t *testing.T) {
	for name, failure := range map[string]error{"Busy": retry.ErrBusy, "Unanswered": retry.ErrUnanswered,
		"TimedOut": context.DeadlineExceeded} {
		t.Run(name, func(t *testing.T) {
			cached(t, func(t *testing.T, s *shelf, get func(context.Context, string) error) {
				must.OK(t, get(t.Context(), "a"))
				s.err = fmt.Errorf("read: %w", failure)
				time.Sleep(time.Hour)
				s.made()
				for range 10 {
					if err := get(t.Context(), "a"); err != nil {
						t.Errorf("with a value kept: %v", err)
					}
				}
				if reads := s.made(); reads != 1 {
					t.Errorf("got %d reads at one time, want 1", reads)
				}
				time.Sleep(5 * time.Second)
				if err := get(t.Context(), "a"); err != nil || s.made() != 1 {
					t.Errorf("five seconds later: %v, or not 1 read", err)
				}
				if err := get(t.Context(), "b"); !errors.Is(err, failure) {
					t.Errorf("without a value: got %v, want %v", err, failure)
				}
				s.err = errors.New("denied")
				time.Sleep(5 * time.Second)
				if err := get(t.Context(), "a"); !errors.Is(err, s.err) {
					t.Errorf("another error: got %v", err)
				}
			})
		})
	}
}

// A read that hangs ends, so that its callers get an answer.
func TestCacheReadEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := new(cache.Cache[string]).Get(t.Context(), "a", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 5*time.Second {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
	})
}

// A cache keeps so many values, the latest, and none that is gone.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	now, reads := time.Unix(0, 0), 0
	kept := &cache.Cache[int]{Age: time.Hour, Max: 200, Gone: errGone, Clock: func() time.Time { return now }}
	get := func(from, to int) int {
		reads = 0
		for key := from; key < to; key++ {
			now = now.Add(time.Millisecond)
			if _, err := kept.Get(t.Context(), fmt.Sprint(key), func(context.Context) (int, error) {
				reads++
				if key < 0 {
					return 0, errGone
				}
				return key, nil
			}); err != nil && key >= 0 {
				t.Fatal(err)
			}
		}
		return reads
	}
	for _, step := range []struct{ from, to, want int }{
		{0, 200, 200},
		{-201, 0, 201}, {-1, 0, 1}, // none of them is kept
		{0, 200, 0},                           // and none displaced another
		{200, 201, 1}, {1, 201, 0}, {0, 1, 1}, // one more displaces the oldest
	} {
		if got := get(step.from, step.to); got != step.want {
			t.Errorf("%d to %d: got %d reads, want %d", step.from, step.to, got, step.want)
		}
	}
}
