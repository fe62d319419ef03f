package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"

	"github.com/onesynth-cdk/onesynth/internal/engine"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest"
	"github.com/onesynth-cdk/onesynth/run/runtest"
	"github.com/onesynth-cdk/onesynth/tools/bench/replay"
	"github.com/onesynth-cdk/onesynth/tools/bench/routes"
)

const (
	// compareRounds is how often ours and the yardstick take turns on a route.
	compareRounds = 5
	// compareStarts is how often a process of each starts anew for a first answer.
	compareStarts = 20
	// compareClients is the larger number of clients.
	compareClients = 8
	// compareDelay makes parallel calls of the traced run overlap.
	compareDelay = 3 * time.Millisecond
)

// compare compares each route with a plain Lambda function that makes the same calls with the AWS SDK. A
// traced run records the calls. Then both run at the same time on one engine, each with tables of its own,
// and take turns.
func (b *bench) compare(ctx context.Context) error {
	if err := b.plainAssembly(ctx); err != nil {
		return err
	}
	shared, err := engine.Start(ctx, engine.Options{})
	if err != nil {
		return err
	}
	defer shared.Close()
	for _, p := range b.platforms {
		if err := b.comparePlatform(ctx, shared, p); err != nil {
			return fmt.Errorf("%s: %w", p.Name(), err)
		}
	}
	return nil
}

// plainAssembly copies the assembly, with the yardstick as its functions. A function that a user pool calls stays as it
// is: without it no one signs up.
func (b *bench) plainAssembly(ctx context.Context) error {
	folder := b.path("plain.out")
	if err := os.CopyFS(folder, os.DirFS(b.path("cdk.out"))); err != nil {
		return err
	}
	if err := b.compile(ctx, "plain", "./tools/bench/plain", "CGO_ENABLED=0"); err != nil {
		return err
	}
	program, err := os.ReadFile(b.path("plain"))
	if err != nil {
		return err
	}
	handlers, err := runtest.Handlers(folder)
	if err != nil {
		return err
	}
	for _, of := range handlers {
		if slices.Contains(of.Invokers, "cognito-idp.amazonaws.com") {
			continue
		}
		handler := filepath.Join(of.Folder, "bootstrap")
		// The file is removed first: it may be a link to the other assembly's.
		if err := errors.Join(os.Remove(handler), os.WriteFile(handler, program, 0o755)); err != nil {
			return err
		}
	}
	return nil
}

// side is ours or the yardstick.
type side struct {
	*local
	serve []string
	// client returns a client that makes requests: ours of the route, the yardstick's those of the traced run again.
	client func(routes.Route, []routes.Traced) (client, error)

	handler, run []time.Duration // processor time of a round, for each request
	times        []time.Duration // one client
	many         []time.Duration // compareClients
}

// client makes the i-th request with its preparation, and finishes what its last request has left.
type client struct {
	request func(i int) (prepare, request routes.Step)
	finish  func(context.Context) error
}

// ours returns a client of the route.
func (l *local) ours(r routes.Route, _ []routes.Traced) (client, error) {
	prepare, request := r.Client(l.Run)
	return client{
		request: func(int) (routes.Step, routes.Step) { return prepare, request },
		finish:  func(context.Context) error { return nil },
	}, nil
}

