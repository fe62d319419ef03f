// Package local runs a cloud assembly, the folder that `cdk synth` writes, on this machine: its functions as
// the binaries that would be deployed, its HTTP APIs, schedules, queues, secrets, tables and streams. It knows
// nothing but the assembly, so what it runs is what `cdk deploy` would ship. A resource that it cannot run
// ends the run by name.
//
// Everything listens on 127.0.0.1 only.
//
// Where it differs from AWS:
//
//   - A function that this library built for another processor or system is built for this machine, from the
//     same source, with the Go toolchain.
//   - A function's memory is told to it, not enforced. Its processes run as the user who started the run.
//   - Tokens of any issuer that a JWT authorizer names, Cognito's included, come from the run's own issuer
//     and carry that issuer's name. A token for APIs of several issuers carries gateway.RunIssuer, which all
//     authorizers of the run take. User pools are not emulated: there is no sign-in.
//   - Firebase Cloud Messaging is the inbox: a variable of a function whose value is FCM's address gets the
//     inbox's, and a generated secret whose template is a service account gets a key for it.
//   - One stage of an API, Lambda proxy integrations of payload format 2.0 and JWT authorizers are run;
//     what else an API declares ends the run by name.
//   - Schedules invoke functions of the assembly. A rate counts from the start of the run.
//   - Objects have no versions; lifecycle rules and bucket policies have no effect. The endpoints of AWS that functions get
//     are plain HTTP on loopback and stand for AWS's TLS ones: aws:SecureTransport is true.
//   - Catalogs and saved queries are shown, not run: `onesynth lake` runs queries.
//   - Tables that a stack uses without declaring them are made, empty, as the assembly describes them.
//   - Alarms, dashboards, retention, encryption and networks have no effect.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
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
)

// PlatformPorts as Options.Port takes the port that each stack asks for.
const PlatformPorts = -1

// DefaultConsolePort is the console's port when the command line names none.
const DefaultConsolePort = 8079

// Options of a run. The zero value runs cdk.out on free ports, in memory.
type Options struct {
	// Assembly is the folder of the cloud assembly. Default: cdk.out.
	Assembly string
	// Stacks are the stacks to run: names, display ids of stacks in stages (Dev/Ask), or patterns of these (Dev/*). Default: all.
	Stacks []string
	// Port of the first HTTP API; further ones take the ports above it. 0 takes any free ports, PlatformPorts
	// the one of each stack's template (Metadata: {"onesynth": {"localPort": 8080}}) for the stack's first API
	// and the next free ones for its others, and the first free from 8080 up for stacks that name none.
	Port int
	// ConsolePort is the console's port; 0 takes any free one.
	ConsolePort int
	// Data is a folder that keeps tables, places in their streams, objects, secrets and the issuer's key between runs. Default: nothing is kept.
	Data string
	// DynamoDB is the URL of a DynamoDB to use. Default: DynamoDB Local is started.
	DynamoDB string
	// AccessKey selects the database within DynamoDB Local: each alphanumeric access key is one of its own.
	// Default: onesynth.
	AccessKey string
	// Ports are the ports of stacks' first HTTP APIs, by the stacks' names or display ids; they come before Port.
	Ports map[string]int
	// SSMParameters are values of parameters of AWS Systems Manager that exist elsewhere, by name.
	SSMParameters map[string]string
	// AllowUnsupported are resource types that may stay without effect.
	AllowUnsupported []string
	// MaxInstances is the most processes of one function. Default: lambda.DefaultMaxInstances.
	MaxInstances int
	// SweepInterval is the time between two looks at which items have expired. Default: 5 s; negative: only on demand.
	SweepInterval time.Duration
	// CheckLake looks for views and saved queries of a lake that do not run, while the run starts. Its error ends the run, its
	// warnings are printed. Default: nothing is looked for, as this package has no engine for queries; the command has.
	CheckLake func(context.Context, catalog.Lake) (warnings []string, err error)
	// NoSchedules keeps schedules from firing by themselves; they still run by name.
	NoSchedules bool
	// RetryDelay is the wait between attempts of asynchronous invocations. Default: Lambda's.
	RetryDelay func(attempt int) time.Duration
	// Role changes the role of a function or schedule before it is used, for tests that take grants away.
	// Default: roles as synthesised.
	Role func(name string, role *policy.Role) *policy.Role
	// Log receives what the run has to say and what functions print. Default: nothing is printed.
	Log io.Writer
}

// fcm is Firebase Cloud Messaging's address: the inbox stands in for it in functions' variables.
const fcm = "https://fcm.googleapis.com"

// Runner is a run. Start makes it, Close ends it.
type Runner struct {
	options   Options
	log       *log
	folder    string
	assembly  *assembly.Assembly
	engine    *engine.Engine
	aws       *awsapi.Server
	functions *lambda.Service
	schedules *schedule.Scheduler
	inbox     *inbox.Inbox
	issuer    *gateway.Issuer
	databases []*database
	buckets   *buckets.Store
	lakes     []catalog.Lake

	roles      []held
	boundaries []string
	apis       []console.API
	consoleURL string
	endpoint   string

	mu        sync.Mutex
	listeners map[*assembly.Resource]net.Listener
	doors     map[string]net.Listener
	servers   []*http.Server
	closing   sync.Once
	stop      context.CancelFunc
	working   sync.WaitGroup
}

// Run runs an assembly until ctx ends or the engine dies, and ends every process it started.
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
	case <-r.engine.Exited():
		return errors.New("DynamoDB Local has ended: start the run again")
	}
}

// Start starts a run and returns when all of it answers. It fails with assembly.ErrNoAssembly,
// ErrUnsupported, ErrPort, lambda.ErrArchitecture, engine.ErrNoJava, engine.ErrNoJar, or an error that names
// the resource that cannot be run; nothing is left running then.
func Start(ctx context.Context, options Options) (_ *Runner, err error) {
	if options.Assembly == "" {
		options.Assembly = "cdk.out"
	}
	if options.AccessKey == "" {
		options.AccessKey = "onesynth"
	}
	if options.Log == nil {
		options.Log = io.Discard
	}
	folder, err := os.MkdirTemp("", "onesynth-local-")
	if err != nil {
		return nil, fmt.Errorf("local run: %w", err)
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &Runner{
		options: options, log: &log{writer: options.Log}, folder: folder, stop: stop, listeners: map[*assembly.Resource]net.Listener{},
	}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	// DynamoDB Local takes about a second to start: everything else happens meanwhile.
	type started struct {
		engine *engine.Engine
		err    error
	}
	engines := make(chan started, 1)
	starting, cancel := context.WithTimeout(ctx, time.Minute)
	go func() {
		defer cancel()
		e, err := engine.Start(starting, engine.Options{URL: options.DynamoDB, Dir: subfolder(options.Data, "dynamodb")})
		engines <- started{e, err}
	}()
	checked := func() error { return nil }
	if err = r.prepare(ctx); err != nil {
		cancel()
	} else {
		checked = r.checkLakes(background)
	}
	ready := <-engines
	r.engine = ready.engine
	if err == nil {
		err = ready.err
	}
	if err == nil {
		err = checked()
	}
	if err == nil {
		err = r.begin(ctx, background)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

func subfolder(folder, name string) string {
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, name)
}
