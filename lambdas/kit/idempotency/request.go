package idempotency

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
	"github.com/onesynth-cdk/onesynth/schema/wire"
)

// Claims are the keys that [Request.Do] needs. [*Keys] implements it.
type Claims interface {
	// Begin is [Keys.Begin].
	Begin(ctx context.Context, scope, key string, request []byte, lease time.Duration) (*Claim, *Response, error)
	// Settle is [Keys.Settle].
	Settle(ctx context.Context, claim *Claim, response Response) error
	// Release is [Keys.Release].
	Release(ctx context.Context, claim *Claim) error
}

// Timing says when a request claims its key. In every mode, nothing is written before the claim is held.
type Timing int

const (
	// BeforeWork claims the key, and then begins the work.
	BeforeWork Timing = iota
	// WithWrite claims the key with the work's first write: [Claiming] with its transaction, [Transact] and
	// [Keys.Settle] together with the answer, any other write by a write before it. Until then the request does not
	// count as running: two attempts at the same time both do the work, and one commits. If the work fails before its
	// first write, without a final answer, the key is read once: a request that has been carried out before is answered
	// with that answer. The database has schema.ReadIdempotency.
	WithWrite
)

// Request is a request to carry out once, however often it is sent.
type Request struct {
	// Keys remember requests.
	Keys Claims
	// Scope identifies the owner of the key, and Key is the key. A request without a key is carried out each time, and
	// needs no Keys.
	Scope, Key string
	// Content identifies the request: a repeat has the same.
	Content []byte
	// Wait is how long an attempt waits for another one that is running. Zero: it does not wait.
	Wait time.Duration
	// Clock is the clock by which Wait ends. Nil: [time.Now].
	Clock wire.Clock
	// Claim says when the attempt claims the key. Except with [BeforeWork], no attempt waits, and all that the work
	// does before its first write must be safe to do twice.
	Claim Timing
	// Answer makes the answer from the result of the work. A store that keeps answers with
	// its work passes the same result to [Transact].
	Answer func(result any) (Response, error)
	// Refusal returns the answer to an error of the work. final says that a repeat would meet the same error: the key
	// then keeps the answer. Nil: keys keep no answers to errors.
	Refusal func(err error) (response Response, final bool)
	// Log receives what callers need not know. Nil: [slog.Default].
	Log *slog.Logger
}

// The intervals at which an attempt looks whether another one is done.
const (
	firstInterval = 10 * time.Millisecond
	lastInterval  = 200 * time.Millisecond
)

// Do carries the request out, or returns its earlier answer. It returns the errors of [Keys.Begin], and the errors of
// the work without a final answer; the next attempt then does the work.
func (r Request) Do(ctx context.Context, work func(context.Context) (result any, err error)) (response Response,
	replayed bool, err error) {
	if r.Key == "" {
		result, err := work(ctx)
		if err != nil {
			return Response{}, false, err
		}
		response, err := r.Answer(result)
		return response, false, err
	}
	if r.Keys == nil {
		return Response{}, false, errors.New("a request has an idempotency key, and there is nothing to remember it")
	}
	claim, replay, err := r.claim(ctx)
	if err != nil {
		return Response{}, false, err
	}
	if replay != nil {
		return *replay, true, nil
	}
	working := dynamo.BeforeWrites(WithClaim(ctx, claim, r.Answer), acquire)
	result, err := work(working)
	if kept, ok := claim.Kept(); ok && err == nil {
		return kept, false, nil
	}
	if errors.Is(err, ErrClaimLost) && (claim.replay != nil || claim.refused != nil) {
		return claim.found()
	}
	// Nothing was kept: the work failed, there was nothing to do, or the store keeps no answers.
	final := false
	switch {
	case err == nil:
		response, err = r.Answer(result)
		final = err == nil
	case r.Refusal != nil:
		response, final = r.Refusal(err)
	}
	if !final {
		if claim.look(ctx); claim.replay != nil || claim.refused != nil {
			return claim.found()
		}
		r.release(ctx, claim)
		return Response{}, false, err
	}
	switch err := r.Keys.Settle(ctx, claim, response); {
	case errors.Is(err, ErrClaimLost) && (claim.replay != nil || claim.refused != nil):
		return claim.found()
	case errors.Is(err, ErrClaimLost):
		return Response{}, false, err
	case err != nil:
		// The answer is correct: the next attempt would find the same.
		r.log().WarnContext(ctx, "an answer was not kept", "error", err.Error())
		r.release(ctx, claim)
	}
	return response, false, nil
}

// found returns what a deferred claim found instead of a free key.
func (c *Claim) found() (response Response, replayed bool, err error) {
	if c.replay == nil {
		return Response{}, false, c.refused
	}
	return *c.replay, true, nil
}

// claim claims the key. While another attempt is running, it waits, for no longer than
// Wait.
func (r Request) claim(ctx context.Context) (*Claim, *Response, error) {
	if r.Claim != BeforeWork {
		return r.Keys.Begin(ctx, r.Scope, r.Key, r.Content, Deferred)
	}
	end := r.Clock.Now().Add(r.Wait)
	for interval := firstInterval; ; interval = min(2*interval, lastInterval) {
		claim, replay, err := r.Keys.Begin(ctx, r.Scope, r.Key, r.Content, 0)
		if _, running := errors.AsType[*RunningError](err); !running || r.Clock.Now().Add(interval).After(end) {
			return claim, replay, err
		}
		if retry.Pause(ctx, interval) != nil {
			return nil, nil, err
		}
	}
}

// release lets the next attempt carry the request out at once.
func (r Request) release(ctx context.Context, claim *Claim) {
	if err := r.Keys.Release(ctx, claim); err != nil {
		r.log().WarnContext(ctx, "an idempotency key was not released: until its lease ends the request counts as "+
			"running", "error", err.Error())
	}
}

func (r Request) log() *slog.Logger { return cmp.Or(r.Log, slog.Default()) }
