// Package retry is the one policy by which everything in a function retries: how often, after which
// pauses, and how many retries one invocation may make.
//
// A request that AWS refuses, or does not answer, has up to [Attempts] attempts, with [Delay] between. All requests of
// an invocation draw on one [Budget], which the context carries. When it is used up, the invocation fails with
// [ErrBusy] or [ErrUnanswered], and its caller may retry. So a caller soon learns that there is no answer, and an
// overloaded service gets no further load ("Timeouts, retries, and backoff with jitter", Amazon Builders' Library).
//
// [Do] repeats work that lost a race, with the same pauses.
package retry

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/schema/problem"
)

// The errors of a request that ends without a usable answer. [Do] reads and computes again after ErrStale.
var (
	ErrBusy       = problem.ErrBusy
	ErrUnanswered = problem.ErrUnanswered
	ErrStale      = problem.ErrStale
)

// ErrExhausted says that the invocation may make no further attempt.
var ErrExhausted = errors.New("the invocation has used up its budget of attempts")

const (
	// Attempts limits the attempts at one request.
	Attempts = 8
	// Rounds limits how often [Do] does work: more often than a caller's invocation has time for. In each round, one of
	// the conflicting attempts succeeds.
	Rounds = 60
	// The delay doubles from the first to the longest.
	firstDelay, longestDelay = 20 * time.Millisecond, 400 * time.Millisecond
)

// Delay returns the pause after an attempt, from 1: a random part of 20 ms, then of 40 ms, and so on, up to 400 ms.
// That is full jitter: attempts that met once spread over the whole pause.
func Delay(attempt int) time.Duration {
	longest := longestDelay
	if attempt < 6 {
		longest = min(longest, firstDelay<<max(attempt-1, 0))
	}
	return rand.N(longest) + 1
}

// Do repeats work while its error matches [ErrStale]. After [Rounds], or when the context ends, it gives up with an
// error that still matches.
func Do(ctx context.Context, work func() error) error {
	for round := 1; ; round++ {
		err := work()
		if !errors.Is(err, ErrStale) {
			return err
		}
		if round == Rounds {
			return fmt.Errorf("after %d attempts: %w", round, err)
		}
		if ended := Pause(ctx, Delay(round)); ended != nil {
			return fmt.Errorf("after %d attempts: %w (%w)", round, err, ended)
		}
	}
}

// Rest waits before the rest of a request that AWS carried out in part. The round, from 1, draws on the budget of the
// context like a refused attempt. Rest returns [ErrBusy] after [Attempts] rounds, [ErrExhausted], or the error of the
// context.
func Rest(ctx context.Context, round int) error {
	if round >= Attempts {
		return ErrBusy
	}
	budget := BudgetFrom(ctx)
	end, err := budget.Begin()
	if err != nil {
		return err
	}
	end(Refused)
	if err := budget.Again(); err != nil {
		return err
	}
	return Pause(ctx, Delay(round))
}

// Pause waits. It returns the error of a context that ends first.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Outcome is how an attempt ended.
type Outcome int

// The outcomes.
const (
	// Answered: AWS carried the request out, or said why it never will.
	Answered Outcome = iota
	// Refused: AWS did not carry it out, for load or contention.
	Refused
	// Unanswered: its time was over, the connection broke, or AWS failed. AWS may have
	// carried it out.
	Unanswered
	// Abandoned: its caller no longer waits for it.
	Abandoned
)

// The tokens that attempts cost and give, as in the SDK's own retry quota: five for
// one that failed, one back for each that was answered. So a long run goes on as long
// as fewer than one attempt in six fails.
const (
	cost = 5
	gain = 1
)

// How many failed attempts invocations may make.
const (
	// ForCaller is for an invocation that a caller waits for. Under sustained throttling it makes
	// no more requests than this and [ForRelease] together.
	ForCaller = 11
	// ForBatch is for an invocation whose batch or run is retried, and which makes up to 16
	// requests at once.
	ForBatch = 40
	// ForRelease is for releasing what a failed request has claimed.
	ForRelease = 3
)

// Budget is how many attempts may still fail. A nil budget has no limit. It is safe for concurrent use.
type Budget struct {
	mu      sync.Mutex
	most    int // tokens
	left    int
	running int // attempts
}

// NewBudget returns a budget of that many failed attempts.
func NewBudget(failed int) *Budget {
	return &Budget{most: failed * cost, left: failed * cost}
}

// Begin begins an attempt; call end when it is over. Begin returns [ErrExhausted] if the budget is used up.
func (b *Budget) Begin() (end func(Outcome), err error) {
	if b == nil {
		return func(Outcome) {}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left <= 0 {
		return nil, ErrExhausted
	}
	b.running++
	return b.end, nil
}

func (b *Budget) end(outcome Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running--
	switch outcome {
	case Answered:
		b.left = min(b.left+gain, b.most)
	case Refused, Unanswered:
		b.left -= cost
	}
}

// Again returns [ErrExhausted] unless the budget allows to repeat a request: it must suffice even if the repeat and all
// attempts under way fail.
func (b *Budget) Again() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left < cost*(b.running+1) {
		return ErrExhausted
	}
	return nil
}

type budgetKey struct{}

// WithBudget returns a context whose requests draw on the budget.
func WithBudget(ctx context.Context, budget *Budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, budget)
}

// BudgetFrom returns the budget of the context, or nil.
func BudgetFrom(ctx context.Context) *Budget {
	budget, _ := ctx.Value(budgetKey{}).(*Budget)
	return budget
}

// ToRelease returns a context for releasing what a failed request has claimed. It ends at end, even if ctx ends before,
// and has its own budget.
func ToRelease(ctx context.Context, end time.Time) (context.Context, context.CancelFunc) {
	ctx = WithBudget(context.WithoutCancel(ctx), NewBudget(ForRelease))
	return context.WithDeadline(ctx, end)
}
