package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/bench/routes"
)

// loaded are the figures of a load.
type loaded struct {
	times     []time.Duration
	added     []time.Duration // of a single client: the time of a request that was not DynamoDB's
	throttled int             // requests that the API's throttle refused
	elapsed   time.Duration
	busy      float64 // of DynamoDB, as a part of the time, preparation included
	units     units   // of a single client: what its requests consumed, without the preparation
}

func (l loaded) perSecond() float64 { return float64(len(l.times)) / l.elapsed.Seconds() }

// loadRoute makes requests with a number of clients for the duration b.load.
func (b *bench) loadRoute(ctx context.Context, l *local, r routes.Route, clients int) (loaded, error) {
	before, err := l.engine(ctx)
	if err != nil {
		return loaded{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	result := loaded{elapsed: b.load}
	start := time.Now()
	for range clients {
		wg.Go(func() {
			part, err := b.loadClient(ctx, l, r, clients == 1)
			if err != nil {
				cancel(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			result.times = append(result.times, part.times...)
			result.added = append(result.added, part.added...)
			result.throttled += part.throttled
			result.units = result.units.plus(part.units)
		})
	}
	wg.Wait()
	wall := time.Since(start)
	if err := context.Cause(ctx); err != nil {
		return result, fmt.Errorf("%s with %d clients: %w", r.Name, clients, err)
	}
	if len(result.times) == 0 {
		return result, fmt.Errorf("%s with %d clients: not one request in %s: load it for longer", r.Name, clients, b.load)
	}
	after, err := l.engine(ctx)
	result.busy = float64(after.Busy-before.Busy) / float64(wall)
	return result, err
}

// loadClient makes requests with one client, so that no two run at once. Then the time outside
// of DynamoDB is that of handler and runner, and the consumed units are those of the request.
func (b *bench) loadClient(ctx context.Context, l *local, r routes.Route, alone bool) (loaded, error) {
	var result loaded
	prepare, request := r.Client(&l.Run)
	var unmeasured time.Duration
	aside := func(f func(context.Context) error) error {
		took, err := timed(func() error { return f(ctx) })
		unmeasured += took
		return err
	}
	for began := time.Now(); time.Since(began)-unmeasured < b.load; {
		if prepare != nil {
			err := aside(prepare)
			for errors.Is(err, routes.ErrThrottled) {
				err = aside(pause)
				if err == nil {
					err = aside(prepare)
				}
			}
			if err != nil {
				return result, err
			}
		}
		var before, after consumption
		read := func(into *consumption) error {
			if !alone {
				return nil
			}
			return aside(func(ctx context.Context) (err error) { *into, err = l.consumption(ctx); return err })
		}
		if err := read(&before); err != nil {
			return result, err
		}
		took, err := timed(func() error { return request(ctx) })
		if errors.Is(err, routes.ErrThrottled) {
			result.throttled++
			err = pause(ctx)
			if err != nil {
				return result, err
			}
			continue
		}
		if err == nil {
			err = read(&after)
		}
		if err != nil {
			return result, err
		}
		result.times = append(result.times, took)
		if alone {
			result.added = append(result.added, took-(after.engine.Busy-before.engine.Busy))
			result.units = result.units.plus(after.units.minus(before.units))
			result.units.calls += float64(after.engine.Requests - before.engine.Requests)
		}
	}
	return result, nil
}

// pause waits after a throttled request.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(10 * time.Millisecond):
		return nil
	}
}

// engine reads the console's figures on the requests to DynamoDB since the start.
type engine struct {
	Requests int64         `json:"requests"`
	Busy     time.Duration `json:"busy_ns"`
}

func (l *local) engine(ctx context.Context) (e engine, err error) {
	return e, l.Get(ctx, "/engine", &e)
}

// units are requests to DynamoDB and the capacity that they consumed, as DynamoDB
// Local counts it. What transactions wrote to tables and to indexes is also in
// write.
type units struct{ calls, read, write, transactTable, transactIndexes float64 }

func (u units) plus(v units) units {
	return units{u.calls + v.calls, u.read + v.read, u.write + v.write, u.transactTable + v.transactTable, u.transactIndexes + v.transactIndexes}
}

func (u units) minus(v units) units { return u.plus(v.times(-1)) }

func (u units) times(f float64) units {
	return units{u.calls * f, u.read * f, u.write * f, u.transactTable * f, u.transactIndexes * f}
}

// consumption is the platform's use of DynamoDB since the start.
type consumption struct {
	engine engine
	units  units
}

func (l *local) consumption(ctx context.Context) (c consumption, err error) {
	if c.engine, err = l.engine(ctx); err != nil {
		return c, err
	}
	var rows []struct {
		Index      string  `json:"index"`
		Operation  string  `json:"operation"`
		ReadUnits  float64 `json:"read_units"`
		WriteUnits float64 `json:"write_units"`
	}
	if err := l.Get(ctx, "/capacity", &rows); err != nil {
		return c, err
	}
	for _, row := range rows {
		c.units.read += row.ReadUnits
		c.units.write += row.WriteUnits
		switch {
		case row.Operation != "TransactWriteItems":
		case row.Index == "":
			c.units.transactTable += row.WriteUnits
		default:
			c.units.transactIndexes += row.WriteUnits
		}
	}
	return c, nil
}

// requests measures every route of every platform, in one run for each platform.
func (b *bench) requests(ctx context.Context) error {
	for _, p := range b.platforms {
		l, err := b.runLocal(ctx, p.stack())
		if err != nil {
			return err
		}
		err = b.routes(ctx, l, p)
		if err := errors.Join(err, l.stop()); err != nil {
			return err
		}
	}
	return nil
}

// routes measures every route of a platform.
func (b *bench) routes(ctx context.Context, l *local, p platform) error {
	b.title(fmt.Sprintf("%s: requests, %s each", p.Schema.Title, b.load))
	fmt.Fprintln(b.out, "route\tclients\trequests/s\tp50\tp99\tin DynamoDB\tDynamoDB busy")
	alone := map[string]loaded{}
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
			inDynamoDB, remark := "-", ""
			if clients == 1 {
				inDynamoDB = fmt.Sprintf("%.2f ms", milliseconds(median(result.times)-median(result.added)))
				alone[r.Name] = result
			}
			if result.throttled > 0 {
				remark = "\tas many as the API's throttle allows"
			}
			fmt.Fprintf(b.out, "%s\t%d\t%.0f\t%.2f ms\t%.2f ms\t%s\t%.0f %%%s\n", r.Name, clients, result.perSecond(),
				milliseconds(median(result.times)), milliseconds(quantile(result.times, 0.99)), inDynamoDB, 100*result.busy, remark)
		}
	}
	if err := b.out.Flush(); err != nil {
		return err
	}
	if err := b.protocols(ctx, l, p); err != nil {
		return err
	}
	b.title(p.Schema.Title + ": what handler and runner add to DynamoDB's time, p50, one client")
	for _, r := range p.Routes {
		added := median(alone[r.Name].added)
		b.row(r.Name, fmt.Sprintf("%.2f ms", milliseconds(added)), "at most 1 ms", added <= time.Millisecond)
	}
	if err := b.out.Flush(); err != nil {
		return err
	}
	b.title(p.Schema.Title + ": DynamoDB's part of a request, with write units as AWS counts them")
	fmt.Fprintln(b.out, "route\tcalls\tread units\twrite units\tin the seed")
	for _, r := range p.Routes {
		result := alone[r.Name]
		u := result.units.times(1 / float64(len(result.times)))
		fmt.Fprintf(b.out, "%s\t%.1f\t%.1f\t%.1f\t%s\n", r.Name, u.calls, u.read, writeUnits(r, u), p.inSeed(r))
	}
	return b.functions(ctx, l, p)
}

