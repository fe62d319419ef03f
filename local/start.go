package local

// How a run starts: which part needs which.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	neturl "net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/onesynth-cdk/onesynth/local/assembly"
	"github.com/onesynth-cdk/onesynth/local/awsapi"
	"github.com/onesynth-cdk/onesynth/local/buckets"
	"github.com/onesynth-cdk/onesynth/local/catalog"
	"github.com/onesynth-cdk/onesynth/local/console"
	"github.com/onesynth-cdk/onesynth/local/engine"
	"github.com/onesynth-cdk/onesynth/local/gateway"
	"github.com/onesynth-cdk/onesynth/local/inbox"
	"github.com/onesynth-cdk/onesynth/local/lambda"
	"github.com/onesynth-cdk/onesynth/local/loopback"
	"github.com/onesynth-cdk/onesynth/local/policy"
	"github.com/onesynth-cdk/onesynth/local/queue"
	"github.com/onesynth-cdk/onesynth/local/schedule"
	"github.com/onesynth-cdk/onesynth/local/trace"
	"github.com/onesynth-cdk/onesynth/local/userpool"
)

// Errors of Start, to be matched with errors.Is.
var (
	// ErrUnsupported says that the assembly has resources that cannot be run here.
	ErrUnsupported = errors.New("resources that a local run does not emulate")
	// ErrPort says that a port is taken.
	ErrPort = errors.New("port in use")
	// ErrWebhookEndpoint says that no webhook of a run can go to an address.
	ErrWebhookEndpoint = errors.New("no address of an endpoint for webhooks on this machine: write it such as http://127.0.0.1:9000/hooks")
)

const (
	// engineStart is the longest that DynamoDB Local may take to start, the first time with the archive of its classes.
	engineStart = 2 * time.Minute
	// secretKey is every function's: its access key says who calls.
	secretKey = "local"
	// bucketsFolder is the folder of the objects, in the folder of the run's data.
	bucketsFolder = "s3"
	// scheduleCaller begins the names under which schedules call AWS.
	scheduleCaller = "schedule/"
)

// Start starts a run and returns when all of it answers. It fails with assembly.ErrNoAssembly,
// ErrUnsupported, ErrPort, ErrWebhookEndpoint, lambda.ErrArchitecture, engine.ErrNoJava, engine.ErrNoJar, or an error that names
// the resource that cannot be run; nothing is left running then.
func Start(ctx context.Context, options Options) (*Runner, error) {
	if options.Assembly == "" {
		options.Assembly = "cdk.out"
	}
	if options.AccessKey == "" {
		options.AccessKey = "onesynth"
	}
	if options.Log == nil {
		options.Log = io.Discard
	}
	for _, endpoint := range options.WebhookEndpoints {
		address, err := neturl.Parse(endpoint)
		if err != nil || address.Scheme != "http" && address.Scheme != "https" || !loopback.Is(address.Hostname()) || strings.ContainsFunc(endpoint, unicode.IsSpace) {
			return nil, fmt.Errorf("got %q: %w", endpoint, ErrWebhookEndpoint)
		}
	}
	r := &Runner{options: options, log: newLog(options), parts: newGroup(ctx), doors: map[apiName]*door{}}
	if err := r.start(ctx); err != nil {
		r.Close()
		return nil, err
	}
	r.announce()
	return r, nil
}

// start starts the parts, each after those that it needs.
func (r *Runner) start(ctx context.Context) (err error) {
	if r.folder, err = os.MkdirTemp("", "onesynth-local-"); err != nil {
		return fmt.Errorf("local run: %w", err)
	}
	r.parts.afterwards(func() { _ = os.RemoveAll(r.folder) })
	d, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	r.trace = trace.New(trace.Options{Keys: r.keyAttributes, Ended: r.log.ended, Stray: r.log.stray})
	r.design.Store(d)
	if err := r.startServices(d); err != nil {
		return err
	}
	if err := r.readAPIs(d); err != nil {
		return err
	}
	if err := r.startDatabases(ctx, d); err != nil {
		return err
	}
	r.parts.serve(r.ports.aws, loopback.Guard{Listener: "the endpoint of AWS"}.Handler(r.aws))
	r.parts.serve(r.ports.inbox, loopback.Guard{Listener: "the push inbox"}.Handler(r.inbox))
	r.showConsole(d)
	r.parts.serve(r.ports.console, loopback.Guard{Listener: "the console", Pages: true}.Handler(&r.console))
	r.openDoors(d)
	for _, status := range r.functions.Functions() {
		if err := r.functions.Warm(status.Name); err != nil {
			return err
		}
	}
	r.beginData(ctx)
	if !r.options.NoSchedules {
		r.schedules.Start()
	}
	if r.options.Watch {
		return r.follow(ctx)
	}
	return nil
}

