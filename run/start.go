package run

// How a run starts: which part needs which.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	neturl "net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/onesynth-cdk/onesynth/internal/engine"
	"github.com/onesynth-cdk/onesynth/internal/loopback"
	"github.com/onesynth-cdk/onesynth/run/internal/aws"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/policy"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/dev"
	"github.com/onesynth-cdk/onesynth/run/internal/eventsource"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/services"
	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
	"github.com/onesynth-cdk/onesynth/run/internal/services/cognito"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/services/fcm"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/services/scheduler"
	"github.com/onesynth-cdk/onesynth/run/internal/services/secrets"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// Errors of Start. Match them with errors.Is.
var (
	// ErrUnsupported says that the assembly has resources that a local run cannot run.
	ErrUnsupported = errors.New("resources that a local run does not emulate")
	// ErrPort says that a port is taken.
	ErrPort = errors.New("port in use")
	// ErrWebhookEndpoint says that no webhook of a run can go to an address.
	ErrWebhookEndpoint = errors.New("not an address of this machine that may get webhooks: write one such as " +
		"http://127.0.0.1:9000/hooks")
	// ErrNoAssembly says that the folder has no cloud assembly.
	ErrNoAssembly = assembly.ErrNoAssembly
	// ErrArchitecture says that a function that this library has not built is for another processor or system.
	ErrArchitecture = lambda.ErrArchitecture
	// ErrNoJava and ErrNoJar say that DynamoDB Local lacks Java or its archive, and ErrJava that Java could not run it.
	ErrNoJava, ErrNoJar, ErrJava = engine.ErrNoJava, engine.ErrNoJar, engine.ErrJava
	// ErrNoDelve says that the debugger was not found.
	ErrNoDelve = dev.ErrNoDelve
	// ErrTableDiffers says that a table of the data folder cannot become as the assembly declares it, and ErrUnfitItems
	// that its items do not fit a new index.
	ErrTableDiffers, ErrUnfitItems = dynamodb.ErrTableDiffers, dynamodb.ErrUnfitItems
)

// Errors of the methods of Runner.
var (
	// ErrNoFunction says that the run lacks a function of that name, and ErrNotRunning that the function has no
	// instance.
	ErrNoFunction, ErrNotRunning = lambda.ErrNotFound, lambda.ErrNotRunning
	// ErrThrottled says that the function's reserved concurrency is in use, and ErrTooLarge that a payload is larger
	// than Lambda takes.
	ErrThrottled, ErrTooLarge = lambda.ErrThrottled, lambda.ErrTooLarge
	// ErrNoSchedule says that the run has no schedule of that name.
	ErrNoSchedule = scheduler.ErrNotFound
)

const (
	// engineStart is the longest that DynamoDB Local may take to start, the first time with the archive of its classes.
	engineStart = 2 * time.Minute
	// functionStart is the longest that a function may take to start ("Understanding the Lambda execution environment
	// lifecycle": the init phase).
	functionStart = 10 * time.Second
	// bucketsFolder is the folder of the objects, in the folder of the run's data.
	bucketsFolder = "s3"
	// Operator is the access key with which the command aws, or an SDK, may call all at the run's endpoint of AWS. It
	// is of the account of the first stack.
	Operator = "operator"
	// scheduleCaller begins the names under which schedules call AWS.
	scheduleCaller = "schedule/"
)

// Start starts a run and returns when all of it answers. It fails with one of the errors above, or with one that names
// the resource that it cannot run, and then leaves nothing running.
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
		if err != nil || address.Scheme != "http" && address.Scheme != "https" || !loopback.Is(address.Hostname()) ||
			strings.ContainsFunc(endpoint, unicode.IsSpace) {
			return nil, fmt.Errorf("got %q: %w", endpoint, ErrWebhookEndpoint)
		}
	}
	r := &Runner{options: options, log: newLog(options), group: newGroup(ctx), handlers: map[apiName]*replaceable{}}
	if err := r.start(ctx); err != nil {
		r.Close()
		return nil, err
	}
	r.announce()
	r.group.start(func(ctx context.Context) error {
		r.loadInitialData(ctx)
		return nil
	})
	return r, nil
}

