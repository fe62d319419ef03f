package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The platform's limits would end a load within the first second. So each client
// is many agents and many people at many addresses, each of which stays within
// its limits.
const (
	callsPerAgent   = 50
	callsPerPerson  = 25
	callsPerAddress = 250
)

// client is one caller that makes one request after another.
type client struct {
	base    string
	calls   int
	agent   string
	person  string
	http    *http.Client
	address *atomic.Uint32

	nobody   bool   // sends no agent id
	question string // to answer or to poll
	left     int    // answers that the question still takes
}

func (c *client) agentID() string {
	if c.calls%callsPerAgent == 0 || c.agent == "" {
		c.agent = "bench-" + rand.Text()
	}
	return c.agent
}

func (c *client) fingerprint() string {
	if c.calls%callsPerPerson == 0 || c.person == "" {
		c.person = rand.Text()
	}
	return c.person
}

// transport makes connections from a loopback address that no other has.
func (c *client) transport() *http.Client {
	if c.http == nil || c.calls%callsPerAddress == 0 {
		if c.http != nil {
			c.http.CloseIdleConnections()
		}
		n := c.address.Add(1)
		dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, byte(1+n>>16), byte(n>>8), byte(n))}}
		c.http = &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
	}
	return c.http
}

// call makes one request and reads its answer into out, unless that is nil.
func (c *client) call(ctx context.Context, method, path string, want int, body, out any) error {
	var payload io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, payload)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if !c.nobody {
		request.Header.Set("X-Agent-Id", c.agentID())
	}
	request.Header.Set("X-Fingerprint", c.fingerprint())
	response, err := c.transport().Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	c.calls++
	if response.StatusCode != want {
		return fmt.Errorf("%s %s: got %d, want %d: %s", method, path, response.StatusCode, want, answer)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer, out)
}

func (c *client) ask(ctx context.Context) error {
	var asked struct {
		ID string `json:"question_id"`
	}
	err := c.call(ctx, "POST", "/agent/questions", http.StatusCreated, map[string]any{
		"prompt": "Should an error message apologise to the person who reads it?", "type": "text", "min_responses": 50,
	}, &asked)
	c.question, c.left = asked.ID, 50
	return err
}

func (c *client) answer(ctx context.Context) error {
	c.left--
	return c.call(ctx, "POST", "/human/responses", http.StatusCreated, map[string]any{
		"question_id": c.question, "answer": "Only when the program is at fault, and then with what to do about it.", "confidence": 4,
	}, nil)
}

func (c *client) poll(ctx context.Context) error {
	return c.call(ctx, "GET", "/agent/questions/"+c.question, http.StatusOK, nil, nil)
}

func (c *client) feed(ctx context.Context) error {
	return c.call(ctx, "GET", "/human/questions?limit=20", http.StatusOK, nil, nil)
}

// route is what a load does: prepare, unmeasured, before each request, and the
// request.
type route struct {
	name    string
	prepare func(context.Context, *client) error
	request func(*client, context.Context) error
	clients []int
}

func routes() []route {
	needsQuestion := func(ctx context.Context, c *client) error {
		c.person = rand.Text() // one person answers a question once
		if c.left == 0 {
			return c.ask(ctx)
		}
		return nil
	}
	ownQuestion := func(ctx context.Context, c *client) error {
		// An agent reads its own questions only.
		if c.question == "" || c.calls%callsPerAgent == 0 {
			c.agent = ""
			if err := c.ask(ctx); err != nil {
				return err
			}
			return c.answer(ctx)
		}
		return nil
	}
	nothing := func(context.Context, *client) error { return nil }
	// The handler answers without DynamoDB when nobody asks: its own warm time.
	refused := func(c *client, ctx context.Context) error {
		c.nobody = true
		return c.call(ctx, "GET", "/agent/questions", http.StatusBadRequest, nil, nil)
	}
	// Faster, it would meet the API's throttle of 1,000 requests a second.
	slowly := func(context.Context, *client) error {
		time.Sleep(time.Millisecond)
		return nil
	}
	clients := []int{1, 8, 32}
	return []route{
		{"warm   without DynamoDB", slowly, refused, []int{1}},
		{"ask    POST /agent/questions", nothing, (*client).ask, clients},
		{"answer POST /human/responses", needsQuestion, (*client).answer, clients},
		{"poll   GET /agent/questions/{id}", ownQuestion, (*client).poll, clients},
		{"feed   GET /human/questions", nothing, (*client).feed, clients},
	}
}

// loaded is what a load measured.
type loaded struct {
	times   []time.Duration
	added   []time.Duration // of a single client: the time of a request that was not DynamoDB's
	elapsed time.Duration
	wall    time.Duration // with the preparation
	used    used
}

func (l loaded) perSecond() float64 { return float64(len(l.times)) / l.elapsed.Seconds() }

