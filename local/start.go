package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
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
)

// Errors of Start, to be matched with errors.Is.
var (
	// ErrUnsupported says that the assembly has resources that cannot be run here.
	ErrUnsupported = errors.New("resources that a local run does not emulate")
	// ErrPort says that a port is taken.
	ErrPort = errors.New("port in use")
)

const (
	firstPort      = 8080
	searchedPorts  = 100
	secretKey      = "local"
	bucketsFolder  = "s3"
	callerOfRoles  = "schedule/"
	headerTimeout  = 10 * time.Second
	shutdownPeriod = time.Second

	doorAWS     = "AWS endpoint"
	doorInbox   = "push inbox"
	doorConsole = "console"
)

// prepare does all that needs no DynamoDB: ports, the assembly, its functions, roles, APIs and schedules.
func (r *Runner) prepare(ctx context.Context) error {
	r.doors = map[string]net.Listener{}
	for name, port := range map[string]int{doorAWS: 0, doorInbox: 0, doorConsole: r.options.ConsolePort} {
		listener, err := listen(port)
		if err != nil {
			return fmt.Errorf("%s: %w: stop what uses it, or choose another with --console-port", name, err)
		}
		r.doors[name] = listener
	}
	r.endpoint = "http://" + r.doors[doorAWS].Addr().String()
	r.consoleURL = "http://" + r.doors[doorConsole].Addr().String()
	r.inbox = inbox.New("http://" + r.doors[doorInbox].Addr().String())
	r.issuer = gateway.NewIssuer(r.options.Data)
	return r.load(ctx)
}

func (r *Runner) load(ctx context.Context) error {
	var problems []error
	apis := 0
	a, err := assembly.Load(r.options.Assembly, assembly.Options{Stacks: r.options.Stacks, SSMParameters: r.options.SSMParameters, URL: func(resource *assembly.Resource) string {
		switch resource.Type {
		case "AWS::SQS::Queue":
			return r.endpoint
		case "AWS::ApiGatewayV2::Api":
			if !resource.Stack.Selected {
				return ""
			}
			listener, err := r.listenAPI(resource.Stack, apis)
			if err != nil {
				problems = append(problems, err)
				return ""
			}
			apis++
			r.listeners[resource] = listener
			return "http://" + listener.Addr().String()
		}
		return ""
	}})
	if err := errors.Join(append(problems, err)...); err != nil {
		return err
	}
	r.assembly = a
	for _, stack := range slices.Sorted(maps.Keys(r.options.Ports)) {
		if !a.Has(stack) {
			return fmt.Errorf("port of stack %q: the assembly has no stack of that name or display id", stack)
		}
	}
	if err := r.refuseUnsupported(); err != nil {
		return err
	}
	if err := refuseSameNames(a); err != nil {
		return err
	}
	if err := r.openBuckets(); err != nil {
		return err
	}
	if r.lakes, err = catalog.Read(a); err != nil {
		return err
	}
	return r.addFunctions(ctx)
}

// openBuckets keeps objects where the run's data is, or else in its temporary folder.
func (r *Runner) openBuckets() error {
	dir := subfolder(r.options.Data, bucketsFolder)
	if dir == "" {
		dir = subfolder(r.folder, bucketsFolder)
	}
	opened, err := buckets.New(dir, r.assembly)
	r.buckets = opened
	return err
}

func (r *Runner) refuseUnsupported() error {
	var refused []string
	custom := false
	without := r.assembly.Neighbours()
	for _, resource := range r.assembly.Unsupported() {
		if slices.Contains(r.options.AllowUnsupported, resource.Type) {
			without[resource.Type]++
			continue
		}
		refused = append(refused, "  "+resource.String())
		custom = custom || strings.HasPrefix(resource.Type, "Custom::") || resource.Type == "AWS::CloudFormation::CustomResource"
	}
	if len(refused) == 0 {
		r.nameWithoutEffect(without)
		return nil
	}
	remedy := "run with --allow-unsupported TYPE to leave a type without effect"
	if custom {
		remedy += "\na custom resource is made by code that runs during a deployment: keep it in a stack of its own, such as that of the network, and name the others with --stack; " +
			"a VPC of the CDK has none with RestrictDefaultSecurityGroup set to false"
	}
	return fmt.Errorf("the assembly has %w:\n%s\n%s", ErrUnsupported, strings.Join(refused, "\n"), remedy)
}

// nameWithoutEffect says in one line what the run goes on without, with how many there are of each type.
func (r *Runner) nameWithoutEffect(counts map[string]int) {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		part := fmt.Sprintf("%s (%d)", kind, counts[kind])
		if kind == "AWS::Events::Rule" {
			part = fmt.Sprintf("%s (%d, which fire nothing)", kind, counts[kind])
		}
		parts = append(parts, part)
	}
	if len(parts) > 0 {
		r.log.printf("without effect here: %s", strings.Join(parts, ", "))
	}
}

