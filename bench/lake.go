package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync"
	"time"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/bench/routes"
)

const (
	// flushedChanges is the number of changes without a batching window.
	flushedChanges = 50
	// changeEvery is the time between changes with a batching window.
	changeEvery = 100 * time.Millisecond
	// lookEvery is the interval of listing the bucket, and so the precision of the delay.
	lookEvery = 20 * time.Millisecond
	// landTime is the maximum time from a change to its row in the lake: the batching window, and
	// as much again.
	landTime = 4 * time.Minute
)

// lake measures, for each platform with a lake, the time from the response to a change until
// its row is in the bucket.
func (b *bench) lake(ctx context.Context) error {
	for _, p := range b.platforms {
		if p.Change == nil {
			continue
		}
		l, err := b.runLocal(ctx, p.stack())
		if err != nil {
			return err
		}
		err = b.delays(ctx, l, p)
		if err := errors.Join(err, l.stop()); err != nil {
			return fmt.Errorf("lake of %s: %w", p.Schema.Title, err)
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
	change := p.Change(&l.Run)
	landing := &landing{local: l, bucket: names[0].Name, table: p.LakeTable, seen: map[string]bool{}, landed: map[string]time.Time{}}
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
	b.title(fmt.Sprintf("%s: from the answer to a change to its row in the lake", p.Schema.Title))
	for _, m := range []struct {
		name  string
		times []time.Duration
	}{
		{"delivered at once, without the batching window", alone},
		{fmt.Sprintf("a change every %s, with the batching window", changeEvery), gathered},
	} {
		b.row(m.name, fmt.Sprintf("p50 %.2f s, p99 %.2f s, of %d changes", quantile(m.times, 0.5).Seconds(), quantile(m.times, 0.99).Seconds(), len(m.times)), "", true)
	}
	return nil
}

// landing detects new rows in the lake.
type landing struct {
	local  *local
	bucket string
	table  routes.LakeTable

	seen map[string]bool // keys of objects

	mu     sync.Mutex
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
	err = w.watch(ctx, func() bool { return !w.at(id).IsZero() })
	return w.at(id).Sub(answered), errors.Join(err, flush.Wait())
}

// gathered makes changes for a while and returns their delays.
func (w *landing) gathered(ctx context.Context, change func(context.Context) (string, error), during time.Duration) ([]time.Duration, error) {
	answered := map[string]time.Time{}
	var mu sync.Mutex
	made := make(chan struct{})
	var group errgroup.Group
	group.Go(func() error {
		defer close(made)
		for began := time.Now(); time.Since(began) < during; time.Sleep(changeEvery) {
			id, err := change(ctx)
			if err != nil {
				return err
			}
			mu.Lock()
			answered[id] = time.Now()
			mu.Unlock()
		}
		return nil
	})
	group.Go(func() error {
		return w.watch(ctx, func() bool {
			select {
			case <-made:
			default:
				return false
			}
			mu.Lock()
			defer mu.Unlock()
			for id := range answered {
				if w.at(id).IsZero() {
					return false
				}
			}
			return true
		})
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var delays []time.Duration
	for id, at := range answered {
		delays = append(delays, w.at(id).Sub(at))
	}
	return delays, nil
}

func (w *landing) at(id string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.landed[id]
}

// watch looks for new objects until enough changes have landed. It gives up after landTime
// without a new object.
func (w *landing) watch(ctx context.Context, enough func() bool) error {
	for last := time.Now(); !enough(); {
		found, err := w.look(ctx)
		if err != nil {
			return err
		}
		if found {
			last = time.Now()
		}
		if time.Since(last) > landTime {
			return fmt.Errorf("a change is not in the lake %s after the last object: see the run's log", landTime)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lookEvery):
		}
	}
	return nil
}

// look reads the new objects, and reports whether there are any.
func (w *landing) look(ctx context.Context) (found bool, err error) {
	var objects []struct{ Key string }
	base := "/buckets/" + url.PathEscape(w.bucket)
	if err := w.local.Get(ctx, base+"?prefix="+url.QueryEscape("events/entity="+w.table.Entity+"/"), &objects); err != nil {
		return false, err
	}
	now := time.Now()
	for _, o := range objects {
		if w.seen[o.Key] {
			continue
		}
		found = true
		w.seen[o.Key] = true
		content, err := w.local.Read(ctx, base+"/objects/"+o.Key)
		if err != nil {
			return false, err
		}
		ids, err := column(content, w.table.Column)
		if err != nil {
			return false, fmt.Errorf("%s: %w", o.Key, err)
		}
		w.mu.Lock()
		for _, id := range ids {
			if w.landed[id].IsZero() {
				w.landed[id] = now
			}
		}
		w.mu.Unlock()
	}
	return found, nil
}

// column reads a text column of a Parquet file.
func column(content []byte, name string) ([]string, error) {
	file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	leaf, ok := file.Schema().Lookup(name)
	if !ok {
		return nil, fmt.Errorf("there is no column %s", name)
	}
	var values []string
	for _, group := range file.RowGroups() {
		rows := group.Rows()
		buffer := make([]parquet.Row, 100)
		for err == nil {
			var n int
			n, err = rows.ReadRows(buffer)
			for _, row := range buffer[:n] {
				row.Range(func(index int, v []parquet.Value) bool {
					if index == leaf.ColumnIndex && len(v) > 0 {
						values = append(values, v[0].String())
					}
					return true
				})
			}
		}
		if closed := rows.Close(); closed != nil {
			return nil, closed
		}
		if !errors.Is(err, io.EOF) {
			return nil, err
		}
		err = nil
	}
	return values, nil
}
