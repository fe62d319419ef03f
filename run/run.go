// Package run runs a cloud assembly, the folder that `cdk synth` writes, on this machine: its functions as the
// binaries that would be deployed, its HTTP APIs, schedules, queues, secrets, tables and streams. It knows nothing but
// the assembly, so what it runs is what `cdk deploy` would ship. If it cannot run a resource, the run ends with an
// error that names it.
//
// Everything listens on 127.0.0.1 only.
//
// Where it differs from AWS:
//
//   - A function that this library built for another processor or system is built for this machine, from the
//     same source, with the Go toolchain.
//   - A function learns its memory limit, and nothing enforces it. Its processes run as the user who started the run.
//   - Tokens of any issuer that a JWT authorizer names, Cognito's included, come from the run's own issuer
//     and carry that issuer's name. A token for APIs of several issuers carries apigateway.RunIssuer, which all
//     authorizers of the run accept. People sign in to user pools at the console's address, without passwords. A
//     user's first token invokes the pool's PostConfirmation function, and other triggers have no effect.
//   - Firebase Cloud Messaging is the inbox: a variable of a function whose value is FCM's address gets the
//     inbox's, and a generated secret whose template is a service account gets a key for it. A page that is open gets
//     its notifications from the inbox, in place of the browser's push service.
//   - A run has one stage of each HTTP API, Lambda proxy integrations of payload format 2.0, and authorizers by JWT,
//     Lambda and IAM. An API that declares anything else ends the run by name.
//   - Schedules invoke functions of the assembly. A rate counts from the start of the run.
//   - Rules of Amazon EventBridge hand events to functions and queues: those of functions, of new objects of a bucket,
//     and of schedules. Targets of other kinds, and events of other services of AWS, have no effect.
//   - Objects have no versions; lifecycle rules and bucket policies have no effect. The endpoints of AWS that functions
//     get are plain HTTP on loopback and stand in for AWS's TLS endpoints: aws:SecureTransport is true.
//   - The console shows catalogs and saved queries. `onesynth lake` runs queries.
//   - A table that a stack uses without declaring it is created, empty, as the assembly describes it.
//   - Alarms, dashboards, retention, encryption and networks have no effect.
package run

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/internal/engine"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/initial"
	"github.com/onesynth-cdk/onesynth/run/internal/lake/catalog"
	"github.com/onesynth-cdk/onesynth/run/internal/services"
	"github.com/onesynth-cdk/onesynth/run/internal/services/apigateway"
	"github.com/onesynth-cdk/onesynth/run/internal/services/fcm"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/services/s3"
	"github.com/onesynth-cdk/onesynth/run/internal/services/scheduler"
	"github.com/onesynth-cdk/onesynth/run/internal/services/webhooks"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// PlatformPorts is the Options.Port that gives each stack the port that it asks for.
const PlatformPorts = -1

// DefaultConsolePort is the console's port when the command line names none.
const DefaultConsolePort = 8079

// DefaultDebugPort is delve's port when the options name none: that of VS Code's and GoLand's own examples.
const DefaultDebugPort = 2345