// prepare does everything that needs no tables: ports, the assembly and its functions. DynamoDB Local takes about a second to
// start, and does so meanwhile. An error of the assembly comes before an error of the engine.
func (r *Runner) prepare(ctx context.Context) (d *design, err error) {
	engineCtx, cancel := context.WithTimeout(ctx, engineStart)
	defer cancel()
	var engineErr error
	var starting sync.WaitGroup
	starting.Go(func() {
		r.engine, engineErr = engine.Start(engineCtx, engine.Options{URL: r.options.DynamoDB, Dir: subfolder(r.options.Data, "dynamodb")})
	})
	if d, err = r.read(ctx); err != nil {
		cancel()
	}
	starting.Wait()
	if r.engine != nil {
		r.parts.afterwards(func() { _ = r.engine.Close() })
		r.parts.start(r.watchEngine)
	}
	if err == nil {
		err = engineErr
	}
	return d, err
}

func (r *Runner) read(ctx context.Context) (*design, error) {
	var err error
	if r.ports, err = openPorts(r.options); err != nil {
		return nil, err
	}
	r.parts.afterwards(r.ports.close)
	r.inbox = inbox.New(url(r.ports.inbox))
	r.issuer = gateway.NewIssuer(r.options.Data)
	d, err := r.load(r.options.Assembly)
	if err != nil {
		return nil, err
	}
	if err := r.openBuckets(d.assembly); err != nil {
		return nil, err
	}
	if err := r.readFunctions(ctx, d, r.folder); err != nil {
		return nil, err
	}
	return d, r.checkLakes(ctx, d)
}

// watchEngine ends the run with the engine.
func (r *Runner) watchEngine(ctx context.Context) error {
	select {
	case <-r.engine.Exited():
		return errors.New("DynamoDB Local has ended: start the run again")
	case <-ctx.Done():
		return nil
	}
}

// startServices makes the AWS endpoint of functions, the functions, and the schedules that invoke them. Nothing calls them before
// the servers answer.
func (r *Runner) startServices(d *design) (err error) {
	if err := r.openDatabases(d, nil); err != nil {
		return err
	}
	r.aws, err = awsapi.New(awsapi.Options{
		Assembly: d.assembly, EngineURL: r.engine.URL(), AccessKey: r.options.AccessKey, AccessKeys: d.databases.AccessKeys(), Region: engine.Region,
		Dir: r.options.Data, SSMParameters: r.options.SSMParameters, ModelsURL: r.options.ModelsURL, Buckets: r.buckets, ServiceAccount: r.inbox.ServiceAccount,
		Wrote: func(environment, operation string, body []byte) {
			r.design.Load().databases.Wrote(environment, operation, body)
		},
		Observe: r.options.Observe, Trace: r.trace, Log: r.log.structured(),
	})
	if err != nil {
		return err
	}
	r.functions = lambda.New(lambda.Options{
		MaxInstances: r.options.MaxInstances, Region: assembly.DefaultRegion, Endpoint: url(r.ports.aws), Variables: []string{localWebhooks + strings.Join(append([]string{r.WebhooksURL()}, r.options.WebhookEndpoints...), " ")},
		Trace: r.trace, Log: r.log.function, AuthoriseLogs: logs{r.Assembly, r.aws}.authorise, Queues: queues{r.aws}, RetryDelay: r.options.RetryDelay,
	})
	r.parts.onStop(r.functions.Close)
	for _, f := range d.functions {
		if err := r.functions.Add(f.Function); err != nil {
			return err
		}
		r.register(f, d)
	}
	r.schedules = schedule.New(schedule.Options{Target: target{r.aws, r.functions}, Now: r.options.Now, Log: r.log.line})
	if err := r.readSchedules(d); err != nil {
		return err
	}
	if err := r.schedules.Change(d.schedules); err != nil {
		return err
	}
	r.registerSchedules(d)
	r.parts.onStop(r.schedules.Close)
	if err := r.readUsers(d); err != nil {
		return err
	}
	if idle := d.users.WithoutEffect(); len(idle) > 0 {
		r.log.printf("without effect here: %s", strings.Join(idle, ", "))
	}
	r.buckets.OnCreated(func(created buckets.Created) { r.design.Load().rules.Deliver(created, r.functions, r.log.line) })
	return nil
}