func (r *Runner) addFunctions(ctx context.Context) error {
	functions, problems := readFunctions(r.assembly, r.folder)
	if err := r.buildForThisMachine(ctx, functions); err != nil {
		return errors.Join(append(problems, err)...)
	}
	r.functions = lambda.New(lambda.Options{
		MaxInstances: r.options.MaxInstances, Region: assembly.DefaultRegion, Endpoint: r.endpoint,
		Log: r.log.function, AuthoriseLogs: r.authoriseLogs, Queues: queues{r}, RetryDelay: r.options.RetryDelay,
	})
	for _, f := range functions {
		f.definition.AccessKeyID, f.definition.SecretAccessKey = accessKey(), secretKey
		for name, value := range f.definition.Environment {
			if value == fcm {
				f.definition.Environment[name] = r.inbox.URL()
			}
		}
		r.warnOfBoundary(f.role)
		if r.options.Role != nil {
			f.role = r.options.Role(f.definition.Name, f.role)
		}
		if err := r.functions.Add(f.definition); err != nil {
			problems = append(problems, err)
			continue
		}
		r.roles = append(r.roles, held{key: f.definition.AccessKeyID, caller: f.definition.Name, role: f.role, traced: f.traced})
	}
	return errors.Join(problems...)
}

// warnOfBoundary says, once for each, which permissions boundary the run cannot know.
func (r *Runner) warnOfBoundary(role *policy.Role) {
	if boundary := role.UnknownBoundary; boundary != "" && !slices.Contains(r.boundaries, boundary) {
		r.boundaries = append(r.boundaries, boundary)
		r.log.printf("warning: the assembly does not declare the permissions boundary %s: roles are checked without it", boundary)
	}
}

// held is a role and who acts under it.
type held struct {
	key, caller string
	role        *policy.Role
	traced      bool
}

// begin does what needs DynamoDB and then opens every door.
func (r *Runner) begin(ctx, background context.Context) error {
	if err := r.addDatabases(); err != nil {
		return err
	}
	aws, err := awsapi.New(awsapi.Options{
		Assembly: r.assembly, EngineURL: r.engine.URL(), AccessKey: r.options.AccessKey, AccessKeys: r.accessKeys(), Region: engine.Region,
		Dir: r.options.Data, SSMParameters: r.options.SSMParameters, Buckets: r.buckets, ServiceAccount: r.inbox.ServiceAccount, Wrote: r.wrote,
		Log: slog.New(slog.NewTextHandler(r.log, nil)),
	})
	if err != nil {
		return err
	}
	r.aws = aws
	for _, h := range r.roles {
		aws.Register(h.key, h.caller, h.role)
		if h.traced {
			r.authoriseTraces(h.caller)
		}
	}
	if err := r.addSchedules(); err != nil {
		return err
	}
	gateways, err := r.addAPIs()
	if err != nil {
		return err
	}
	if err := r.createTables(ctx, background); err != nil {
		return err
	}
	if err := r.readStreams(); err != nil {
		return err
	}
	r.serve(r.doors[doorAWS], aws)
	r.serve(r.doors[doorInbox], r.inbox)
	r.serve(r.doors[doorConsole], console.New(console.Options{
		APIs: r.apis, Functions: r.functions, Schedules: r.schedules, Cloud: cloud{r}, Inbox: r.inbox, Issuer: r.issuer,
		Endpoint: r.endpoint, DynamoDB: r.consoleDatabase(),
	}))
	for resource, g := range gateways {
		r.serve(r.listeners[resource], g)
	}
	if err := r.startStreams(background); err != nil {
		return err
	}
	for _, status := range r.functions.Functions() {
		if err := r.functions.Warm(status.Name); err != nil {
			return err
		}
	}
	if !r.options.NoSchedules {
		r.schedules.Start()
	}
	r.announce()
	return nil
}

// authoriseTraces asks what Lambda asks of the role of a function with active tracing.
func (r *Runner) authoriseTraces(function string) {
	for _, action := range []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords"} {
		if err := r.aws.Authorise(function, action, "*"); err != nil {
			r.log.function(function, "its traces are dropped, as on AWS: "+err.Error())
		}
	}
}

// authoriseLogs asks what CloudWatch Logs asks of the role of a function that writes its first line.
func (r *Runner) authoriseLogs(function, group, stream string) error {
	arn := "arn:aws:logs:" + assembly.DefaultRegion + ":" + assembly.DefaultAccount + ":log-group:" + group + ":log-stream:" + stream
	if resource := r.assembly.ByName(function, "AWS::Lambda::Function"); resource != nil {
		arn = "arn:aws:logs:" + resource.Stack.Region + ":" + resource.Stack.Account + ":log-group:" + group + ":log-stream:" + stream
	}
	return errors.Join(r.aws.Authorise(function, "logs:CreateLogStream", arn), r.aws.Authorise(function, "logs:PutLogEvents", arn))
}

