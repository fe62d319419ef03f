package local

// How a run starts: which part needs which.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/local/assembly"
	"github.com/onesynth-cdk/onesynth/local/awsapi"
	"github.com/onesynth-cdk/onesynth/local/buckets"
	"github.com/onesynth-cdk/onesynth/local/catalog"
	"github.com/onesynth-cdk/onesynth/local/console"
	"github.com/onesynth-cdk/onesynth/local/engine"
	"github.com/onesynth-cdk/onesynth/local/gateway"
	"github.com/onesynth-cdk/onesynth/local/inbox"
	"github.com/onesynth-cdk/onesynth/local/lambda"
	"github.com/onesynth-cdk/onesynth/local/policy"
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
// ErrUnsupported, ErrPort, lambda.ErrArchitecture, engine.ErrNoJava, engine.ErrNoJar, or an error that names
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
	r := &Runner{options: options, log: newLog(options), parts: newGroup(ctx)}
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
	functions, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	r.trace = trace.New(trace.Options{Keys: r.keyAttributes, Ended: r.log.ended, Stray: r.log.stray})
	if err := r.startServices(functions); err != nil {
		return err
	}
	gateways, err := r.addAPIs()
	if err != nil {
		return err
	}
	if err := r.startDatabases(ctx); err != nil {
		return err
	}
	view := cloud{assembly: r.assembly, aws: r.aws, databases: r.databases, buckets: r.buckets, lakes: r.lakes, functions: r.functions}
	r.parts.serve(r.ports.aws, r.aws)
	r.parts.serve(r.ports.inbox, r.inbox)
	r.parts.serve(r.ports.console, console.New(console.Options{
		APIs: r.apis, Functions: r.functions, Schedules: r.schedules, Users: r.users, Cloud: view, Inbox: r.inbox, Issuer: r.issuer, Trace: r.trace,
		Endpoint: url(r.ports.aws), DynamoDB: view.database(r.engine.URL()), QueryLake: r.queryLake(),
	}))
	for resource, g := range gateways {
		r.parts.serve(r.ports.apis[resource], g)
	}
	for _, status := range r.functions.Functions() {
		if err := r.functions.Warm(status.Name); err != nil {
			return err
		}
	}
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
func (r *Runner) prepare(ctx context.Context) (functions []lambda.Declared, err error) {
	engineCtx, cancel := context.WithTimeout(ctx, engineStart)
	defer cancel()
	var engineErr error
	var starting sync.WaitGroup
	starting.Go(func() {
		r.engine, engineErr = engine.Start(engineCtx, engine.Options{URL: r.options.DynamoDB, Dir: subfolder(r.options.Data, "dynamodb")})
	})
	if functions, err = r.read(ctx); err != nil {
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
	return functions, err
}

func (r *Runner) read(ctx context.Context) ([]lambda.Declared, error) {
	var err error
	if r.ports, err = openPorts(r.options); err != nil {
		return nil, err
	}
	r.parts.afterwards(r.ports.close)
	r.inbox = inbox.New(url(r.ports.inbox))
	r.issuer = gateway.NewIssuer(r.options.Data)
	if err := r.load(); err != nil {
		return nil, err
	}
	functions, err := r.readFunctions(ctx)
	if err != nil {
		return nil, err
	}
	return functions, r.checkLakes(ctx)
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
func (r *Runner) startServices(functions []lambda.Declared) (err error) {
	r.databases, err = engine.OpenDatabases(r.engine, r.assembly, engine.DatabasesOptions{
		AccessKey: r.options.AccessKey, Dir: r.options.Data, SweepInterval: r.options.SweepInterval, Log: r.log.structured(),
	})
	if err != nil {
		return err
	}
	r.aws, err = awsapi.New(awsapi.Options{
		Assembly: r.assembly, EngineURL: r.engine.URL(), AccessKey: r.options.AccessKey, AccessKeys: r.databases.AccessKeys(), Region: engine.Region,
		Dir: r.options.Data, SSMParameters: r.options.SSMParameters, ModelsURL: r.options.ModelsURL, Buckets: r.buckets, ServiceAccount: r.inbox.ServiceAccount, Wrote: r.databases.Wrote,
		Observe: r.options.Observe, Trace: r.trace, Log: r.log.structured(),
	})
	if err != nil {
		return err
	}
	r.functions = lambda.New(lambda.Options{
		MaxInstances: r.options.MaxInstances, Region: assembly.DefaultRegion, Endpoint: url(r.ports.aws),
		Trace: r.trace, Log: r.log.function, AuthoriseLogs: logs{r.assembly, r.aws}.authorise, Queues: queues{r.aws}, RetryDelay: r.options.RetryDelay,
	})
	r.parts.onStop(r.functions.Close)
	r.declared = functions
	for _, f := range functions {
		if err := r.functions.Add(f.Function); err != nil {
			return err
		}
		r.aws.Register(f.AccessKeyID, f.Name, r.role(f.Name, f.Role))
		if f.Traced {
			for _, err := range authoriseTraces(r.aws, f.Name) {
				r.log.function(f.Name, "its traces are dropped, as on AWS: "+err.Error())
			}
		}
	}
	if err := r.addSchedules(); err != nil {
		return err
	}
	r.parts.onStop(r.schedules.Close)
	if r.users, err = userpool.New(r.assembly, userpool.Options{Functions: r.functions, Debugged: r.isDebugged, Log: r.log.line}); err != nil {
		return err
	}
	if idle := r.users.WithoutEffect(); len(idle) > 0 {
		r.log.printf("without effect here: %s", strings.Join(idle, ", "))
	}
	r.buckets.OnCreated(func(created buckets.Created) { r.rules.Deliver(created, r.functions, r.log.line) })
	return nil
}

// startDatabases makes the tables, and begins to deliver their streams.
func (r *Runner) startDatabases(ctx context.Context) error {
	err := r.databases.ReadStreams(engine.StreamsOptions{
		Invoke: streamInvoker{r.functions}, Authorise: r.aws.Authorise, Redeliver: r.aws.Redeliver, Log: r.log.structured(),
		Send: func(queueARN, body string) error { return send(r.aws, queueARN, body, nil) },
	})
	if err != nil {
		return err
	}
	if err := r.databases.CreateTables(ctx, r.log.line); err != nil {
		return err
	}
	ended, err := r.databases.Start(r.parts.ctx)
	if err != nil {
		return err
	}
	r.parts.onStop(func() { <-ended })
	return nil
}

// addAPIs reads the HTTP APIs. They answer once serve has them.
func (r *Runner) addAPIs() (map[*assembly.Resource]*gateway.Gateway, error) {
	gateways := map[*assembly.Resource]*gateway.Gateway{}
	var problems []error
	for _, resource := range r.assembly.Resources("AWS::ApiGatewayV2::Api") {
		api, err := gateway.Read(r.assembly, resource, r.issuer)
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
		gateways[resource] = g
		entry := console.API{Stack: resource.Stack.Name, Name: name, URL: url(r.ports.apis[resource])}
		if api.Stage != "" && api.Stage != "$default" {
			entry.URL += "/" + api.Stage
		}
		for _, route := range api.Routes {
			if path, ok := strings.CutPrefix(route.Key, "GET "); ok && strings.HasSuffix(path, "/openapi.json") {
				entry.OpenAPI = entry.URL + path
			}
			if route.Authorizer != nil {
				entry.Issuer, entry.Audience = route.Authorizer.Issuer, route.Authorizer.Audience
			}
		}
		r.apis = append(r.apis, entry)
	}
	return gateways, errors.Join(problems...)
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

func (r *Runner) addSchedules() error {
	r.schedules = schedule.New(schedule.Options{Target: target{r.aws, r.functions}, Log: r.log.line})
	var problems []error
	for _, resource := range r.assembly.Resources("AWS::Scheduler::Schedule") {
		definition, role, err := schedule.Read(r.assembly, resource)
		if err == nil {
			r.aws.Register(accessKey(), scheduleCaller+definition.Name, r.role(definition.Name, role))
			err = r.schedules.Add(definition)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
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
