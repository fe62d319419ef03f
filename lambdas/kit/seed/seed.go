// Package seed loads the initial data of a platform: the items that its functions expect in the tables. A function with
// the trigger schema.OnSeed does it. `onesynth seed` invokes that function until all items are there, in a local run or
// in a deployed stack. Its main package is:
//
//	kit.StartResponder("links", func(ctx context.Context, e kit.Environment) (seed.Handler, error) {
//		db, err := dynamo.Open(e, links.Schema(), "linkseeder")
//		return seed.Load(links.Initial(), (&links.Store{DB: db}).AddInitial), err
//	})
//
// A function in another language reads the same [Request] and answers with the same
// [Progress].
package seed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Chunk limits the items that one invocation loads, so that people see progress.
const Chunk = 25

// Request is the event of an invocation.
type Request struct {
	// Next is the index of the first item to load, from 0.
	Next int `json:"next"`
}

// Progress is the answer to a [Request].
type Progress struct {
	// Next is the Request.Next of the next invocation. It is Total once all items are
	// there.
	Next int `json:"next"`
	// Total is how many items there are, at least 1.
	Total int `json:"total"`
	// Added is how many items this invocation has added. The others existed.
	Added int `json:"added"`
}

// Handler is the handler of such a function.
type Handler = func(context.Context, Request) (Progress, error)

// Load returns the handler that loads the items, in their order. put adds an item and reports true, or finds it there
// and reports false. It has to derive the item's key from the item, and to put it on the condition that no item has
// that key. So several loads, one after the other or at the same time, add each item once, and leave existing items
// unchanged.
//
// An invocation ends after [Chunk] items, when half of its time is up, or with an error of put. The items before stay,
// and a repeated request finds them.
func Load[T any](items []T, put func(context.Context, T) (added bool, err error)) Handler {
	return func(ctx context.Context, request Request) (Progress, error) {
		progress := Progress{Next: request.Next, Total: len(items)}
		if len(items) == 0 {
			return progress, errors.New("the platform has no initial data: give seed.Load items, or leave the " +
				"function out")
		}
		if request.Next < 0 || request.Next > len(items) {
			return progress, fmt.Errorf("next: got %d, allowed is 0 to %d: begin with 0", request.Next, len(items))
		}
		var half time.Time
		if deadline, ok := ctx.Deadline(); ok {
			half = deadline.Add(-time.Until(deadline) / 2)
		}
		for i, item := range items[request.Next:min(request.Next+Chunk, len(items))] {
			if i > 0 && !half.IsZero() && time.Now().After(half) {
				break
			}
			added, err := put(ctx, item)
			if err != nil {
				return progress, fmt.Errorf("item %d of %d: %w", progress.Next+1, len(items), err)
			}
			if added {
				progress.Added++
			}
			progress.Next++
		}
		return progress, nil
	}
}

// Decode reads a JSON file of initial data. Unlike [json.Unmarshal] it refuses a field that value lacks.
func Decode(data []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(value); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the value: leave it out")
	}
	return nil
}