// loadRoute makes requests with a number of clients for a while.
func (b *bench) loadRoute(ctx context.Context, l *local, r route, clients int, addresses *atomic.Uint32) (loaded, error) {
	before, err := l.used(ctx)
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
			c := &client{base: l.api, address: addresses}
			var times, added []time.Duration
			var prepared time.Duration
			for began := time.Now(); time.Since(began)-prepared < b.load; {
				took, err := timed(func() error { return r.prepare(ctx, c) })
				prepared += took
				var begin used
				if err == nil && clients == 1 {
					took, err = timed(func() error { return l.get(ctx, "/engine", &begin) })
					prepared += took
				}
				if err == nil {
					took, err = timed(func() error { return r.request(c, ctx) })
					times = append(times, took)
				}
				if err == nil && clients == 1 {
					var end used
					var asking time.Duration
					asking, err = timed(func() error { return l.get(ctx, "/engine", &end) })
					prepared += asking
					added = append(added, took-(end.Busy-begin.Busy))
				}
				if err != nil {
					cancel(err)
					return
				}
			}
			mu.Lock()
			defer mu.Unlock()
			result.times = append(result.times, times...)
			result.added = append(result.added, added...)
		})
	}
	wg.Wait()
	result.wall = time.Since(start)
	if err := context.Cause(ctx); err != nil {
		return result, fmt.Errorf("%s with %d clients: %w", r.name, clients, err)
	}
	after, err := l.used(ctx)
	result.used = used{after.Requests - before.Requests, after.Busy - before.Busy, after.readUnits - before.readUnits, after.write - before.write}
	return result, err
}

// used is what the console says of the requests to DynamoDB since the start.
type used struct {
	Requests  int64         `json:"requests"`
	Busy      time.Duration `json:"busy_ns"`
	readUnits float64
	write     float64
}

func (l *local) used(ctx context.Context) (u used, err error) {
	if err := l.get(ctx, "/engine", &u); err != nil {
		return u, err
	}
	var rows []struct {
		ReadUnits  float64 `json:"read_units"`
		WriteUnits float64 `json:"write_units"`
	}
	if err := l.get(ctx, "/capacity", &rows); err != nil {
		return u, err
	}
	for _, row := range rows {
		u.readUnits += row.ReadUnits
		u.write += row.WriteUnits
	}
	return u, nil
}

// requests measures every route with 1, 8 and 32 clients. With one client, no two
// requests meet, so what is not DynamoDB's time is the handler's and the runner's.
func (b *bench) requests(ctx context.Context) error {
	l, err := b.runLocal(ctx)
	if err != nil {
		return err
	}
	defer l.stop()
	var addresses atomic.Uint32
	b.title(fmt.Sprintf("Requests, %s each; calls and units of DynamoDB per request, preparation of the load included", b.load))
	fmt.Fprintln(b.out, "route\tclients\trequests/s\tp50\tp99\tin DynamoDB\tDynamoDB busy\tcalls\tread units\twrite units")
	added := map[string]time.Duration{}
	for _, r := range routes() {
		// The first requests start processes and fill the feed.
		if _, err := b.loadRoute(ctx, l, r, min(8, slices.Max(r.clients)), &addresses); err != nil {
			return err
		}
		for _, clients := range r.clients {
			result, err := b.loadRoute(ctx, l, r, clients, &addresses)
			if err != nil {
				return err
			}
			n, inDynamoDB := float64(len(result.times)), "-"
			if clients == 1 {
				inDynamoDB = fmt.Sprintf("%.2f ms", milliseconds(median(result.times)-median(result.added)))
				added[r.name] = median(result.added)
			}
			u := result.used
			fmt.Fprintf(b.out, "%s\t%d\t%.0f\t%.2f ms\t%.2f ms\t%s\t%.0f %%\t%.1f\t%.1f\t%.1f\n", r.name, clients, result.perSecond(),
				milliseconds(median(result.times)), milliseconds(quantile(result.times, 0.99)), inDynamoDB,
				100*float64(u.Busy)/float64(result.wall), float64(u.Requests)/n, u.readUnits/n, u.write/n)
		}
	}
	if err := b.out.Flush(); err != nil {
		return err
	}
	b.title("What handler and runner add to DynamoDB's time, p50, one client")
	for _, r := range routes() {
		b.row(r.name, fmt.Sprintf("%.2f ms", milliseconds(added[r.name])), "at most 1 ms", added[r.name] <= time.Millisecond)
	}
	return b.functions(ctx, l)
}

// functions prints what the handlers' processes needed.
func (b *bench) functions(ctx context.Context, l *local) error {
	var functions []struct {
		Name       string  `json:"name"`
		LastInitMS float64 `json:"last_init_ms"`
		Instances  []struct {
			InitMS float64 `json:"init_ms"`
			RSS    int64   `json:"rss_bytes"`
		} `json:"instances"`
	}
	if err := l.get(ctx, "/functions", &functions); err != nil {
		return err
	}
	b.title("Handlers, after the load")
	for _, f := range functions {
		var largest int64
		var inits []time.Duration
		for _, i := range f.Instances {
			largest = max(largest, i.RSS)
			inits = append(inits, time.Duration(i.InitMS*float64(time.Millisecond)))
		}
		b.row(f.Name+": init, median of its processes", fmt.Sprintf("%.1f ms", milliseconds(median(inits))), "", true)
		b.row(f.Name+": memory of its largest process", fmt.Sprintf("%.1f MB", float64(largest)/1e6), "at most 40 MB", largest <= 40e6)
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
