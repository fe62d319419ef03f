package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

func TestDelay(t *testing.T) {
	t.Parallel()
	for attempt := range 40 {
		most := min(20*time.Millisecond<<max(attempt-1, 0), 400*time.Millisecond)
		var shortest, longest time.Duration = time.Hour, 0
		for range 400 {
			delay := retry.Delay(attempt)
			shortest, longest = min(shortest, delay), max(longest, delay)
		}
		// Full jitter: any part of the delay.
		if shortest <= 0 || longest > most || shortest > most/4 || longest < most*3/4 {
			t.Errorf("attempt %d: got %v to %v; want up to %v", attempt, shortest, longest, most)
		}
	}
}

func TestDo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fails int // rounds
		with  error
		most  time.Duration // of the context
		// want is the error, and rounds how often the work is done; 0: not said.
		want   error
		rounds int
	}{
		"OK":             {0, nil, 0, nil, 1},
		"OKAfterRounds":  {5, fmt.Errorf("stored: %w", retry.ErrStale), 0, nil, 6},
		"ErrOther":       {1, context.Canceled, 0, context.Canceled, 1},
		"ErrEveryRound":  {1 << 40, retry.ErrStale, 0, retry.ErrStale, retry.Rounds},
		"ErrContextEnds": {1 << 40, retry.ErrStale, time.Second, context.DeadlineExceeded, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.most > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, test.most)
					defer cancel()
				}
				began, rounds := time.Now(), 0
				err := retry.Do(ctx, func() error {
					if rounds++; rounds <= test.fails {
						return test.with
					}
					return nil
				})
				if !errors.Is(err, test.want) || test.rounds != 0 && rounds != test.rounds {
					t.Errorf("got %v after %d rounds", err, rounds)
				}
				if test.most > 0 && (!errors.Is(err, retry.ErrStale) || time.Since(began) != test.most) {
					t.Errorf("got %v after %v; want the last error, too, after %v", err, time.Since(began), test.most)
				}
			})
		})
	}
}

// attempts makes so many attempts with the outcome, one after the other, as long as
// the budget lets it, and returns how many it made.
func attempts(b *retry.Budget, most int, outcome retry.Outcome) int {
	for made := range most {
		if made > 0 && b.Again() != nil {
			return made
		}
		end, err := b.Begin()
		if err != nil {
			return made
		}
		end(outcome)
	}
	return most
}

func TestBudget(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		outcome retry.Outcome
		want    int
	}{
		"Answered":   {retry.Answered, 100},
		"Abandoned":  {retry.Abandoned, 100},
		"Refused":    {retry.Refused, retry.ForCaller},
		"Unanswered": {retry.Unanswered, retry.ForCaller},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := retry.NewBudget(retry.ForCaller)
			if got := attempts(b, 100, test.outcome); got != test.want {
				t.Errorf("got %d attempts; want %d", got, test.want)
			}
			if test.want == 100 {
				return
			}
			if _, err := b.Begin(); !errors.Is(err, retry.ErrExhausted) {
				t.Errorf("got %v of another request; want ErrExhausted", err)
			}
		})
	}
	t.Run("NoBudget", func(t *testing.T) {
		t.Parallel()
		if got := attempts(retry.BudgetFrom(t.Context()), 100, retry.Refused); got != 100 {
			t.Errorf("got %d attempts; want all", got)
		}
	})
	// Ten requests at once that are all refused are repeated as if they came one after
	// the other.
	t.Run("AtOnce", func(t *testing.T) {
		t.Parallel()
		b := retry.NewBudget(retry.ForCaller)
		made := 0
		var ends []func(retry.Outcome)
		begin := func() {
			end := must.Get(b.Begin())(t)
			made++
			ends = append(ends, end)
		}
		for range 10 {
			begin()
		}
		for len(ends) > 0 {
			ends[0](retry.Refused)
			ends = ends[1:]
			if b.Again() == nil {
				begin()
			}
		}
		if made != retry.ForCaller {
			t.Errorf("got %d attempts; want %d", made, retry.ForCaller)
		}
	})
	// As long as fewer than one attempt in six is refused there is no end.
	t.Run("Refill", func(t *testing.T) {
		t.Parallel()
		b := retry.NewBudget(retry.ForCaller)
		for n := range 10_000 {
			outcome := retry.Answered
			if n%6 == 0 {
				outcome = retry.Refused
			}
			if attempts(b, 1, outcome) != 1 || b.Again() != nil {
				t.Fatalf("there was nothing left after %d attempts", n)
			}
		}
		if got := attempts(b, 100, retry.Refused); got > retry.ForCaller {
			t.Errorf("got %d attempts; want at most %d, however many were answered before", got, retry.ForCaller)
		}
	})
}

// A failed request can release its claim even when its time and budget are over.
func TestToRelease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		spent := retry.NewBudget(1)
		attempts(spent, 1, retry.Refused)
		ctx, cancel := context.WithCancel(retry.WithBudget(t.Context(), spent))
		cancel()
		release, cancel := retry.ToRelease(ctx, time.Now().Add(time.Second))
		defer cancel()
		if release.Err() != nil {
			t.Error("it has ended with what it is to give back")
		}
		if got := attempts(retry.BudgetFrom(release), 100, retry.Refused); got != retry.ForRelease {
			t.Errorf("got %d attempts; want %d", got, retry.ForRelease)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if !errors.Is(release.Err(), context.DeadlineExceeded) {
			t.Errorf("got %v after its end", release.Err())
		}
	})
}
