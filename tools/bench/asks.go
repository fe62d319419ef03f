package main

import (
	"context"
	"fmt"
	"time"

	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
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
	return b.each(ctx, func(ctx context.Context, l *local, p platform) error {
		for _, r := range p.Routes {
			if !r.InARow {
				continue
			}
			if err := b.manyAsks(ctx, l, p, r); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *bench) manyAsks(ctx context.Context, l *local, p platform, route routes.Route) error {
	ask := func(count int) (loaded, error) {
		return b.loadClients(ctx, l, route, askClients, func(made int, _ time.Duration) bool {
			return made >= count/askClients
		})
	}
	if _, err := ask(askWarmUp); err != nil {
		return err
	}
	idleFirst, err := idleShare(l.pid)
	if err != nil {
		return err
	}
	b.title("%s: %s: %d in a row, %d clients", p.Schema.Title, route, b.askCount, askClients)
	b.cells("made", "requests/s", "p50", "p99", "longest")
	var first, last sample
	for asked := 0; asked < b.askCount; {
		window := min(askWindow, b.askCount-asked)
		result, err := ask(window)
		if err != nil {
			return err
		}
		asked += window
		last = sampleOf(result.times)
		if first.Sample == nil {
			first = last
		}
		b.cells(fmt.Sprintf("to %d", asked), fmt.Sprintf("%.0f", float64(len(result.times))/result.wall.Seconds()),
			seconds(last.median()), seconds(last.quantile(0.99)), seconds(last.longest()))
		if err := b.out.Flush(); err != nil {
			return err
		}
	}
	ratio := last.quantile(0.99) / first.quantile(0.99)
	b.row("p99 of the last against the first", fmt.Sprintf("%.2f", ratio), "at most 1.5", ratio <= 1.5)
	ratio = last.median() / first.median()
	b.row("p50 of the last against the first", fmt.Sprintf("%.2f", ratio), "below 2", ratio < 2)
	idleLast, err := idleShare(l.pid)
	if err != nil {
		return err
	}
	b.row("share of a core of the idle run, before and after",
		fmt.Sprintf("%.0f %%, %.0f %%", 100*idleFirst, 100*idleLast), "at most 15 %", idleLast <= 0.15)
	return nil
}

// idleShare is the share of a processor that the run and what it started take while nobody asks, after the time in
// which streams are delivered.
func idleShare(pid int) (float64, error) {
	const idle = 5 * time.Second
	time.Sleep(idle)
	before, err := shareOf(pid)
	if err != nil {
		return 0, err
	}
	time.Sleep(idle)
	after, err := shareOf(pid)
	return float64(after.sum()-before.sum()) / float64(idle), err
}