func (b *bench) comparePlatform(ctx context.Context, shared *engine.Engine, p platform) error {
	tracer := &routes.Tracer{Delay: compareDelay}
	traced, err := run.Start(ctx, run.Options{
		Assembly: b.path("cdk.out"), Stacks: []string{p.stack()}, DynamoDB: shared.URL(),
		AccessKey: "traced" + p.Name(), NoSchedules: true, SweepInterval: -1, Observe: tracer.Observe,
	})
	if err != nil {
		return err
	}
	defer traced.Close()
	// Its clients share what they have loaded, so each run has its own.
	recordedRoutes, err := routes.Of(p.ID)
	if err != nil {
		return err
	}
	recorded := &routes.Run{API: traced.URL(""), Console: traced.ConsoleURL(), Seed: b.seed(traced.ConsoleURL())}
	var sides []*side
	for _, name := range []string{"cdk", "plain"} {
		l, err := b.runLocalOf(ctx, name+".out", b.root, func(string) {}, withoutData, "--stack", p.stack(),
			"--dynamodb", shared.URL(), "--access-key", name+p.Name(), "--sweep-interval=-1s")
		if err != nil {
			return err
		}
		defer l.stop()
		sides = append(sides, &side{local: l, serve: routes.Serving(p.Schema), client: l.ours})
	}
	accessKey := "plain" + p.Name()
	again := &replayer{bench: b, run: sides[1].local, engine: shared.Client(accessKey), name: accessKey}
	sides[1].client = again.client
	b.title("%s: against a plain Go Lambda that makes the same calls, %d times %d requests each in turn, after %d of "+
		"each",
		p.Schema.Title, compareRounds, b.compared, b.comparedAfter)
	b.cells("route", "handler, processor time", "plain", "ratio", "at most 1.3", "difference",
		"run, processor time", "plain", "p50, 1 client", "plain", "p99", "plain",
		"p50, 8 clients", "plain", "p99", "plain")
	var compared []comparison
	for i, r := range p.Routes {
		// A protocol on top is measured against the route below it.
		if r.Waits || r.Plain != "" || len(b.routeNames) > 0 && !slices.Contains(b.routeNames, r.Name) {
			continue
		}
		record := func(requests int) ([]routes.Traced, error) {
			return tracer.Route(ctx, recorded, recordedRoutes.Routes[i], requests, sides[0].serve)
		}
		ratio, err := b.compareRoute(ctx, r, record, sides[0], sides[1])
		if err != nil {
			return err
		}
		compared = append(compared, comparison{r, record, ratio})
		if err := b.out.Flush(); err != nil {
			return err
		}
	}
	if len(compared) == 0 {
		return nil
	}
	// The first route that needs DynamoDB.
	first := compared[max(0, slices.IndexFunc(compared, func(c comparison) bool { return c.Name != "warm" }))]
	slices.SortFunc(compared, func(a, b comparison) int { return cmp.Compare(a.ratio, b.ratio) })
	median, highest := compared[len(compared)/2], compared[len(compared)-1]
	b.row("median of the ratios", fmt.Sprintf("%.2f", median.ratio), "at most 1.15", median.ratio <= 1.15)
	b.row("highest ratio", fmt.Sprintf("%.2f, %s", highest.ratio, highest), "at most 1.3", highest.ratio <= 1.3)
	return b.compareFirst(ctx, first, sides[0], sides[1])
}

// comparison is a route that was compared.
type comparison struct {
	routes.Route
	record func(requests int) ([]routes.Traced, error)
	ratio  float64
}

// compareFirst compares the first answer of a new process, and the memory that it then has.
func (b *bench) compareFirst(ctx context.Context, of comparison, ours, plain *side) error {
	traced, err := of.record(compareStarts + 1)
	if err != nil {
		return err
	}
	sides := []*side{ours, plain}
	var times, processor, memory [2][]time.Duration
	for n, one := range traced {
		for i, s := range sides {
			first, err := s.first(ctx, of.Route, one)
			if err != nil {
				return fmt.Errorf("first answer to %s: %w", of, err)
			}
			if n > 0 {
				times[i] = append(times[i], first.took)
				processor[i] = append(processor[i], first.processor)
				memory[i] = append(memory[i], time.Duration(first.resident))
			}
		}
	}
	b.title("First answer of a new process, its start included: %s, %d of each in turn", of, compareStarts)
	b.cells("", "ours", "plain", "ratio", "target")
	for _, line := range []struct {
		what   string
		of     [2][]time.Duration
		format func(float64) string
		most   float64
	}{
		{"time", times, seconds, 1.4}, {"processor time", processor, seconds, 1.4},
		{"memory", memory, func(bytes float64) string { return fmt.Sprintf("%.1f MiB", bytes*1e9/(1<<20)) }, 1.3},
	} {
		own, other := sampleOf(line.of[0]).median(), sampleOf(line.of[1]).median()
		reach := fmt.Sprintf("at most %.1f", line.most)
		b.cells(line.what, line.format(own), line.format(other), fmt.Sprintf("%.2f", own/other),
			reach, verdict(reach, own/other <= line.most))
	}
	return nil
}

// firstAnswer is what the first answer of a process took, from its start on.
type firstAnswer struct {
	took, processor time.Duration
	resident        int64 // bytes
}

// first ends the processes that serve, and makes a request, for which a new one starts.
func (s *side) first(ctx context.Context, r routes.Route, traced routes.Traced) (first firstAnswer, err error) {
	of, err := s.client(r, []routes.Traced{traced})
	if err != nil {
		return first, err
	}
	prepare, request := of.request(0)
	if err := prepare(ctx); err != nil {
		return first, err
	}
	for ended := map[int]bool{}; ; time.Sleep(time.Millisecond) {
		instances, err := s.instances(ctx)
		if err != nil {
			return first, err
		}
		if len(instances) == 0 {
			break
		}
		for _, i := range instances {
			if !ended[i.PID] {
				ended[i.PID] = true
				if err := syscall.Kill(i.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
					return first, err
				}
			}
		}
	}
	if first.took, err = timed(func() error { return request(ctx) }); err != nil {
		return first, err
	}
	spent, err := s.settled(ctx)
	if err != nil {
		return first, err
	}
	first.processor = spent.handler
	instances, err := s.instances(ctx)
	for _, i := range instances {
		first.resident += i.RSSBytes
	}
	return first, errors.Join(err, of.finish(ctx))
}