// Options of a run. The zero value runs cdk.out on free ports, in memory.
type Options struct {
	// Assembly is the folder of the cloud assembly. Default: cdk.out.
	Assembly string
	// Stacks are the stacks to run, by names, display ids of stacks in stages (Dev/Ask), or patterns of these (Dev/*).
	// Default: all.
	Stacks []string
	// Port is the port of the first HTTP API; further APIs take the ports above it, in the order that the log shows. 0
	// takes free ports. PlatformPorts gives a stack's first API the port that its template names (Metadata:
	// {"onesynth": {"localPort": 8080}}), or else the first free port from 8080 up, and the stack's other APIs the next
	// free ports.
	Port int
	// ConsolePort is the console's port; 0 takes any free one.
	ConsolePort int
	// Data is a folder that keeps tables, places in their streams, objects, secrets and the issuer's key between runs.
	// Default: the run keeps nothing.
	Data string
	// DynamoDB is the URL of a DynamoDB to use. Default: the run starts DynamoDB Local.
	DynamoDB string
	// AccessKey selects the database within DynamoDB Local, which keeps one per access key. It must be alphanumeric.
	// Default: onesynth.
	AccessKey string
	// Ports are the ports of stacks' first HTTP APIs, by the stacks' names or display ids. They override Port.
	Ports map[string]int
	// SSMParameters are values of parameters of AWS Systems Manager that exist elsewhere, by name.
	SSMParameters map[string]string
	// ModelsURL is where the run forwards functions' requests to models of Amazon Bedrock, as http://HOST:PORT.
	// Default: they fail.
	ModelsURL string
	// WebhookEndpoints are addresses on this machine, such as http://127.0.0.1:9000/hooks, to which functions may send
	// webhooks, and to all below them. Default: on this machine, webhooks go to Runner.WebhooksURL alone.
	WebhookEndpoints []string
	// AllowUnsupported are resource types, and properties as TYPE.PROPERTY, that may have no effect.
	AllowUnsupported []string
	// Environment has further variables of functions, by the function as Debug names it: addresses and test keys of
	// this machine, which belong in no template. They replace variables of the template. Default: none.
	Environment map[string]map[string]string
	// MaxInstances limits the processes of one function. Default: four per processor, at least eight.
	MaxInstances int
	// SweepInterval is how often the run walks over the tables and deletes expired items. Default: 30 s; negative: only
	// on demand.
	SweepInterval time.Duration
	// InitialData loads the initial data of each platform once Start has returned, and of a platform that Apply adds;
	// the log says what. [Runner.LoadInitialData] waits for it. With Data, only the first run of the folder does so.
	// Default: tables begin empty, or as they are in Data, as tests expect them.
	InitialData bool
	// NoSchedules keeps schedules from firing by themselves; you can still run them by name.
	NoSchedules bool
	// Now is the clock by which schedules fire. Default: [time.Now].
	Now func() time.Time
	// RetryDelay is the wait between attempts of asynchronous invocations. Default: Lambda's.
	RetryDelay func(attempt int) time.Duration
	// Revoke reports whether a caller's role, of a function or of a schedule as schedule/NAME, loses its grant of an
	// action on a resource, each as the role names it. It is for tests that take grants away. Default: roles as
	// synthesised.
	Revoke func(caller, action, resource string) bool
	// Observe sees each request of a function to DynamoDB before the run carries it out: the function, the operation
	// and its input in JSON. The run calls what Observe returns before the function gets the answer. Several requests
	// may come at once. Default: none.
	Observe func(function, operation string, body []byte) (answered func())
	// Lake answers SQL on the lakes of the run for its console, and checks their views and queries when the run starts.
	// Default: the console has no SQL, and nothing is checked.
	Lake catalog.Engine
	// Watch makes the run follow its source: it builds functions again when one of their Go files is saved, and runs
	// the app again when one of the app's files is saved. Default: it does not.
	Watch bool
	// App is the command that synthesises, for Watch. Default: the app of cdk.json in the working folder.
	App string
	// Context are values of the app's context, as -c gives them to the CDK's command.
	Context map[string]string
	// Debug is the function to run under delve: its name, or the last part of its package. It has debug information,
	// one instance, and no time-outs. Default: none.
	Debug string
	// DebugPort is the port on which delve listens. Default: DefaultDebugPort.
	DebugPort int
	// Log receives the lines of the run: what runs where, and requests as LogFormat says. Default: the run writes none.
	Log io.Writer
	// LogFormat is the form of lines about requests. Default: LogText.
	LogFormat LogFormat
	// LogLevel is the lowest level of functions' lines that LogText shows. Default: slog.LevelInfo.
	LogLevel slog.Level
	// LogColours gives LogText the colours of a terminal.
	LogColours bool
}

// fcmAddress is Firebase Cloud Messaging's address: the inbox stands in for it in functions' variables.
const fcmAddress = "https://fcm.googleapis.com"

// localWebhooks begins the variable that tells functions which endpoints of this machine webhooks may go to:
// lambdas/kit/webhook reads it, which this package does not import.
const localWebhooks = "ONESYNTH_LOOPBACK_WEBHOOKS="

// localPush begins the variable that tells functions where the inbox is: pages that they serve are devices there.
const localPush = "ONESYNTH_LOOPBACK_PUSH="

// Runner is a run. [Start] returns one, and [Runner.Close] ends it.
type Runner struct {
	options Options
	log     *log
	folder  string
	disk    *disk
	group   *group
	ports   *ports

	// design is what the assembly declares, and handlers are what answers at the addresses of its HTTP APIs.
	design   atomic.Pointer[design]
	handlers map[apiName]*replaceable
	console  replaceable

	// debugged is the name of the function that runs under delve, or empty.
	debugged  string
	engine    *engine.Engine
	aws       *services.Services
	functions *lambda.Service
	schedules *scheduler.Scheduler
	trace     *trace.Recorder
	inbox     *fcm.Inbox
	webhooks  webhooks.Receiver
	issuer    *apigateway.Issuer
	buckets   *s3.Store

	// unstarted are the functions whose first instance did not start, each with what ended it.
	unstarted []string

	// changing is held while another assembly is applied, and applied counts these.
	changing sync.Mutex
	applied  int
	// loading is held while initial data is loaded. begun are the platforms that have got theirs; nil until that has
	// been looked up.
	loading sync.Mutex
	begun   []initial.Loader

	// boundaries are the permissions boundaries that a warning has named.
	boundaries []string
}