func (r *Runner) addAPIs() (map[*assembly.Resource]*gateway.Gateway, error) {
	gateways := map[*assembly.Resource]*gateway.Gateway{}
	var problems []error
	for _, resource := range r.assembly.Resources("AWS::ApiGatewayV2::Api") {
		api, err := readAPI(r.assembly, resource, r.issuer)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		name := api.Name
		g, err := gateway.New(api, gateway.Options{
			Invoker: r.functions, Log: func(line string) { r.log.printf("%s", line) },
			AccessLog: func(line string) { r.log.function(name, line) },
		})
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", resource, err))
			continue
		}
		gateways[resource] = g
		entry := console.API{Stack: resource.Stack.Name, Name: name, URL: "http://" + r.listeners[resource].Addr().String()}
		if api.Stage != "" && api.Stage != "$default" {
			entry.URL += "/" + api.Stage
		}
		for _, route := range api.Routes {
			if route.Authorizer != nil {
				entry.Issuer, entry.Audience = route.Authorizer.Issuer, route.Authorizer.Audience
			}
		}
		r.apis = append(r.apis, entry)
	}
	return gateways, errors.Join(problems...)
}

func (r *Runner) addSchedules() error {
	r.schedules = schedule.New(schedule.Options{Target: target{r}, Log: func(line string) { r.log.printf("%s", line) }})
	var problems []error
	for _, resource := range r.assembly.Resources("AWS::Scheduler::Schedule") {
		definition, err := readSchedule(r.assembly, resource)
		if err == nil {
			err = r.holdScheduleRole(resource, definition)
		}
		if err == nil {
			err = r.schedules.Add(definition)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func (r *Runner) holdScheduleRole(resource *assembly.Resource, definition schedule.Schedule) error {
	role, err := policy.ForRole(r.assembly, definition.Role)
	if err != nil {
		return fmt.Errorf("%s: %w", resource, err)
	}
	group := "default"
	if name, ok := resource.Properties["GroupName"].(string); ok {
		group = name
	}
	source := "arn:aws:scheduler:" + resource.Stack.Region + ":" + resource.Stack.Account + ":schedule-group/" + group
	if !role.Trusts(policy.Scheduler, map[string]string{policy.SourceAccount: resource.Stack.Account, policy.SourceARN: source}) {
		return fmt.Errorf("%s: role %s does not let %s assume it: AWS would refuse to create the schedule", resource, role.Name, policy.Scheduler)
	}
	r.warnOfBoundary(role)
	if r.options.Role != nil {
		role = r.options.Role(definition.Name, role)
	}
	r.aws.Register(accessKey(), callerOfRoles+definition.Name, role)
	return nil
}

// serve answers on a listener until Close.
func (r *Runner) serve(listener net.Listener, handler http.Handler) {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	r.mu.Lock()
	r.servers = append(r.servers, server)
	r.mu.Unlock()
	r.working.Go(func() {
		if err := server.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			r.log.printf("server on %s ended: %v", listener.Addr(), err)
		}
	})
}

func listen(port int) (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: %d", ErrPort, port)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on 127.0.0.1: %w", err)
	}
	return listener, nil
}

// listenAPI opens the port of the stack's API, which is the run's nth.
func (r *Runner) listenAPI(stack *assembly.Stack, n int) (net.Listener, error) {
	port := r.options.Port
	own, ok := r.options.Ports[stack.DisplayID]
	if !ok {
		own, ok = r.options.Ports[stack.Name]
	}
	switch {
	case ok:
		port = own
		for resource := range r.listeners {
			if resource.Stack == stack && own > 0 {
				return listenFree(own + 1)
			}
		}
	case port > 0:
		port += n
	case port == PlatformPorts:
		if port = localPort(stack); port == 0 {
			return listenFree(firstPort)
		}
		// The first API that asks for the port has it. Others of the stack, and of a second stack of the same platform, take the
		// next free ones.
		for _, listener := range r.listeners {
			if listener.Addr().(*net.TCPAddr).Port == port {
				return listenFree(port + 1)
			}
		}
	}
	listener, err := listen(port)
	if err != nil {
		return nil, fmt.Errorf("stack %s: %w: stop what uses it, or choose another with --port (0 takes any free one)", stack.Name, err)
	}
	return listener, nil
}

func listenFree(first int) (net.Listener, error) {
	for port := first; port <= first+searchedPorts; port++ {
		listener, err := listen(port)
		if !errors.Is(err, ErrPort) {
			return listener, err
		}
	}
	return nil, fmt.Errorf("%w: all from %d to %d", ErrPort, first, first+searchedPorts)
}

// localPort is what the stack's template asks for: Metadata: {"onesynth": {"localPort": 8080}}, or 0.
func localPort(stack *assembly.Stack) int {
	metadata, _ := stack.Metadata["onesynth"].(map[string]any)
	port, err := strconv.Atoi(fmt.Sprint(metadata["localPort"]))
	if err != nil || port < 1 || port > 65535 {
		return 0
	}
	return port
}