// compareRoute compares a route, and returns the ratio of the handlers' processor times. record makes a client's
// requests in the traced run.
func (b *bench) compareRoute(ctx context.Context, r routes.Route, record func(requests int) ([]routes.Traced, error),
	ours, plain *side) (ratio float64, err error) {
	traced, err := record(compareRounds*b.compared + b.comparedAfter)
	if err != nil {
		return 0, err
	}
	var many [][]routes.Traced
	if slices.Contains(r.Clients, compareClients) {
		for range compareClients {
			one, err := record(2*b.compared/compareClients + 2)
			if err != nil {
				return 0, err
			}
			many = append(many, one)
		}
	}
	sides := []*side{ours, plain}
	clients := make([]client, len(sides))
	for i, s := range sides {
		s.handler, s.run, s.times, s.many = nil, nil, nil, nil
		if clients[i], err = s.client(r, traced); err != nil {
			return 0, err
		}
	}
	for round := -1; round < compareRounds; round++ {
		from, to := round*b.compared+b.comparedAfter, (round+1)*b.compared+b.comparedAfter
		if round < 0 {
			from = 0
		}
		for i, s := range sides {
			if err := s.measure(ctx, from, to, clients[i], round >= 0); err != nil {
				return 0, fmt.Errorf("%s: %w", r, err)
			}
		}
	}
	for i, s := range sides {
		if err := clients[i].finish(ctx); err != nil {
			return 0, err
		}
		if err := s.measureMany(ctx, r, many); err != nil {
			return 0, fmt.Errorf("%s with %d clients: %w", r, compareClients, err)
		}
	}
	handler, plainly := sampleOf(ours.handler), sampleOf(plain.handler)
	ratio = handler.median() / plainly.median()
	cells := []string{
		r.String(), seconds(handler.median()), seconds(plainly.median()), fmt.Sprintf("%.2f", ratio),
		verdict("at most 1.3", ratio <= 1.3), handler.difference(plainly),
		seconds(sampleOf(ours.run).median()), seconds(sampleOf(plain.run).median()),
	}
	for _, times := range [][2][]time.Duration{{ours.times, plain.times}, {ours.many, plain.many}} {
		for _, q := range []float64{0.5, 0.99} {
			for _, t := range times {
				cell := "-"
				if len(t) > 0 {
					cell = seconds(sampleOf(t).quantile(q))
				}
				cells = append(cells, cell)
			}
		}
	}
	b.cells(cells...)
	return ratio, nil
}

// measureMany measures response times with several clients.
func (s *side) measureMany(ctx context.Context, r routes.Route, many [][]routes.Traced) error {
	group, working := errgroup.WithContext(ctx)
	clients, times := make([]client, len(many)), make([][]time.Duration, len(many))
	for n, traced := range many {
		var err error
		if clients[n], err = s.client(r, traced); err != nil {
			return err
		}
		group.Go(func() error {
			for i := range traced {
				prepare, request := clients[n].request(i)
				took, err := prepared(working, prepare, request)
				if err != nil {
					return err
				}
				times[n] = append(times[n], took)
			}
			return nil
		})
	}
	err := group.Wait()
	for n, client := range clients {
		if err == nil {
			err = client.finish(ctx)
			s.many = append(s.many, times[n][1:]...) // the first one starts processes
		}
	}
	return err
}

// prepared makes a request after its preparation, and returns how long it took.
func prepared(ctx context.Context, prepare, request routes.Step) (time.Duration, error) {
	if err := prepare(ctx); err != nil {
		return 0, err
	}
	return timed(func() error { return request(ctx) })
}

// measure makes the requests with these numbers, one after the other.
func (s *side) measure(ctx context.Context, from, to int, of client, counts bool) error {
	var handler, run time.Duration
	for i := from; i < to; i++ {
		prepare, request := of.request(i)
		var before, after processors
		var err error
		whole := func(ctx context.Context) error {
			if before, err = s.settled(ctx); err != nil {
				return err
			}
			took, err := timed(func() error { return request(ctx) })
			if err != nil {
				return err
			}
			if counts {
				s.times = append(s.times, took)
			}
			after, err = s.settled(ctx)
			return err
		}
		if _, err := prepared(ctx, prepare, whole); err != nil {
			return err
		}
		handler += after.handler - before.handler
		run += after.run - before.run
	}
	if counts {
		s.handler = append(s.handler, handler/time.Duration(to-from))
		s.run = append(s.run, run/time.Duration(to-from))
	}
	return nil
}