func (r *Runner) openDatabases(d *design, former *engine.Databases) (err error) {
	d.databases, err = engine.OpenDatabases(r.engine, d.assembly, engine.DatabasesOptions{
		AccessKey: r.options.AccessKey, Dir: r.options.Data, Former: former, SweepInterval: r.options.SweepInterval, Log: r.log.structured(),
	})
	return err
}

// register lets a function call AWS, as the role that the assembly gives it.
func (r *Runner) register(f lambda.Declared, d *design) {
	r.aws.Register(f.AccessKeyID, f.Name, d.roles[f.Name])
	if f.Traced {
		for _, err := range authoriseTraces(r.aws, f.Name) {
			r.log.function(f.Name, "its traces are dropped, as on AWS: "+err.Error())
		}
	}
}

func (r *Runner) registerSchedules(d *design) {
	for _, s := range d.schedules {
		r.aws.Register(accessKey(), scheduleCaller+s.Name, d.roles[scheduleCaller+s.Name])
	}
}

// startDatabases makes the tables, and begins to deliver their streams.
func (r *Runner) startDatabases(ctx context.Context, d *design) error {
	if err := r.readStreams(d); err != nil {
		return err
	}
	if err := r.readQueues(d); err != nil {
		return err
	}
	if err := d.databases.CreateTables(ctx, r.log.line); err != nil {
		return err
	}
	r.deliverMessages(d, nil)
	return r.deliverStreams(d)
}

func (r *Runner) readStreams(d *design) error {
	return d.databases.ReadStreams(engine.StreamsOptions{
		Invoke: streamInvoker{r.functions}, Redeliver: r.aws.Redeliver, Log: r.log.structured(),
		Authorise: func(function, action, resource string) error {
			return r.aws.AuthoriseAs(function, d.roles[function], action, resource)
		},
		Send: func(queueARN, body string) error { return send(r.aws, queueARN, body, nil) },
	})
}

func (r *Runner) readQueues(d *design) (err error) {
	d.queues, err = queue.Read(d.assembly, queue.Options{
		Invoke: streamInvoker{r.functions}, Queue: r.aws.Queue, Log: r.log.structured(),
		Authorise: func(function, action, resource string) error {
			return r.aws.AuthoriseAs(function, d.roles[function], action, resource)
		},
	})
	return err
}

// deliverMessages begins to hand messages of queues to functions. former has the mappings of the former assembly; nil: there is none.
func (r *Runner) deliverMessages(d *design, former *queue.Mappings) {
	ended := d.queues.Start(r.parts.ctx, former)
	r.parts.onStop(func() { <-ended })
}

func (r *Runner) deliverStreams(d *design) error {
	ended, err := d.databases.Start(r.parts.ctx)
	if err != nil {
		return err
	}
	r.parts.onStop(func() { <-ended })
	return nil
}