// start starts the parts, each after those that it needs.
func (r *Runner) start(ctx context.Context) (err error) {
	if r.folder, err = os.MkdirTemp("", "onesynth-local-"); err != nil {
		return fmt.Errorf("local run: %w", err)
	}
	r.group.afterwards(func() { _ = os.RemoveAll(r.folder) })
	r.disk = &disk{folder: cmp.Or(r.options.Data, r.folder), check: checkSpace, print: r.log.line}
	r.disk.look()
	d, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	r.trace = trace.New(trace.Options{Keys: r.keyAttributes, Streams: r.readsStream, StackOf: r.stackOf,
		Ended: r.log.ended, Unattributed: r.log.unattributed})
	r.design.Store(d)
	if err := r.startServices(d); err != nil {
		return err
	}
	if err := r.startDatabases(ctx, d); err != nil {
		return err
	}
	r.group.serve(r.ports.aws, r.guardAWS())
	r.group.serve(r.ports.inbox, r.guardInbox())
	r.group.onStop(r.inbox.Close)
	r.replaceConsole(d)
	r.group.serve(r.ports.console, r.guardConsole())
	r.replaceHandlers(d)
	for _, status := range r.functions.Functions() {
		if err := r.functions.Warm(status.Name); err != nil {
			return err
		}
	}
	if !r.options.NoSchedules {
		r.schedules.Start()
	}
	r.awaitFunctions(ctx)
	if r.options.Watch {
		return r.follow(ctx)
	}
	return nil
}

// awaitFunctions waits until the first instance of each function has started, for as long as AWS Lambda gives a start,
// and notes which has not, and why.
func (r *Runner) awaitFunctions(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, functionStart,
		fmt.Errorf("it has not asked for work within %v", functionStart))
	defer cancel()
	for _, status := range r.functions.Functions() {
		err := r.functions.Started(ctx, status.Name)
		if err == nil {
			continue
		}
		cause := err.Error()
		if ended, ok := errors.AsType[*lambda.StartError](err); ok {
			cause = ended.Cause()
		}
		r.unstarted = append(r.unstarted, status.Label+": "+cause)
	}
}

// follow makes the run follow its source.
func (r *Runner) follow(ctx context.Context) error {
	follower, err := dev.Follow(ctx, dev.Options{
		Folder: filepath.Join(r.folder, "watch"), Modules: r.searched(), App: r.options.App, Context: r.options.Context,
		Data: r.options.Data, Debugged: r.debugged,
		Functions: func() []lambda.Declared {
			return r.design.Load().functions
		}, Recent: r.functions.Recent, Running: r.running,
		Replace: r.replace, Report: r.trace.Changed, Log: r.log.line,
		Apply: func(ctx context.Context, folder string) ([]string, string, error) {
			applied, err := r.Apply(ctx, folder)
			return append(applied.Added, applied.Replaced...), applied.String(), err
		},
	})
	if err == nil {
		r.group.start(follower.Run)
	}
	return err
}