// protocols compares each route of a protocol with the route that does the same without, in turn, so that other load on the machine
// affects both.
func (b *bench) protocols(ctx context.Context, l *local, p platform) error {
	for _, r := range p.Routes {
		plain := slices.IndexFunc(p.Routes, func(plain routes.Route) bool { return plain.Name == r.Plain })
		if plain < 0 {
			continue
		}
		type side struct {
			prepare, request func(context.Context) error
			times            []time.Duration
		}
		var sides [2]side
		for i, route := range []routes.Route{r, p.Routes[plain]} {
			sides[i].prepare, sides[i].request = route.Client(&l.Run)
		}
		for began := time.Now(); time.Since(began) < 2*b.load; {
			for i := range sides {
				took, err := prepared(ctx, sides[i].prepare, sides[i].request)
				if err != nil {
					return fmt.Errorf("%s: %w", r.Name, err)
				}
				sides[i].times = append(sides[i].times, took)
			}
		}
		at := func(q float64) string {
			return fmt.Sprintf("p%.0f %.2f ms and %.2f ms", 100*q, milliseconds(quantile(sides[0].times, q)), milliseconds(quantile(sides[1].times, q)))
		}
		b.title(r.Name + ", and in turn " + r.Plain)
		b.row("one client", at(0.5)+", "+at(0.99), "", true)
	}
	return b.out.Flush()
}

// functions prints the start-up time and memory of the handlers, after the load and one run
// of each schedule.
func (b *bench) functions(ctx context.Context, l *local, p platform) error {
	if err := l.Post(ctx, "/streams/flush", nil, nil); err != nil {
		return err
	}
	var schedules []struct{ Name string }
	if err := l.Get(ctx, "/schedules", &schedules); err != nil {
		return err
	}
	for _, s := range schedules {
		if err := l.Post(ctx, "/schedules/"+s.Name+"/run", nil, nil); err != nil {
			return err
		}
	}
	var functions []struct {
		Name      string `json:"name"`
		Instances []struct {
			InitMS float64 `json:"init_ms"`
			RSS    int64   `json:"rss_bytes"`
		} `json:"instances"`
	}
	if err := l.Get(ctx, "/functions", &functions); err != nil {
		return err
	}
	b.title(p.Schema.Title + ": handlers, after the load")
	for _, f := range functions {
		var largest int64
		var inits []time.Duration
		for _, i := range f.Instances {
			largest = max(largest, i.RSS)
			inits = append(inits, time.Duration(i.InitMS*float64(time.Millisecond)))
		}
		if len(inits) == 0 {
			b.row(f.Name, "never ran", "", true)
			continue
		}
		b.row(f.Name+": init, median of its processes", fmt.Sprintf("%.1f ms", milliseconds(median(inits))), "", true)
		b.row(f.Name+": memory of its largest process", fmt.Sprintf("%.1f MB", float64(largest)/1e6), "at most 40 MB", largest <= 40e6)
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
