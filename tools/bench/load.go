package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

// loaded are the figures of a load.
type loaded struct {
	times     []time.Duration
	added     []time.Duration // of a single client: the time of a request that was not DynamoDB's
	throttled int             // requests that the API's throttle refused
	elapsed   time.Duration
	wall      time.Duration // with the preparation
	busy      float64       // of DynamoDB, as a part of the time, preparation included
	cost      routes.Cost   // of a single client: that of its requests, without the preparation
}

// each is the cost of one request.
func (l loaded) each() routes.Cost { return l.cost.Times(1 / float64(len(l.times))) }

func (l loaded) perSecond() float64 { return float64(len(l.times)) / l.elapsed.Seconds() }

// loadRoute makes requests with a number of clients for the duration b.load.
func (b *bench) loadRoute(ctx context.Context, l *local, r routes.Route, clients int) (loaded, error) {
	before, err := l.Cost(ctx)
	if err != nil {
		return loaded{}, err
	}
	result, err := b.loadClients(ctx, l, r, clients, func(_ int, load time.Duration) bool { return load >= b.load })
	if err != nil {
		return loaded{}, err
	}
	if len(result.times) == 0 {
		return result, fmt.Errorf("%s with %d clients: not one request in %s: load it for longer", r, clients, b.load)
	}
	after, err := l.Cost(ctx)
	result.busy = float64(after.Busy-before.Busy) / float64(result.wall)
	return result, err
}