// prepare does everything that needs no tables: ports, the assembly and its functions. DynamoDB Local takes about a
// second to start, and does so meanwhile. An error of the assembly comes before an error of the engine.
func (r *Runner) prepare(ctx context.Context) (d *design, err error) {
	engineCtx, cancel := context.WithTimeout(ctx, engineStart)
	defer cancel()
	var engineErr error
	var starting sync.WaitGroup
	starting.Go(func() {
		r.engine, engineErr = engine.Start(engineCtx,
			engine.Options{URL: r.options.DynamoDB, Dir: subfolder(r.options.Data, "dynamodb")})
	})
	if d, err = r.read(ctx); err != nil {
		cancel()
	}
	starting.Wait()
	if r.engine != nil {
		r.group.afterwards(func() { _ = r.engine.Close() })
		r.group.start(r.watchEngine)
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
	r.group.afterwards(r.ports.close)
	r.inbox = fcm.New(url(r.ports.inbox))
	r.issuer = apigateway.NewIssuer(r.options.Data)
	d, err := r.readAssembly(ctx, r.options.Assembly, r.folder)
	if err != nil {
		return nil, err
	}
	return d, r.openBuckets(d.assembly)
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

// startServices makes the AWS endpoint of functions, the functions, and the schedules that invoke them. Nothing calls
// them before the servers answer.
func (r *Runner) startServices(d *design) (err error) {
	if err := r.openDatabases(d, nil); err != nil {
		return err
	}
	r.aws, err = services.New(services.Options{
		Assembly: d.assembly, AccessKeys: d.databases.AccessKeys(),
		DynamoDB: dynamodb.ServiceOptions{
			EngineURL: r.engine.URL(), AccessKey: r.options.AccessKey, Observe: r.options.Observe,
			Wrote: func(environment string, body []byte) {
				r.design.Load().databases.Wrote(environment, body)
			},
		},
		Secrets:       secrets.Options{Dir: r.options.Data, ServiceAccount: r.inbox.ServiceAccount},
		SSMParameters: r.options.SSMParameters, ModelsURL: r.options.ModelsURL, Buckets: r.buckets, Trace: r.trace,
		Log: r.log.structured(), Failed: r.disk.failed,
	})
	if err != nil {
		return err
	}
	r.aws.Register(Operator, Operator, policy.Everything(Operator, d.assembly.Stacks[0].Account))
	r.functions = lambda.New(lambda.Options{
		MaxInstances: r.options.MaxInstances, Region: assembly.DefaultRegion, Endpoint: url(r.ports.aws),
		Variables: []string{localPush + r.inbox.URL(), localWebhooks + strings.Join(
			append([]string{r.WebhooksURL()}, r.options.WebhookEndpoints...), " ")},
		Trace: r.trace, Log: r.log.function, AuthoriseLogs: logs{func() *assembly.Assembly {
			return r.design.Load().assembly
		}, r.aws}.authorise, Queues: queues{r.aws}, RetryDelay: r.options.RetryDelay,
	})
	r.group.onStop(r.functions.Close)
	for _, f := range d.functions {
		if err := r.functions.Add(f.Function); err != nil {
			return err
		}
		r.register(f, d)
	}
	r.schedules = scheduler.New(scheduler.Options{Target: target{r.aws, r.functions}, Now: r.options.Now,
		Log: r.log.line})
	r.group.onStop(r.schedules.Close)
	if err := r.readCallers(d); err != nil {
		return err
	}
	if err := r.schedules.Change(d.schedules); err != nil {
		return err
	}
	r.registerSchedules(d)
	if idle := d.users.WithoutEffect(); len(idle) > 0 {
		r.log.printf("without effect here: %s", strings.Join(idle, ", "))
	}
	r.aws.Events.DeliverTo(r.functions)
	r.group.onStop(r.aws.Events.Close)
	r.buckets.OnCreated(r.aws.Events.Created)
	return nil
}

func (r *Runner) openDatabases(d *design, former *dynamodb.Databases) (err error) {
	d.databases, err = dynamodb.OpenDatabases(r.engine, d.assembly, dynamodb.DatabasesOptions{
		AccessKey: r.options.AccessKey, Dir: r.options.Data, Former: former, SweepInterval: r.options.SweepInterval,
		Log: r.log.structured(),
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
		if s.Rule {
			continue
		}
		r.aws.Register(accessKey(), scheduleCaller+s.Name, d.roles[scheduleCaller+s.Name])
	}
}

// startDatabases makes the tables, and begins to deliver their streams, and the messages of queues.
func (r *Runner) startDatabases(ctx context.Context, d *design) error {
	if err := r.readMappings(d); err != nil {
		return err
	}
	if err := d.databases.CreateTables(ctx, r.log.line); err != nil {
		return err
	}
	return r.deliver(d, nil)
}

func (r *Runner) readMappings(d *design) (err error) {
	d.mappings, err = eventsource.Read(d.assembly, eventsource.Options{
		Invoke: eventInvoker{r.functions}, Databases: d.databases, Queue: r.aws.Queue, Redeliver: r.aws.Redeliver,
		Checkpoints: subfolder(r.options.Data, "streams.json"), Log: r.log.structured(), Read: r.trace.Read,
		OwnEngine: r.engine.PID() != 0,
		Authorise: func(function, action, resource string) error {
			return r.aws.AuthoriseAs(function, d.roles[function], action, resource)
		},
	})
	return err
}

// deliver begins to deliver to functions what streams and queues have, and to delete what expires. former has the
// mappings of the former assembly; nil: there is none.
func (r *Runner) deliver(d *design, former *eventsource.Mappings) error {
	delivered, err := d.mappings.Start(r.group.ctx, former)
	if err != nil && delivered == nil {
		return err
	}
	deleted := d.databases.Start(r.group.ctx)
	r.group.onStop(func() { <-delivered; <-deleted })
	return err
}

// readCallers reads what invokes functions: schedules, user pools and HTTP APIs.
func (r *Runner) readCallers(d *design) error {
	if err := r.readSchedules(d); err != nil {
		return err
	}
	if err := r.readUsers(d); err != nil {
		return err
	}
	return r.readAPIs(d)
}

// readAPIs reads the HTTP APIs. They answer once their doors are open.
func (r *Runner) readAPIs(d *design) error {
	d.gateways = map[apiName]*apigateway.Gateway{}
	var problems []error
	for _, resource := range d.assembly.APIs() {
		api, err := apigateway.Read(d.assembly, resource, r.issuer)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		name := api.Name
		entry := console.API{Stack: resource.Stack.Name, Name: name,
			URL: url(r.ports.apis[nameOf(resource)]) + api.Base()}
		for _, route := range api.Routes {
			if path, ok := strings.CutPrefix(route.Key, "GET "); ok && strings.HasSuffix(path, "/openapi.json") {
				entry.OpenAPI = entry.URL + path
			}
			jwt, _ := route.Authorizer.(*apigateway.Authorizer)
			entry.Admit(jwt)
		}
		pages := api.Pages(groupsOf(d.assembly, resource.Stack))
		for _, page := range pages {
			entry.Pages = append(entry.Pages, console.Page{Name: page.Name, URL: entry.URL + page.Path})
		}
		g, err := apigateway.New(api, apigateway.Options{
			Invoker: r.functions, Debugged: r.isDebugged, Stack: resource.Stack.Name, Trace: r.trace, Log: r.log.line,
			AccessLog: func(line string) { r.log.function(name, line) }, Principal: r.principal,
			Front: r.front(entry, pages),
		})
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", resource, err))
			continue
		}
		d.gateways[nameOf(resource)] = g
		d.apis = append(d.apis, entry)
	}
	return errors.Join(problems...)
}

// front is what a browser shows at the root of an API that has no route there.
func (r *Runner) front(api console.API, pages []apigateway.Page) *apigateway.Front {
	front := &apigateway.Front{Name: api.Name, Stack: api.Stack, URL: api.URL, Document: api.OpenAPI, Pages: pages,
		Console: r.ConsoleURL()}
	if api.Issuer == "" {
		return front
	}
	command := "onesynth"
	if filepath.Base(os.Args[0]) == command {
		// As it was called here, such as bin/onesynth.
		command = os.Args[0]
	}
	front.Token = command + " token --sub alice"
	if r.ports.console.Addr().(*net.TCPAddr).Port != DefaultConsolePort {
		front.Token += " --console " + r.ConsoleURL()
	}
	return front
}

// groupsOf returns the names of the groups of users of a stack.
func groupsOf(a *assembly.Assembly, stack *assembly.Stack) (names []string) {
	for _, resource := range a.Resources("AWS::Cognito::UserPoolGroup") {
		if resource.Stack == stack {
			names = append(names, resource.Name)
		}
	}
	return names
}

// replaceable is an address at which another handler may answer from one request to the next.
type replaceable struct{ handler atomic.Pointer[http.Handler] }

// ServeHTTP answers as the present handler does, and with 404 while there is none.
func (d *replaceable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if handler := d.handler.Load(); handler != nil {
		(*handler).ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}

func (d *replaceable) replace(handler http.Handler) { d.handler.Store(&handler) }

// replaceHandlers makes the APIs answer. The addresses of those that the assembly has no more stay, with nothing behind
// them.
func (r *Runner) replaceHandlers(d *design) {
	for name, g := range d.gateways {
		guarded := loopback.Guard{Listener: "the API of stack " + name.stack, Pages: true, Allows: g.Allows}.Handler(g)
		if r.handlers[name] == nil {
			r.handlers[name] = &replaceable{}
			r.handlers[name].replace(guarded)
			r.group.serve(r.ports.apis[name], r.handlers[name])
			continue
		}
		r.handlers[name].replace(guarded)
	}
	for name, one := range r.handlers {
		if d.gateways[name] == nil {
			one.handler.Store(nil)
		}
	}
}

// replaceConsole makes the console show the assembly.
func (r *Runner) replaceConsole(d *design) { r.console.replace(console.New(r.partsOf(d))) }

// guardAWS keeps pages from the endpoint of AWS, but for presigned requests to buckets that allow these pages.
func (r *Runner) guardAWS() http.Handler {
	const listener = "the endpoint of AWS"
	programs := loopback.Guard{Listener: listener}.Handler(r.aws)
	pages := loopback.Guard{Listener: listener, Pages: true, Allows: r.buckets.Allows,
		Remedy: "set Pages of the bucket in the schema, or its CORS configuration"}.Handler(r.buckets.Pages(r.aws))
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if aws.Presigned(request) || request.Method == http.MethodOptions {
			pages.ServeHTTP(w, request)
			return
		}
		programs.ServeHTTP(w, request)
	})
}

// guardConsole keeps pages of other origins from the console, but for those that sign people in: they fetch tokens.
func (r *Runner) guardConsole() http.Handler {
	rest := loopback.Guard{Listener: "the console", Pages: true}.Handler(&r.console)
	tokens := loopback.Guard{Listener: "the token endpoint", Pages: true,
		Allows: func(_ *http.Request, origin string) bool { return r.design.Load().users.HasPagesAt(origin) },
		Remedy: "add a callback URL of the origin to an app client"}.Handler(&r.console)
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if cognito.ForPages(request.URL.Path) {
			tokens.ServeHTTP(w, request)
			return
		}
		rest.ServeHTTP(w, request)
	})
}

