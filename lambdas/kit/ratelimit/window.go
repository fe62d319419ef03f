package ratelimit

import (
	"sync"
	"time"
)

// refuseFor is how long a counter refuses a caller before it looks again.
const refuseFor = time.Second

// counted is what the table knows of one caller's window of a limit.
type counted struct {
	Requests  int    `dynamodbav:"requests"`
	Ahead     int    `dynamodbav:"ahead"`
	Instances int    `dynamodbav:"instances"`
	Last      string `dynamodbav:"last_request"`
}

// addition is a write to the table that counts a call.
type addition struct {
	requests, ahead, instances int
	// most is the highest count before it that allows the call.
	most int
}

// admits reports whether the table takes an addition. [Counter.write] says the same as a condition.
func (a addition) admits(table counted, limit int) bool {
	return table.Requests <= a.most && (a.ahead <= 0 || table.Ahead <= aheadOf(limit)-a.ahead)
}

// aheadOf is the most that the shares of all instances in a window may be together: 5 % of the limit.
func aheadOf(limit int) int { return limit / 20 }

// window is one instance's part of one caller's window of a limit.
//
// An instance has a share, of so many calls: it counts these ahead, makes them and as many more, and only then counts
// again. So the table is at most the sum of all shares ahead of the calls, or behind them, in any order of calls to any
// number of instances, and its condition keeps that sum within [aheadOf].
type window struct {
	// turn takes one read that writes, so that others wait for what it counts.
	turn chan struct{}
	end  time.Time

	mu    sync.Mutex
	table counted // as the table said last
	// joined says that the table counts the instance.
	joined bool
	// share is how far balance may be from zero.
	share int
	// balance is how many calls are counted and not made; below zero, made and not counted.
	balance int
	// reached is when the table last counted as many calls as the limit allows.
	reached time.Time
}

// take makes a call without a write, or refuses one, if the window knows enough for that.
func (w *window) take(state *State, now time.Time) (done bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.balance > -min(w.share, max(0, state.Limit-w.table.Requests)) {
		w.balance--
		state.Remaining = w.left(state.Limit)
		return true, nil
	}
	if now.Before(w.reached.Add(refuseFor)) {
		return true, &LimitedError{State: *state}
	}
	return false, nil
}

// refuses reports whether the limit was reached within the last second.
func (w *window) refuses(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return now.Before(w.reached.Add(refuseFor))
}

// begun reports whether a call is known that was counted in the window.
func (w *window) begun() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.table.Requests > 0
}

// knows notes what an item with a counter has said.
func (w *window) knows(requests int, now time.Time, reached bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.table.Requests = requests
	if reached && !now.Before(w.reached.Add(refuseFor)) {
		w.reached = now
	}
}

// left is how many calls the limit still allows, as far as the window knows.
func (w *window) left(limit int) int { return max(0, limit-w.table.Requests+w.balance) }

// count counts a call by a write. With steps it takes a new share, too, and none if the table refuses that.
func (w *window) count(state *State, now time.Time, steps bool,
	write func(addition) (table counted, took bool, err error)) error {
	a := w.one(state.Limit)
	if steps {
		a = w.step(state.Limit, w.next(state.Limit))
	}
	table, took, err := write(a)
	if err == nil && !took && steps {
		// Others have counted since the window last knew the table.
		if a = w.step(state.Limit, 0); a.admits(table, state.Limit) {
			table, took, err = write(a)
		}
	}
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.table = table
	if !took {
		w.reached = now
		return &LimitedError{State: *state}
	}
	w.joined = w.joined || a.instances > 0
	w.share += a.ahead
	w.balance += a.requests - 1
	state.Remaining = w.left(state.Limit)
	return nil
}

// one counts a call, and nothing else: other calls of the instance may do so at the same time.
func (w *window) one(limit int) addition {
	w.mu.Lock()
	defer w.mu.Unlock()
	return addition{requests: 1, most: limit - 1 + min(0, w.balance)}
}

// step counts a call, those that were made and not counted, and those of a new share.
func (w *window) step(limit, share int) addition {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := addition{requests: 1 - w.balance + share, ahead: share - w.share}
	if !w.joined {
		a.instances = 1
	}
	a.most = limit - a.requests
	return a
}

// next is the share to take with the next write. The first write takes none: it learns of the others. Beside others a
// share at most doubles, so that it rests on fresh knowledge when it is large. It leaves most of what the others left
// to those who come later; of all shares it is an equal part at most; and it is at most half of what is left of the
// limit, divided by the instances.
func (w *window) next(limit int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.joined {
		return 0
	}
	all, instances := aheadOf(limit), max(1, w.table.Instances)
	free := all - max(0, w.table.Ahead-w.share)
	share := min((2*free+4)/5, all/instances, w.left(limit)/(2*instances))
	if instances > 1 {
		share = min(share, 2*w.share+1)
	}
	return max(0, share)
}
