package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"time"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

const (
	// flushedChanges is the number of changes without a batching window.
	flushedChanges = 50
	// changeEvery is the time between changes with a batching window.
	changeEvery = 100 * time.Millisecond
	// lookEvery is the interval of listing the bucket while nothing changes, and so the precision of the delay.
	lookEvery = 20 * time.Millisecond
	// landTime is the maximum time from a change to its row in the lake: the batching window, and
	// as much again.
	landTime = 4 * time.Minute
)

// lake measures, for each platform with a lake, the time from the response to a change until
// its row is in the bucket.
func (b *bench) lake(ctx context.Context) error {
	for _, p := range b.platforms {
		if p.Change != nil {
			if err := b.measured(ctx, p, b.delays); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) delays(ctx context.Context, l *local, p platform) error {
	var names []struct{ Name string }
	if err := l.Get(ctx, "/buckets", &names); err != nil {
		return err
	}
	if len(names) != 1 {
		return fmt.Errorf("the stack has %d buckets, want the lake's", len(names))
	}
	client := p.Client(l.Run, p.Change)
	change := func(ctx context.Context) (string, error) {
		known, err := client(ctx, nil)
		return fmt.Sprint(known[p.LakeTable.ID]), err
	}
	landing := &landing{local: l, bucket: names[0].Name, table: p.LakeTable, seen: map[string]bool{},
		landed: map[string]time.Time{}}
	// The first change starts the writer.
	if _, err := landing.flushed(ctx, change); err != nil {
		return err
	}
	var alone []time.Duration
	for range flushedChanges {
		delay, err := landing.flushed(ctx, change)
		if err != nil {
			return err
		}
		alone = append(alone, delay)
	}
	gathered, err := landing.gathered(ctx, change, b.delay)
	if err != nil {
		return err
	}
	b.title("%s: from the answer to a change to its row in the lake", p.Schema.Title)
	b.times("delivered at once, without the batching window", alone)
	b.times(fmt.Sprintf("a change every %s, with the batching window", changeEvery), gathered)
	return nil
}

// landing detects new rows in the lake.
type landing struct {
	local  *local
	bucket string
	table  routes.LakeTable

	seen   map[string]bool      // keys of objects
	landed map[string]time.Time // by id
}

// flushed makes a change, flushes the streams, and returns the delay.
func (w *landing) flushed(ctx context.Context, change func(context.Context) (string, error)) (time.Duration, error) {
	id, err := change(ctx)
	if err != nil {
		return 0, err
	}
	answered := time.Now()
	flush, ctx := errgroup.WithContext(ctx)
	flush.Go(func() error { return w.local.Post(ctx, "/streams/flush", nil, nil) })
	err = w.wait(ctx, map[string]time.Time{id: answered})
	return w.landed[id].Sub(answered), errors.Join(err, flush.Wait())
}

// gathered makes changes for a while and returns their delays, which are as precise as changes are apart.
func (w *landing) gathered(ctx context.Context, change func(context.Context) (string, error),
	during time.Duration) ([]time.Duration, error) {
	answered := map[string]time.Time{}
	for began := time.Now(); time.Since(began) < during; time.Sleep(changeEvery) {
		id, err := change(ctx)
		if err != nil {
			return nil, err
		}
		answered[id] = time.Now()
		if _, err := w.look(ctx); err != nil {
			return nil, err
		}
	}
	if err := w.wait(ctx, answered); err != nil {
		return nil, err
	}
	var delays []time.Duration
	for id, at := range answered {
		delays = append(delays, w.landed[id].Sub(at))
	}
	return delays, nil
}

// wait looks for new objects until all changes have landed. It gives up after landTime without a new object.
func (w *landing) wait(ctx context.Context, changes map[string]time.Time) error {
	pending := maps.Clone(changes)
	for last := time.Now(); ; {
		found, err := w.look(ctx)
		if err != nil {
			return err
		}
		maps.DeleteFunc(pending, func(id string, _ time.Time) bool { return !w.landed[id].IsZero() })
		switch {
		case len(pending) == 0:
			return nil
		case found:
			last = time.Now()
		case time.Since(last) > landTime:
			return fmt.Errorf("a change is not in the lake %s after the last object: see the run's log", landTime)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lookEvery):
		}
	}
}

// look reads the new objects, and reports whether there are any.
func (w *landing) look(ctx context.Context) (found bool, err error) {
	var objects []struct{ Key string }
	base := "/buckets/" + url.PathEscape(w.bucket)
	if err := w.local.Get(ctx, base+"?prefix="+url.QueryEscape("events/entity="+w.table.Entity+"/"),
		&objects); err != nil {
		return false, err
	}
	now := time.Now()
	for _, o := range objects {
		if w.seen[o.Key] {
			continue
		}
		found = true
		w.seen[o.Key] = true
		var content []byte
		if err := w.local.Get(ctx, base+"/objects/"+o.Key, &content); err != nil {
			return false, err
		}
		rows, err := parquet.Read[any](bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return false, fmt.Errorf("%s: %w", o.Key, err)
		}
		for _, row := range rows {
			if id := fmt.Sprint(row.(map[string]any)[w.table.ID]); w.landed[id].IsZero() {
				w.landed[id] = now
			}
		}
	}
	return found, nil
}