// guardInbox keeps pages from the push inbox, but for the APIs' own, which are devices.
func (r *Runner) guardInbox() http.Handler {
	const listener = "the push inbox"
	programs := loopback.Guard{Listener: listener}.Handler(r.inbox)
	devices := loopback.Guard{Listener: listener, Pages: true,
		Allows: func(_ *http.Request, origin string) bool { return r.serves(origin) },
		Remedy: "open the page at the address of its API"}.Handler(r.inbox)
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if fcm.ForPages(request.URL.Path) {
			devices.ServeHTTP(w, request)
			return
		}
		programs.ServeHTTP(w, request)
	})
}

// serves reports whether an origin is that of an API of the run, by any name of this machine.
func (r *Runner) serves(origin string) bool {
	asked, err := neturl.Parse(origin)
	if err != nil || asked.Scheme != "http" || !loopback.Is(asked.Hostname()) {
		return false
	}
	return slices.ContainsFunc(r.design.Load().apis, func(api console.API) bool {
		own, err := neturl.Parse(api.URL)
		return err == nil && own.Port() == asked.Port()
	})
}

// partsOf returns the parts of a run of an assembly.
func (r *Runner) partsOf(d *design) console.Parts {
	return console.Parts{
		APIs: d.apis, Assembly: d.assembly, AWS: r.aws, Databases: d.databases, Mappings: d.mappings,
		Buckets: r.buckets,
		Lakes:   d.lakes, Functions: r.functions, Schedules: r.schedules, Users: d.users, Inbox: r.inbox,
		Webhooks: &r.webhooks, Issuer: r.issuer, Trace: r.trace,
		Endpoint: url(r.ports.aws), Engine: r.engine.URL(), QueryLake: r.queryLake(), LakeReady: r.options.Lake.Ready,
		Ended: func() error { return context.Cause(r.group.ctx) },
	}
}

