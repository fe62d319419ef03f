// Package worldtest gives tests a platform's tables on a real engine, with a clock, faults and claims on idempotency
// keys.
package worldtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/dynamo/dynamotest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/idempotency"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/schema"
)

// World is the tables of a platform, empty and for one test alone, and a clock that moves when the test says so.
type World struct {
	*dynamotest.Tables
	Platform schema.Platform
	// IdempotencyKeys make the claims of [World.Claim]. Set it before.
	IdempotencyKeys *idempotency.Keys

	mutex sync.Mutex
	now   time.Time
	left  int // faults that no request has met
}

// New returns a world at a moment.
func New(t testing.TB, platform schema.Platform, now time.Time) *World {
	t.Helper()
	return &World{Tables: dynamotest.Open(t, platform.Database), Platform: platform, now: now}
}

// Now returns the clock's time.
func (w *World) Now() time.Time {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.now
}

// Advance moves the clock.
func (w *World) Advance(by time.Duration) { w.MoveTo(w.Now().Add(by)) }

// MoveTo sets the clock.
func (w *World) MoveTo(now time.Time) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.now = now
}

// As returns the tables with the access patterns of a function.
func (w *World) As(t testing.TB, function string) *dynamo.DB {
	t.Helper()
	return must.Get(w.DB.As(w.Platform, function))(t)
}

// Beside is [World.As] for another process: its requests meet no fault, and are not recorded.
func (w *World) Beside(t testing.TB, function string) *dynamo.DB {
	t.Helper()
	return must.Get(dynamotest.Through(t, w.Client, w.Platform.Database).As(w.Platform, function))(t)
}

// Items returns all items of a table.
func (w *World) Items(t testing.TB, table string) []map[string]any {
	t.Helper()
	return dynamotest.All[map[string]any](t, w.Tables, table)
}

// leaving is a context whose deadline is always that far away.
type leaving struct {
	context.Context
	left time.Duration
}

func (l leaving) Deadline() (time.Time, bool) { return time.Now().Add(l.left), true }

// Leaving returns a context whose deadline is always that far away, and never there, however slow the machine is. Long
// work has to stop when 2 seconds are left.
func Leaving(ctx context.Context, left time.Duration) context.Context { return leaving{ctx, left} }

// ErrKilled is the error of a request whose process is dead.
var ErrKilled = errors.New("the process is dead")

// Kill ends the process after n requests: all later ones fail. With lost, the engine carries out the one after them,
// and only its answer fails.
func (w *World) Kill(n int, lost bool) {
	var made atomic.Int64
	w.setLeft(1)
	count := func(schema.Action) error {
		if int(made.Add(1)) > n {
			w.setLeft(0)
			return ErrKilled
		}
		return nil
	}
	if lost {
		w.Recorder.Faults(nil, count)
	} else {
		w.Recorder.Faults(count, nil)
	}
}

// After runs a function once, when n requests are answered. No fault of the world concerns what it does.
func (w *World) After(n int, do func()) {
	var made atomic.Int64
	w.setLeft(1)
	w.Recorder.Faults(nil, func(schema.Action) error {
		if int(made.Add(1)) == n {
			w.Recorder.Faults(nil, nil)
			w.setLeft(0)
			do()
		}
		return nil
	})
}

// Meanwhile runs the functions, each before one transaction, in their order.
func (w *World) Meanwhile(do ...func()) {
	var made atomic.Int64
	w.Recorder.Faults(func(action schema.Action) error {
		if action == schema.TransactWriteItems {
			if n := int(made.Add(1)); n <= len(do) {
				do[n-1]()
			}
		}
		return nil
	}, nil)
}

// Cancel has the engine cancel the next n transactions, for a reason at their first write.
func (w *World) Cancel(n int, reason string) {
	w.refuse(n, dynamotest.Canceled(reason), func(action schema.Action) bool {
		return action == schema.TransactWriteItems
	})
}

// refuse gives the next n attempts, of the actions that meet it, this answer.
func (w *World) refuse(n int, answer dynamotest.Answer, meets func(schema.Action) bool) {
	w.setLeft(n)
	w.Wire.Answers(func(operation string) dynamotest.Answer {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		if w.left == 0 || !meets(schema.Action(operation)) {
			return dynamotest.Answer{}
		}
		w.left--
		return answer
	})
}

// setLeft sets how many faults no request has met, and returns how many these were.
func (w *World) setLeft(n int) (before int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	before, w.left = w.left, n
	return before
}

// Fault has n requests meet a fault, and reports whether there is one of this name: "throttled", the engine refuses the
// next attempts for load; "conflict", another transaction cancels the next ones; "lost", the answers to the next writes
// are lost; "killed", the process dies after n requests.
func (w *World) Fault(name string, n int) bool {
	switch name {
	case "throttled":
		w.refuse(n, dynamotest.Throttled(), func(schema.Action) bool { return true })
	case "conflict":
		w.Cancel(n, "TransactionConflict")
	case "lost":
		w.refuse(n, dynamotest.Answer{Done: true, Err: io.ErrUnexpectedEOF}, func(action schema.Action) bool {
			return action != schema.GetItem && action != schema.Query
		})
	case "killed":
		w.Kill(n, false)
	default:
		return false
	}
	return true
}

// Heal ends all faults, and returns how many of the last [World.Fault] no request has met.
func (w *World) Heal() (left int) {
	w.Wire.Answers(nil)
	w.Recorder.Faults(nil, nil)
	return w.setLeft(0)
}

// Claim begins a request with a key. The context's first write keeps an answer to it: the type of its result.
func (w *World) Claim(t testing.TB, ctx context.Context, scope, key string) (context.Context, *idempotency.Claim) {
	t.Helper()
	claim, replay, err := w.IdempotencyKeys.Begin(t.Context(), scope, key, []byte("request "+key), time.Minute)
	if err != nil || claim == nil {
		t.Fatalf("claim: %v, %v", replay, err)
	}
	return idempotency.WithClaim(ctx, claim, func(result any) (idempotency.Response, error) {
		return idempotency.Response{Status: 200, Body: fmt.Appendf(nil, "%T", result)}, nil
	}), claim
}

// Kept returns the answer that a key keeps: "running" while its request holds the claim, and "" if there is none.
func (w *World) Kept(t testing.TB, scope, key string) string {
	t.Helper()
	claim, replay, err := w.IdempotencyKeys.Begin(t.Context(), scope, key, []byte("request "+key), time.Minute)
	if _, running := errors.AsType[*idempotency.RunningError](err); running {
		return "running"
	} else if err != nil {
		t.Fatal(err)
	} else if claim != nil {
		return ""
	}
	return string(replay.Body)
}
