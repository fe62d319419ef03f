package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/bench/routes"
)

const (
	// askWindow is the number of requests in each line of figures.
	askWindow = 10_000
	// askClients is the number of clients: enough for two processors, and too few for a queue.
	askClients = 4
	// askWarmUp is the number of requests before the first measured one.
	askWarmUp = 2_000
)

// asks measures whether requests become slower as their items accumulate. Expired items are deleted as usual.
func (b *bench) asks(ctx context.Context) error {
	for _, p := range b.platforms {
		for _, r := range p.Routes {
			if !r.InARow {
				continue
			}
			l, err := b.runLocal(ctx, p.stack())
			if err != nil {
				return err
			}
			err = b.manyAsks(ctx, l, p, r)
			if err := errors.Join(err, l.stop()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bench) manyAsks(ctx context.Context, l *local, p platform, route routes.Route) error {
	if _, err := askTimes(ctx, l, route, askWarmUp); err != nil {
		return err
	}
	idleFirst, err := idleShare(l.pid)
	if err != nil {
		return err
	}
	b.title(fmt.Sprintf("%s: %s: %d in a row, %d clients", p.Schema.Title, route.Name, b.askCount, askClients))
	fmt.Fprintln(b.out, "made\trequests/s\tp50\tp99\tlongest")
	var first, last, firstMedian, lastMedian time.Duration
	for asked := 0; asked < b.askCount; {
		window := min(askWindow, b.askCount-asked)
		began := time.Now()
		times, err := askTimes(ctx, l, route, window)
		if err != nil {
			return err
		}
		asked += window
		last, lastMedian = quantile(times, 0.99), median(times)
		if first == 0 {
			first, firstMedian = last, lastMedian
		}
		fmt.Fprintf(b.out, "to %d\t%.0f\t%.1f ms\t%.1f ms\t%.0f ms\n", asked, float64(window)/time.Since(began).Seconds(),
			milliseconds(lastMedian), milliseconds(last), milliseconds(slices.Max(times)))
		if err := b.out.Flush(); err != nil {
			return err
		}
	}
	ratio := float64(last) / float64(first)
	b.row("p99 of the last against the first", fmt.Sprintf("%.2f", ratio), "at most 1.5", ratio <= 1.5)
	ratio = float64(lastMedian) / float64(firstMedian)
	b.row("p50 of the last against the first", fmt.Sprintf("%.2f", ratio), "below 2", ratio < 2)
	idleLast, err := idleShare(l.pid)
	if err != nil {
		return err
	}
	b.row("share of a core of the idle run, before and after", fmt.Sprintf("%.0f %%, %.0f %%", 100*idleFirst, 100*idleLast), "at most 15 %", idleLast <= 0.15)
	return nil
}

// idleShare is the share of a processor that the run and what it started take while nobody asks, after the time in
// which streams are delivered.
func idleShare(pid int) (float64, error) {
	used := func() (sum time.Duration, err error) {
		pids := []int{pid}
		lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		if err != nil {
			return 0, err
		}
		for _, list := range lists {
			text, err := os.ReadFile(list)
			if err != nil {
				return 0, err
			}
			for _, child := range strings.Fields(string(text)) {
				number, err := strconv.Atoi(child)
				if err != nil {
					return 0, err
				}
				pids = append(pids, number)
			}
		}
		for _, one := range pids {
			time, err := processorTime(one)
			if err != nil {
				return 0, err
			}
			sum += time
		}
		return sum, nil
	}
	const idle = 5 * time.Second
	time.Sleep(idle)
	before, err := used()
	if err != nil {
		return 0, err
	}
	time.Sleep(idle)
	after, err := used()
	return float64(after-before) / float64(idle), err
}

// askTimes makes count requests, and returns the duration of each.
func askTimes(ctx context.Context, l *local, r routes.Route, count int) ([]time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	times := make([][]time.Duration, askClients)
	for i := range askClients {
		_, ask := r.Client(&l.Run)
		group.Go(func() {
			for n := i; n < count && ctx.Err() == nil; n += askClients {
				took, err := timed(func() error { return ask(ctx) })
				if errors.Is(err, routes.ErrThrottled) {
					n -= askClients
					err = pause(ctx)
				} else {
					times[i] = append(times[i], took)
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return slices.Concat(times...), context.Cause(ctx)
}