// readAPIs reads the HTTP APIs. They answer once their doors are open.
func (r *Runner) readAPIs(d *design) error {
	d.gateways = map[apiName]*gateway.Gateway{}
	var problems []error
	for _, resource := range d.assembly.APIs() {
		api, err := gateway.Read(d.assembly, resource, r.issuer)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		name := api.Name
		g, err := gateway.New(api, gateway.Options{
			Invoker: r.functions, Debugged: r.isDebugged, Stack: resource.Stack.Name, Trace: r.trace, Log: r.log.line,
			AccessLog: func(line string) { r.log.function(name, line) },
		})
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", resource, err))
			continue
		}
		d.gateways[nameOf(resource)] = g
		entry := console.API{Stack: resource.Stack.Name, Name: name, URL: url(r.ports.apis[nameOf(resource)])}
		if api.Stage != "" && api.Stage != "$default" {
			entry.URL += "/" + api.Stage
		}
		for _, route := range api.Routes {
			if path, ok := strings.CutPrefix(route.Key, "GET "); ok && strings.HasSuffix(path, "/openapi.json") {
				entry.OpenAPI = entry.URL + path
			}
			entry.Admit(route.Authorizer)
		}
		d.apis = append(d.apis, entry)
	}
	return errors.Join(problems...)
}

// door is an address at which another handler may answer from one request to the next.
type door struct{ handler atomic.Pointer[http.Handler] }

// ServeHTTP answers as the present handler does, and with 404 while there is none.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if handler := d.handler.Load(); handler != nil {
		(*handler).ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}

func (d *door) open(handler http.Handler) { d.handler.Store(&handler) }

// openDoors makes the APIs answer. The addresses of those that the assembly has no more stay, with nothing behind them.
func (r *Runner) openDoors(d *design) {
	for name, g := range d.gateways {
		guarded := loopback.Guard{Listener: "the API of stack " + name.stack, Pages: true, Allows: g.Allows}.Handler(g)
		if r.doors[name] == nil {
			r.doors[name] = &door{}
			r.doors[name].open(guarded)
			r.parts.serve(r.ports.apis[name], r.doors[name])
			continue
		}
		r.doors[name].open(guarded)
	}
	for name, one := range r.doors {
		if d.gateways[name] == nil {
			one.handler.Store(nil)
		}
	}
}

// showConsole makes the console show the assembly.
func (r *Runner) showConsole(d *design) {
	view := cloud{assembly: d.assembly, aws: r.aws, databases: d.databases, queues: d.queues, buckets: r.buckets, lakes: d.lakes, functions: r.functions}
	r.console.open(console.New(console.Options{
		APIs: d.apis, Functions: r.functions, Schedules: r.schedules, Users: d.users, Cloud: view, Inbox: r.inbox, Webhooks: &r.webhooks, Issuer: r.issuer, Trace: r.trace,
		Endpoint: url(r.ports.aws), DynamoDB: view.database(r.engine.URL()), QueryLake: r.queryLake(),
	}))
}

// queryLake is how the console answers SQL, if the options say how.
func (r *Runner) queryLake() func(context.Context, catalog.Question) (catalog.Answer, error) {
	if r.options.QueryLake == nil {
		return nil
	}
	return func(ctx context.Context, question catalog.Question) (catalog.Answer, error) {
		return r.options.QueryLake(ctx, r.ConsoleURL(), question)
	}
}

func (r *Runner) readSchedules(d *design) error {
	var problems []error
	for _, resource := range d.assembly.Resources("AWS::Scheduler::Schedule") {
		definition, role, err := schedule.Read(d.assembly, resource)
		if err == nil {
			d.roles[scheduleCaller+definition.Name] = r.role(definition.Name, role)
			d.schedules = append(d.schedules, definition)
			err = r.schedules.Check(definition)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func (r *Runner) readUsers(d *design) (err error) {
	d.users, err = userpool.New(d.assembly, userpool.Options{Functions: r.functions, Debugged: r.isDebugged, Log: r.log.line})
	return err
}

// role returns the role that the run uses for a function or schedule. It warns of each permissions boundary that the assembly does
// not declare.
func (r *Runner) role(name string, role *policy.Role) *policy.Role {
	if boundary := role.UnknownBoundary; boundary != "" && !slices.Contains(r.boundaries, boundary) {
		r.boundaries = append(r.boundaries, boundary)
		r.log.printf("warning: the assembly does not declare the permissions boundary %s: roles are checked without it", boundary)
	}
	if r.options.Role != nil {
		return r.options.Role(name, role)
	}
	return role
}
