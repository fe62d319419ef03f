// Package historytest records what callers do at the same time, and judges whether it is linearizable: whether the
// calls could have returned what they did if they had been made one after the other, each at some moment between its
// start and its end.
package historytest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/retry"
)

// Model says what calls return that are made one after the other.
type Model[State comparable, In any] struct {
	// Start is the state before the first call.
	Start State
	// Step returns the state after a call, and whether the call may return out. It must allow [Unknown].
	Step func(state State, in In, out string) (after State, ok bool)
	// Key returns what a call is about. Each key has a state of its own. Nil: all calls are about the same.
	Key func(In) string
}

// Unknown is what a call returns whose answer was lost: it may take effect at any time from its start on, or never.
const Unknown = ""

// Error returns what a call returns that fails with err: [Unknown] if err is one of lost, or says that requests were
// refused for load or had no answer.
func Error(err error, lost ...error) string {
	for _, open := range append(lost, retry.ErrBusy, retry.ErrStale, retry.ErrUnanswered) {
		if errors.Is(err, open) {
			return Unknown
		}
	}
	return err.Error()
}

// Returns makes a [Model.Step] of a function that returns the state after a call, and what the call returns.
func Returns[State, In any](do func(State, In) (State, string)) func(State, In, string) (State, bool) {
	return func(state State, in In, out string) (State, bool) {
		after, want := do(state, in)
		return after, out == want || out == Unknown
	}
}

// History records calls. It is safe for concurrent use.
type History[State comparable, In any] struct {
	model Model[State, In]
	began time.Time

	mutex sync.Mutex
	calls []porcupine.Operation
}

// New returns an empty history.
func New[State comparable, In any](model Model[State, In]) *History[State, In] {
	return &History[State, In]{model: model, began: time.Now()}
}

// Call makes a call of a client, and records it with its times. A client makes one call at a time.
func (h *History[State, In]) Call(client int, in In, call func() (out string)) {
	made := porcupine.Operation{ClientId: client, Input: in, Call: int64(time.Since(h.began))}
	made.Output = call()
	made.Return = int64(time.Since(h.began))
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.calls = append(h.calls, made)
}

// Together has each client make so many calls, one after the other, all clients at once.
func (h *History[State, In]) Together(clients, calls int, next func(client, number int) (In, func() (out string))) {
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for number := range calls {
				in, call := next(client, number)
				h.Call(client, in, call)
			}
		})
	}
	all.Wait()
}

// limit bounds the search for an order. An order that there is takes milliseconds.
const limit = 20 * time.Second

// Judge fails the test if no order of the calls explains what they have returned, or if a third of that is unknown. It
// writes a picture of calls without an order, which shows how far each order goes.
func (h *History[State, In]) Judge(t testing.TB) {
	t.Helper()
	h.mutex.Lock()
	defer h.mutex.Unlock()
	calls, lines, unknown, end := slices.Clone(h.calls), 0, 0, int64(time.Since(h.began))
	for _, call := range calls {
		lines = max(lines, call.ClientId+1)
	}
	for i := range calls {
		if calls[i].Output == Unknown {
			// Its client goes on meanwhile: a picture needs another line for it.
			calls[i].Return, calls[i].ClientId = end, lines
			lines++
			unknown++
		}
	}
	if 3*unknown > len(calls) {
		t.Errorf("of %d calls, %d have returned what nobody knows: the history shows nothing", len(calls), unknown)
	}
	model := h.porcupine()
	result, info := porcupine.CheckOperationsVerbose(model, calls, limit)
	if result == porcupine.Ok {
		return
	}
	picture, err := os.CreateTemp("", "history-*.html")
	if err == nil {
		err = errors.Join(porcupine.Visualize(model, info, picture), picture.Close())
	}
	if err != nil {
		t.Errorf("no picture: %v", err)
		return
	}
	var longest strings.Builder
	for i, part := range model.Partition(calls) {
		order := slices.MaxFunc(append(info.PartialLinearizationsOperations()[i], nil),
			func(a, b []porcupine.Operation) int { return len(a) - len(b) })
		if len(order) == len(part) {
			continue
		}
		for _, call := range order {
			fmt.Fprintf(&longest, "\n%s", model.DescribeOperation(call.Input, call.Output))
		}
		longest.WriteString("\nand then none of")
		for _, call := range part {
			if !slices.Contains(order, call) {
				fmt.Fprintf(&longest, "\n%s", model.DescribeOperation(call.Input, call.Output))
			}
		}
	}
	t.Errorf("no order explains what %d calls have returned (%s): file://%s is a picture of them. The longest order "+
		"is%s", len(calls), result, picture.Name(), longest.String())
}

// porcupine is the model as package porcupine has it.
func (h *History[State, In]) porcupine() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return h.model.Start },
		Step: func(state, in, out any) (bool, any) {
			after, ok := h.model.Step(state.(State), in.(In), out.(string))
			return ok, after
		},
		Partition: func(calls []porcupine.Operation) (parts [][]porcupine.Operation) {
			at := map[string]int{}
			for _, call := range calls {
				key := ""
				if h.model.Key != nil {
					key = h.model.Key(call.Input.(In))
				}
				if _, ok := at[key]; !ok {
					at[key] = len(parts)
					parts = append(parts, nil)
				}
				parts[at[key]] = append(parts[at[key]], call)
			}
			return parts
		},
		DescribeOperation: func(in, out any) string {
			if out == Unknown {
				out = "what nobody knows"
			}
			return fmt.Sprintf("%+v returns %s", in, out)
		},
		DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
	}
}