// loadClients makes requests with a number of clients, each until it has made enough, or for long enough.
func (b *bench) loadClients(ctx context.Context, l *local, r routes.Route, clients int,
	enough func(made int, load time.Duration) bool) (loaded, error) {
	parts := make([]loaded, clients)
	group, loading := errgroup.WithContext(ctx)
	start := time.Now()
	for i := range parts {
		group.Go(func() (err error) {
			parts[i], err = loadClient(loading, l, r, clients == 1, enough)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return loaded{}, fmt.Errorf("%s with %d clients: %w", r, clients, err)
	}
	result := loaded{elapsed: b.load, wall: time.Since(start)}
	for _, part := range parts {
		result.times = append(result.times, part.times...)
		result.added = append(result.added, part.added...)
		result.throttled += part.throttled
		result.cost = result.cost.Plus(part.cost)
	}
	return result, nil
}

// loadClient makes requests with one client. If it is alone, so that no two run at once, the time outside of DynamoDB
// is that of handler and runner, and the consumed units are those of the request.
func loadClient(ctx context.Context, l *local, r routes.Route, alone bool,
	enough func(int, time.Duration) bool) (result loaded, err error) {
	prepare, request := r.Client(l.Run)
	var load time.Duration
	for !enough(len(result.times), load) {
		if err := prepare(ctx); err != nil {
			return result, err
		}
		var before, after routes.Cost
		if alone {
			if before, err = l.Cost(ctx); err != nil {
				return result, err
			}
		}
		took, err := timed(func() error { return request(ctx) })
		load += took
		if errors.Is(err, routes.ErrThrottled) {
			result.throttled++
			paused, err := timed(func() error { return routes.Pause(ctx) })
			if err != nil {
				return result, err
			}
			load += paused
			continue
		}
		if err != nil {
			return result, err
		}
		result.times = append(result.times, took)
		if !alone {
			continue
		}
		if after, err = l.Cost(ctx); err != nil {
			return result, err
		}
		cost := after.Minus(before)
		result.added = append(result.added, took-cost.Busy)
		result.cost = result.cost.Plus(cost)
	}
	return result, nil
}

// requests measures every route of every platform, in one run for each platform.
func (b *bench) requests(ctx context.Context) error { return b.each(ctx, b.routes) }

// routes measures every route of a platform.
func (b *bench) routes(ctx context.Context, l *local, p platform) error {
	b.title("%s: requests, %s each", p.Schema.Title, b.load)
	b.cells("route", "clients", "requests/s", "p50", "p99", "in DynamoDB", "DynamoDB busy")
	alone, inOrigin := map[string]loaded{}, map[string]string{}
	for _, r := range p.Routes {
		// The first requests start processes and create items.
		if _, err := b.loadRoute(ctx, l, r, min(8, slices.Max(r.Clients))); err != nil {
			return err
		}
		for _, clients := range r.Clients {
			result, err := b.loadRoute(ctx, l, r, clients)
			if err != nil {
				return err
			}
			times, inDynamoDB, remark := sampleOf(result.times), "-", ""
			if clients == 1 {
				inDynamoDB = seconds(times.median() - sampleOf(result.added).median())
				alone[r.String()] = result
				if inOrigin[r.String()], err = p.inOrigin(ctx, l, r); err != nil {
					return err
				}
			}
			if result.throttled > 0 {
				remark = "as many as the API's throttle allows"
			}
			b.cells(r.String(), fmt.Sprint(clients), fmt.Sprintf("%.0f", result.perSecond()),
				seconds(times.median()), seconds(times.quantile(0.99)), inDynamoDB,
				fmt.Sprintf("%.0f%%", 100*result.busy), remark)
		}
	}
	if err := b.out.Flush(); err != nil {
		return err
	}
	if err := b.protocols(ctx, l, p); err != nil {
		return err
	}
	b.title("%s: what handler and runner add to DynamoDB's time, p50, one client", p.Schema.Title)
	for _, r := range p.Routes {
		added := sampleOf(alone[r.String()].added).median()
		b.row(r.String(), seconds(added), "at most 1 ms", added <= time.Millisecond.Seconds())
	}
	if err := b.out.Flush(); err != nil {
		return err
	}
	b.title("%s: DynamoDB's part of a request, with write units as AWS counts them", p.Schema.Title)
	b.cells("route", "calls", "read units", "write units", "in the origin")
	for _, r := range p.Routes {
		cost := alone[r.String()].each()
		b.cells(r.String(), fmt.Sprintf("%.1f", cost.Calls), fmt.Sprintf("%.1f", cost.Read),
			fmt.Sprintf("%.1f", writeUnits(r, cost)), inOrigin[r.String()])
	}
	return b.functions(ctx, l, p)
}

// protocols compares each route of a protocol with the route that does the same without, in turn, so that other load on
// the machine affects both.
func (b *bench) protocols(ctx context.Context, l *local, p platform) error {
	for _, r := range p.Routes {
		plain := slices.IndexFunc(p.Routes, func(plain routes.Route) bool { return plain.Name == r.Plain })
		if plain < 0 {
			continue
		}
		var sides [2]struct {
			prepare, request routes.Step
			times            []time.Duration
		}
		for i, route := range []routes.Route{r, p.Routes[plain]} {
			sides[i].prepare, sides[i].request = route.Client(l.Run)
		}
		for began := time.Now(); time.Since(began) < 2*b.load; {
			for i := range sides {
				took, err := prepared(ctx, sides[i].prepare, sides[i].request)
				if err != nil {
					return fmt.Errorf("%s: %w", r, err)
				}
				sides[i].times = append(sides[i].times, took)
			}
		}
		b.title("%s, and in turn %s", r, p.Routes[plain])
		for _, side := range sides {
			b.times("requests", side.times)
		}
		b.figure("difference", sampleOf(sides[0].times).difference(sampleOf(sides[1].times)))
	}
	return b.out.Flush()
}

// function is what the console says of a function.
type function struct {
	Name      string
	Instances []instance
}

// instance is a process of a function.
type instance struct {
	PID       int
	InitMilli float64 `json:"init_ms"`
	RSSBytes  int64   `json:"rss_bytes"`
}

// functions prints the start-up time and memory of the handlers, after the load and one run
// of each schedule.
func (b *bench) functions(ctx context.Context, l *local, p platform) error {
	if err := l.Post(ctx, "/streams/flush", nil, nil); err != nil {
		return err
	}
	if err := l.Schedules(ctx); err != nil {
		return err
	}
	var functions []function
	if err := l.Get(ctx, "/functions", &functions); err != nil {
		return err
	}
	b.title("%s: handlers, after the load", p.Schema.Title)
	for _, f := range functions {
		var largest int64
		var inits []time.Duration
		for _, i := range f.Instances {
			largest = max(largest, i.RSSBytes)
			inits = append(inits, time.Duration(i.InitMilli*float64(time.Millisecond)))
		}
		if len(inits) == 0 {
			b.figure(f.Name, "never ran")
			continue
		}
		b.figure(f.Name+": init of its processes", sampleOf(inits).spread())
		b.row(f.Name+": memory of its largest process", fmt.Sprintf("%.1f MB", float64(largest)/1e6), "at most 40 MB",
			largest <= 40e6)
	}
	return nil
}