// processors is the processor time of the serving handlers and of the run since they started.
type processors struct{ handler, run time.Duration }

// settled reads the processor time once the handlers are idle, so that all of a request is in it.
func (s *side) settled(ctx context.Context) (processors, error) {
	instances, err := s.instances(ctx)
	if err != nil {
		return processors{}, err
	}
	for last := time.Duration(-1); ; {
		var sum time.Duration
		for _, i := range instances {
			one, err := processorTime(i.PID)
			if err != nil {
				return processors{}, err
			}
			sum += one
		}
		if sum == last {
			run, err := processorTime(s.pid)
			return processors{sum, run}, err
		}
		last = sum
		time.Sleep(500 * time.Microsecond)
	}
}

// instances are the processes of the functions that serve.
func (s *side) instances(ctx context.Context) (serving []instance, err error) {
	var functions []function
	if err := s.Get(ctx, "/functions", &functions); err != nil {
		return nil, err
	}
	for _, f := range functions {
		if slices.ContainsFunc(s.serve, func(name string) bool {
			return strings.Contains(strings.ToLower(f.Name), name)
		}) {
			serving = append(serving, f.Instances...)
		}
	}
	return serving, nil
}

// processorTime is the time that the threads of a process have run, by the scheduler of Linux. Go ends no
// thread that it may still use.
func processorTime(pid int) (time.Duration, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("process %d has no /proc/%d/task: processor time needs Linux, and the process: %w", pid,
			pid, err)
	}
	var sum time.Duration
	for _, file := range files {
		content, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		ran, _, _ := strings.Cut(string(content), " ")
		nanoseconds, err := strconv.ParseInt(ran, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(nanoseconds)
	}
	return sum, nil
}

// replayer makes the requests of a traced run of the yardstick.
type replayer struct {
	bench  *bench
	run    *local
	engine *sdk.Client
	name   string
	files  int
	token  string
}

// client returns a client of the yardstick, which has read the file with the requests.
func (r *replayer) client(_ routes.Route, traced []routes.Traced) (client, error) {
	requests := make([]replay.Request, len(traced))
	for i, t := range traced {
		requests[i] = replay.Request{Stages: make([][]replay.Call, t.Stages()), Status: t.Exchange.Reply.Status,
			Answer: string(t.Exchange.Reply.Body)}
		for _, c := range t.Calls {
			stage := &requests[i].Stages[c.Stage-1]
			*stage = append(*stage, replay.Call{Operation: c.Operation, Input: c.Body})
		}
	}
	content, err := json.Marshal(requests)
	if err != nil {
		return client{}, err
	}
	r.files++
	file := r.bench.path(fmt.Sprintf("%s-%d.json", r.name, r.files))
	return client{
		// What prepared it, and what other functions did after the one before, goes to the engine directly.
		request: func(i int) (prepare, request routes.Step) {
			prepare = func(ctx context.Context) error {
				if i == 0 {
					if err := r.send(ctx, file, -1, traced[0].Exchange, http.StatusNoContent); err != nil {
						return err
					}
					return r.direct(ctx, traced[0].Prepared)
				}
				return r.direct(ctx, slices.Concat(traced[i-1].Others, traced[i].Prepared))
			}
			exchange := traced[i].Exchange
			return prepare, func(ctx context.Context) error {
				return r.send(ctx, file, i, exchange, exchange.Reply.Status)
			}
		},
		finish: func(ctx context.Context) error { return r.direct(ctx, traced[len(traced)-1].Others) },
	}, os.WriteFile(file, content, 0o600)
}

// send sends a request of the traced run to the yardstick, with a token of its own run.
func (r *replayer) send(ctx context.Context, file string, number int, e routes.Exchange, want int) (err error) {
	header := e.Header.Clone()
	if header.Get("Authorization") != "" {
		if r.token == "" {
			if r.token, err = r.run.Token(ctx, "bench", "admin"); err != nil {
				return err
			}
		}
		header.Set("Authorization", "Bearer "+r.token)
	}
	header.Set(replay.FileHeader, file)
	header.Set(replay.NumberHeader, strconv.Itoa(number))
	client := onesynthtest.Client{URL: r.run.API, HTTP: http.DefaultClient}
	_, err = routes.Demand(want)(client.Send(ctx, e.Method, e.Path, header, e.Body))
	return err
}

// direct makes calls at the engine, past the yardstick. A condition may fail, as it did in the traced run.
func (r *replayer) direct(ctx context.Context, calls []routes.Call) error {
	for _, c := range calls {
		call, err := replay.Call{Operation: c.Operation, Input: c.Body}.Prepare(r.engine)
		if err != nil {
			return err
		}
		var answered smithy.APIError
		if err := call(ctx); err != nil && !errors.As(err, &answered) {
			return err
		}
	}
	return nil
}