// Run runs an assembly until ctx ends or a part of the run fails, such as the engine, and ends every process it
// started.
func Run(ctx context.Context, options Options) error {
	r, err := Start(ctx, options)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer r.Close()
	select {
	case <-ctx.Done():
		r.announceEnd()
		r.Close()
		r.log.printf("ended")
		return nil
	case <-r.group.ctx.Done():
		return context.Cause(r.group.ctx)
	}
}

// Close ends the run and every process of it. It is safe to call more than once.
func (r *Runner) Close() { r.group.close() }

// URL returns the address of the stack's HTTP API, or of the only API for "". It returns "" if there is no such API.
func (r *Runner) URL(stack string) string {
	for _, api := range r.design.Load().apis {
		if api.Stack == stack || stack == "" {
			return api.URL
		}
	}
	return ""
}

// Parts returns what the run consists of now, for the packages that belong to it. Their types change at any time: tests
// use package runtest.
func (r *Runner) Parts() console.Parts { return r.partsOf(r.design.Load()) }

// ConsoleURL returns the console's address.
func (r *Runner) ConsoleURL() string { return url(r.ports.console) }

// DynamoDB returns a client on the tables of the run's first account and region; most runs have only one. No role
// restricts it, and the run does not count its capacity.
func (r *Runner) DynamoDB() *dynamodb.Client { return r.design.Load().databases.Client() }

// WebhooksURL returns the address of the endpoint for webhooks, which takes them on each path below it. It ends with /.
func (r *Runner) WebhooksURL() string { return r.ConsoleURL() + console.WebhooksPath }

// FlushStreams delivers all earlier writes to functions now, and returns when they have taken them. It fails if ctx
// ends before.
func (r *Runner) FlushStreams(ctx context.Context) error { return r.design.Load().mappings.Flush(ctx) }

// Sweep deletes expired items now and returns how many.
func (r *Runner) Sweep(ctx context.Context) (deleted int, err error) {
	return r.design.Load().databases.Sweep(ctx)
}

// EnginePID returns DynamoDB Local's process id, or 0 if Options.DynamoDB names the engine.
func (r *Runner) EnginePID() int { return r.engine.PID() }

// ConsoleHeader is what requests to the console's address need that change something, with any value.
const ConsoleHeader = console.Header

// TokenRequest says what a token is to have.
type TokenRequest struct {
	// Subject is the sub claim: who it is of. It must not be empty.
	Subject string
	// Stack narrows the token to the APIs of one stack. Default: all APIs with a JWT authorizer take it.
	Stack string
	// Claims are further claims, and replace the others. Default: none.
	Claims map[string]any
}

// Token returns a token of the run's issuer, which is good for an hour at the APIs of the run. A user pool that issues
// it signs the user up. It fails if no API takes such a token.
func (r *Runner) Token(ctx context.Context, request TokenRequest) (string, error) {
	token, err := r.Parts().Token(ctx, console.TokenRequest{Subject: request.Subject, Stack: request.Stack,
		Claims: request.Claims})
	return token.AccessToken, err
}

// Schedules returns the names of the schedules, in the order of the assembly.
func (r *Runner) Schedules() (names []string) {
	for _, schedule := range r.schedules.Schedules() {
		names = append(names, schedule.Name)
	}
	return names
}

// Result is the outcome of an invocation.
type Result struct {
	// Payload is the function's response, or AWS's error document if FunctionError is set.
	Payload []byte
	// FunctionError is "" on success, else "Unhandled" as in AWS's X-Amz-Function-Error header.
	FunctionError string
	// RequestID is the id that the function saw for this invocation.
	RequestID string
}

// Invoke calls a function by name and waits for its answer. It fails with [ErrNoFunction], [ErrThrottled],
// [ErrTooLarge], or at the end of ctx.
func (r *Runner) Invoke(ctx context.Context, function string, payload []byte) (Result, error) {
	result, err := r.functions.Invoke(ctx, function, payload)
	return Result(result), err
}

// RunSchedule runs a schedule now and waits until its function has finished. It fails with [ErrNoSchedule], or with the
// function's error.
func (r *Runner) RunSchedule(ctx context.Context, name string) error {
	return r.schedules.Run(ctx, name)
}

// Kill kills an instance of a function, a busy one if there is any. It fails with [ErrNoFunction] or [ErrNotRunning].
func (r *Runner) Kill(function string) (pid int, err error) { return r.functions.Kill(function) }

// accessKey is random and alphanumeric: it tells the AWS endpoint who calls.
func accessKey() string { return "LOCAL" + rand.Text()[:15] }

func subfolder(folder, name string) string {
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, name)
}
