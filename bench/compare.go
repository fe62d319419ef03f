package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/bench/replay"
	"github.com/onesynth-cdk/onesynth/bench/routes"
	assembly "github.com/onesynth-cdk/onesynth/local"
	dynamodb "github.com/onesynth-cdk/onesynth/local/engine"
)

const (
	// compareRounds is how often ours and the yardstick take turns on a route.
	compareRounds = 3
	// compareWarm is the number of requests of each before the first measured one.
	compareWarm = 10
	// compareClients is the larger number of clients.
	compareClients = 8
	// compareDelay makes parallel calls of the traced run overlap.
	compareDelay = 3 * time.Millisecond
	// plainSettings are those that package kit gives a function of 256 MB.
	plainSettings = `{"GOMAXPROCS": "1", "GOGC": "400", "GOMEMLIMIT": "224MiB"}`
)

// compare compares each route with a plain Lambda function that makes the same calls with the AWS SDK. A
// traced run records the calls. Then both run at the same time on one engine, each with tables of its own,
// and take turns.
func (b *bench) compare(ctx context.Context) error {
	if err := b.plainAssembly(ctx); err != nil {
		return err
	}
	shared, err := dynamodb.Start(ctx, dynamodb.Options{})
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

// plainAssembly copies the assembly, with the yardstick as its functions.
func (b *bench) plainAssembly(ctx context.Context) error {
	folder := b.path("plain.out")
	if err := os.CopyFS(folder, os.DirFS(b.path("cdk.out"))); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-tags", "lambda.norpc", "-trimpath", "-ldflags=-s -w", "-o", b.path("plain"), "./bench/plain")
	build.Dir, build.Stderr, build.Env = b.root, os.Stderr, append(os.Environ(), "CGO_ENABLED=0")
	if err := build.Run(); err != nil {
		return fmt.Errorf("build ./bench/plain: %w", err)
	}
	program, err := os.ReadFile(b.path("plain"))
	if err != nil {
		return err
	}
	for _, p := range b.platforms {
		file := filepath.Join(folder, p.stack()+".template.json")
		handlers, err := configurePlain(file)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if len(handlers) == 0 {
			return fmt.Errorf("%s has no handlers to replace", file)
		}
		for _, asset := range handlers {
			handler := filepath.Join(folder, "asset."+asset, "bootstrap")
			if err := errors.Join(os.Remove(handler), os.WriteFile(handler, program, 0o755)); err != nil {
				return err
			}
		}
	}
	return nil
}

// configurePlain gives the functions of a template the settings of Go's runtime that package kit chooses, and
// returns the hashes of their assets. A function that a user pool calls stays as it is: without it no one
// signs up.
func configurePlain(file string) (assets []string, err error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var template map[string]any
	if err := json.Unmarshal(content, &template); err != nil {
		return nil, err
	}
	at := func(value any, path ...string) any {
		for _, name := range path {
			object, _ := value.(map[string]any)
			value = object[name]
		}
		return value
	}
	resources, _ := template["Resources"].(map[string]any)
	ofUserPools := map[string]bool{}
	for _, r := range resources {
		if at(r, "Type") == "AWS::Lambda::Permission" && at(r, "Properties", "Principal") == "cognito-idp.amazonaws.com" {
			if arn, _ := at(r, "Properties", "FunctionName", "Fn::GetAtt").([]any); len(arn) > 0 {
				ofUserPools[fmt.Sprint(arn[0])] = true
			}
		}
	}
	for id, r := range resources {
		if at(r, "Type") != "AWS::Lambda::Function" || ofUserPools[id] {
			continue
		}
		properties, _ := at(r, "Properties").(map[string]any)
		variables, ok := at(properties, "Environment", "Variables").(map[string]any)
		if !ok {
			variables = map[string]any{}
			properties["Environment"] = map[string]any{"Variables": variables}
		}
		if err := json.Unmarshal([]byte(plainSettings), &variables); err != nil {
			return nil, err
		}
		key, _ := at(properties, "Code", "S3Key").(string)
		assets = append(assets, strings.TrimSuffix(key, ".zip"))
	}
	changed, err := json.Marshal(template)
	if err != nil {
		return nil, err
	}
	slices.Sort(assets)
	return slices.Compact(assets), os.WriteFile(file, changed, 0o644)
}

// side is ours or the yardstick.
type side struct {
	*local
	serve []string

	handler, runner []time.Duration // processor time of a round, for each request
	times           []time.Duration // one client
	many            []time.Duration // compareClients
}

func (b *bench) comparePlatform(ctx context.Context, shared *dynamodb.Engine, p platform) error {
	tracer := &routes.Tracer{Delay: compareDelay}
	traced, err := assembly.Start(ctx, assembly.Options{
		Assembly: b.path("cdk.out"), Stacks: []string{p.stack()}, DynamoDB: shared.URL(), AccessKey: "traced" + p.Name(), NoSchedules: true, SweepInterval: -1, Observe: tracer.Observe,
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
	recorded := &routes.Run{API: traced.URL(""), Console: traced.ConsoleURL()}
	recorded.Seed = b.seed(recorded)
	var sides []*side
	for _, name := range []string{"cdk", "plain"} {
		l, err := b.runLocalOf(ctx, name+".out", "--stack", p.stack(), "--dynamodb", shared.URL(), "--access-key", name+p.Name(), "--sweep-interval=-1s")
		if err != nil {
			return err
		}
		defer l.stop()
		sides = append(sides, &side{local: l, serve: routes.Serving(p.Schema)})
	}
	again := &replayer{bench: b, run: sides[1].local, engine: shared.URL(), accessKey: "plain" + p.Name()}
	b.title(fmt.Sprintf("%s: against a plain Go Lambda that makes the same calls, %d times %d requests each in turn", p.Schema.Title, compareRounds, b.compared))
	fmt.Fprintln(b.out, "route\thandler, s per 1,000\tplain\tratio\tat most 1.15\trunner, s per 1,000\tplain\tp50, 1 client\tplain\tp99\tplain\tp50, 8 clients\tplain\tp99\tplain")
	for i, r := range p.Routes {
		// A protocol on top is measured against the route below it.
		if r.Waits || r.Plain != "" {
			continue
		}
		record := func(requests int) ([]routes.Traced, error) {
			return tracer.Route(ctx, recorded, recordedRoutes.Routes[i], requests, sides[0].serve)
		}
		if err := b.compareRoute(ctx, r, record, sides[0], sides[1], again); err != nil {
			return err
		}
		if err := b.out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// compareRoute compares a route; record makes a client's requests in the traced run.
func (b *bench) compareRoute(ctx context.Context, r routes.Route, record func(requests int) ([]routes.Traced, error), ours, plain *side, again *replayer) error {
	traced, err := record(compareRounds*b.compared + compareWarm)
	if err != nil {
		return err
	}
	var many [][]routes.Traced
	if slices.Contains(r.Clients, compareClients) {
		for range compareClients {
			one, err := record(b.compared/compareClients + 2)
			if err != nil {
				return err
			}
			many = append(many, one)
		}
	}
	ours.reset()
	plain.reset()
	file, err := again.write(traced)
	if err != nil {
		return err
	}
	prepare, request := r.Client(&ours.Run)
	live := func(int) (func(context.Context) error, func(context.Context) error) { return prepare, request }
	repeated := func(i int) (func(context.Context) error, func(context.Context) error) {
		return again.steps(file, traced, i)
	}
	if err := again.load(ctx, file, traced[0]); err != nil {
		return err
	}
	for round := -1; round < compareRounds; round++ {
		from, to := round*b.compared+compareWarm, (round+1)*b.compared+compareWarm
		if round < 0 {
			from, to = 0, compareWarm
		}
		for _, turn := range []struct {
			*side
			of func(int) (prepare, request func(context.Context) error)
		}{{ours, live}, {plain, repeated}} {
			if err := turn.measure(ctx, from, to, turn.of, round >= 0); err != nil {
				return fmt.Errorf("%s: %w", r.Name, err)
			}
		}
	}
	if err := again.finish(ctx, traced); err != nil {
		return err
	}
	if err := b.compareMany(ctx, r, many, ours, plain, again); err != nil {
		return fmt.Errorf("%s with %d clients: %w", r.Name, compareClients, err)
	}
	ratio := median(ours.handler).Seconds() / median(plain.handler).Seconds()
	verdict := "reached"
	if ratio > 1.15 {
		verdict = "NOT reached"
	}
	thousand := func(d []time.Duration) string { return fmt.Sprintf("%.2f", median(d).Seconds()*1000) }
	fmt.Fprintf(b.out, "%s\t%s\t%s\t%.2f\t%s\t%s\t%s", r.Name, thousand(ours.handler), thousand(plain.handler), ratio, verdict, thousand(ours.runner), thousand(plain.runner))
	for _, times := range [][2][]time.Duration{{ours.times, plain.times}, {ours.many, plain.many}} {
		for _, q := range []float64{0.5, 0.99} {
			for _, t := range times {
				if len(t) == 0 {
					fmt.Fprint(b.out, "\t-")
					continue
				}
				fmt.Fprintf(b.out, "\t%.2f ms", milliseconds(quantile(t, q)))
			}
		}
	}
	fmt.Fprintln(b.out)
	return nil
}

// compareMany measures response times with several clients.
func (b *bench) compareMany(ctx context.Context, r routes.Route, many [][]routes.Traced, ours, plain *side, again *replayer) error {
	for _, s := range []*side{ours, plain} {
		var group sync.WaitGroup
		var mutex sync.Mutex
		var failed error
		for _, traced := range many {
			var file string
			prepare, request := r.Client(&ours.Run)
			if s == plain {
				var err error
				if file, err = again.write(traced); err != nil {
					return err
				}
			}
			group.Go(func() {
				for i := range traced {
					if s == plain {
						prepare, request = again.steps(file, traced, i)
					}
					took, err := prepared(ctx, prepare, request)
					mutex.Lock()
					failed = errors.Join(failed, err)
					if i > 0 { // the first one starts processes
						s.many = append(s.many, took)
					}
					mutex.Unlock()
				}
			})
		}
		if group.Wait(); failed != nil {
			return failed
		}
	}
	for _, traced := range many {
		if err := again.finish(ctx, traced); err != nil {
			return err
		}
	}
	return nil
}

// prepared makes a request after its preparation, and returns how long it took.
func prepared(ctx context.Context, prepare, request func(context.Context) error) (time.Duration, error) {
	for prepare != nil {
		err := prepare(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, routes.ErrThrottled) {
			return 0, err
		}
		if err := pause(ctx); err != nil {
			return 0, err
		}
	}
	return timed(func() error { return request(ctx) })
}

func (s *side) reset() { s.handler, s.runner, s.times, s.many = nil, nil, nil, nil }

// measure makes the requests with these numbers, one after the other.
func (s *side) measure(ctx context.Context, from, to int, of func(int) (prepare, request func(context.Context) error), counts bool) error {
	var handler, runner time.Duration
	for i := from; i < to; i++ {
		prepare, request := of(i)
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
		runner += after.runner - before.runner
	}
	if counts {
		s.handler = append(s.handler, handler/time.Duration(to-from))
		s.runner = append(s.runner, runner/time.Duration(to-from))
	}
	return nil
}

// processors is the processor time of the serving handlers and of the runner since they started.
type processors struct{ handler, runner time.Duration }

// settled reads the processor time once the handlers are idle, so that all of a request is in it.
func (s *side) settled(ctx context.Context) (processors, error) {
	var functions []struct {
		Name      string `json:"name"`
		Instances []struct {
			PID int `json:"pid"`
		} `json:"instances"`
	}
	if err := s.Get(ctx, "/functions", &functions); err != nil {
		return processors{}, err
	}
	var pids []int
	for _, f := range functions {
		if slices.ContainsFunc(s.serve, func(name string) bool { return strings.Contains(strings.ToLower(f.Name), name) }) {
			for _, i := range f.Instances {
				pids = append(pids, i.PID)
			}
		}
	}
	for last := time.Duration(-1); ; {
		var sum time.Duration
		for _, pid := range pids {
			one, err := processorTime(pid)
			if err != nil {
				return processors{}, err
			}
			sum += one
		}
		if sum == last {
			runner, err := processorTime(s.pid)
			return processors{sum, runner}, err
		}
		last = sum
		time.Sleep(500 * time.Microsecond)
	}
}

// processorTime is the time that the threads of a process have run, by the scheduler of Linux. Go ends no
// thread that it may still use.
func processorTime(pid int) (time.Duration, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("process %d has no /proc/%d/task: processor time needs Linux, and the process: %w", pid, pid, err)
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
	bench             *bench
	run               *local
	engine, accessKey string
	files             int
	token             string
}

// write writes the requests for the yardstick.
func (r *replayer) write(traced []routes.Traced) (file string, err error) {
	requests := make([]replay.Request, len(traced))
	for i, t := range traced {
		var stages [][]replay.Call
		for _, c := range t.Calls {
			if c.Stage > len(stages) {
				stages = append(stages, nil)
			}
			stages[c.Stage-1] = append(stages[c.Stage-1], replay.Call{Operation: c.Operation, Input: c.Body})
		}
		requests[i] = replay.Request{Stages: stages, Status: t.Exchange.Status, Answer: string(t.Exchange.Answer)}
	}
	content, err := json.Marshal(requests)
	if err != nil {
		return "", err
	}
	r.files++
	file = r.bench.path(fmt.Sprintf("%s-%d.json", r.accessKey, r.files))
	return file, os.WriteFile(file, content, 0o600)
}

// load makes the yardstick read a file.
func (r *replayer) load(ctx context.Context, file string, first routes.Traced) error {
	return r.send(ctx, file, -1, first.Exchange, http.StatusNoContent)
}

// steps returns what makes the i-th request again. What prepared it, and what other functions did after
// the one before, goes to the engine directly.
func (r *replayer) steps(file string, traced []routes.Traced, i int) (prepare, request func(context.Context) error) {
	prepare = func(ctx context.Context) error {
		calls := traced[i].Prepared
		if i > 0 {
			calls = slices.Concat(traced[i-1].Others, calls)
		}
		for _, c := range calls {
			if err := r.direct(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}
	exchange := traced[i].Exchange
	return prepare, func(ctx context.Context) error { return r.send(ctx, file, i, exchange, exchange.Status) }
}

// finish makes at the engine what other functions did after the last request.
func (r *replayer) finish(ctx context.Context, traced []routes.Traced) error {
	for _, c := range traced[len(traced)-1].Others {
		if err := r.direct(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// send sends a request of the traced run to the yardstick, with a token of its own run.
func (r *replayer) send(ctx context.Context, file string, number int, e routes.Exchange, want int) error {
	request, err := http.NewRequestWithContext(ctx, e.Method, r.run.API+e.Path, bytes.NewReader(e.Body))
	if err != nil {
		return err
	}
	request.Header = e.Header.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	if request.Header.Get("Authorization") != "" {
		if r.token == "" {
			if r.token, err = r.run.Token(ctx, "bench", "admin"); err != nil {
				return err
			}
		}
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	request.Header.Set(replay.FileHeader, file)
	request.Header.Set(replay.NumberHeader, strconv.Itoa(number))
	return exchange(request, want)
}

// direct makes a call at the engine, past the yardstick. A condition may fail, as it did in the traced run.
func (r *replayer) direct(ctx context.Context, c routes.Call) error {
	var input map[string]json.RawMessage
	if err := json.Unmarshal(c.Body, &input); err != nil {
		return err
	}
	// With the token of the traced run it would be the same transaction.
	delete(input, "ClientRequestToken")
	body, err := json.Marshal(input)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.engine, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+c.Operation)
	date, authorization := dynamodb.Headers(r.accessKey, dynamodb.Region, time.Now())
	request.Header.Set("X-Amz-Date", date)
	request.Header.Set("Authorization", authorization)
	return exchange(request, 0)
}

// exchange sends a request, reads the answer, and checks its status, unless that is 0.
func exchange(request *http.Request, want int) error {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && want != 0 && response.StatusCode != want {
		err = fmt.Errorf("%s %s: got %d, want %d: %s", request.Method, request.URL.Path, response.StatusCode, want, answer)
	}
	return err
}