// queryLake is how the console answers SQL, if this program has an engine for it.
func (r *Runner) queryLake() func(context.Context, catalog.Question) (catalog.Answer, error) {
	if r.options.Lake.Ask == nil {
		return nil
	}
	return func(ctx context.Context, question catalog.Question) (catalog.Answer, error) {
		return r.options.Lake.Ask(ctx, r.ConsoleURL(), question)
	}
}

func (r *Runner) readSchedules(d *design) error {
	var problems []error
	for _, resource := range d.assembly.Resources("AWS::Scheduler::Schedule") {
		definition, role, err := scheduler.Read(d.assembly, resource)
		if err == nil {
			d.roles[scheduleCaller+definition.Name] = r.role(scheduleCaller+definition.Name, role)
			d.schedules = append(d.schedules, definition)
			err = r.schedules.Check(definition)
		}
		problems = append(problems, err)
	}
	for _, rule := range d.rules.Timed() {
		none := 0
		definition := scheduler.Schedule{Name: rule.Name, ARN: rule.ARN, Expression: rule.Expression,
			Disabled: rule.Disabled, Target: rule.Target, Rule: true, MaxAttempts: &none}
		d.schedules = append(d.schedules, definition)
		problems = append(problems, r.schedules.Check(definition))
	}
	return errors.Join(problems...)
}

func (r *Runner) readUsers(d *design) (err error) {
	d.users, err = cognito.New(d.assembly, cognito.Options{Functions: r.functions, Tokens: r.issuer,
		Debugged: r.isDebugged, Log: r.log.line})
	return err
}

// role returns the role that the run uses for a caller: a function, or a schedule. It warns of each permissions
// boundary that the assembly does not declare.
func (r *Runner) role(caller string, role *policy.Role) *policy.Role {
	if boundary := role.UnknownBoundary; boundary != "" && !slices.Contains(r.boundaries, boundary) {
		r.boundaries = append(r.boundaries, boundary)
		r.log.printf("warning: the assembly does not declare the permissions boundary %s: it limits no role here",
			boundary)
	}
	if r.options.Revoke == nil {
		return role
	}
	for _, grant := range role.Grants() {
		if grant.Effect == "Allow" && r.options.Revoke(caller, grant.Action, grant.Resource) {
			role = role.Without(grant)
		}
	}
	return role
}
