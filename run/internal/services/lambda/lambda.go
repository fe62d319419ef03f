// Package lambda runs Lambda functions on this machine: the real bootstrap binaries of the functions'
// assets, as warm child processes over the Lambda Runtime API ("Using the Lambda runtime API", AWS
// Lambda developer guide).
//
// An instance handles one invocation at a time. Instances are started on demand up to a limit, kept
// warm, killed when an invocation exceeds the function's timeout, and replaced when they die. What a
// function sees (environment, headers, deadlines) and what its caller sees (results, error shapes,
// throttles) follow AWS, so that what works here works there.
package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// Limits of AWS Lambda ("Lambda quotas", AWS Lambda developer guide).
const (
	// MaxPayload is the largest synchronous request or response, in bytes (6 MB).
	MaxPayload = 6 << 20
	// MaxEnvironment is the largest sum of a function's environment variables, in bytes (4 KB).
	MaxEnvironment = 4 << 10
	// DefaultTimeout is a function's timeout when its definition names none.
	DefaultTimeout = 3 * time.Second
	// DefaultMemoryMB is a function's memory when its definition names none.
	DefaultMemoryMB = 128

	initTimeout = 10 * time.Second
)

// Errors that Invoke returns, to be matched with errors.Is.
var (
	// ErrNotFound says that no function of that name has been added.
	ErrNotFound = errors.New("no such function")
	// ErrThrottled says that the function's reserved concurrency is used up
	// (AWS: TooManyRequestsException, ReservedFunctionConcurrentInvocationLimitExceeded).
	ErrThrottled = errors.New("too many requests: the function's reserved concurrency is in use")
	// ErrTooLarge says that the request payload exceeds MaxPayload (AWS: RequestTooLargeException).
	ErrTooLarge = errors.New("request payload is too large")
	// ErrClosed says that the service is shutting down.
	ErrClosed = errors.New("functions are shut down")
	// ErrNotRunning says that a function has no live instance to act on.
	ErrNotRunning = errors.New("no running instance")
)

// Function is a function as its template defines it, every value resolved.
type Function struct {
	// Name is the physical function name.
	Name string
	// ARN is handed to the function with each invocation.
	ARN string
	// Region is given to the function as AWS_REGION; "" means the Service's.
	Region string
	// Code is the folder that holds the executable named bootstrap.
	Code string
	// Architecture is x86_64 or arm64, which the bootstrap must be built for; "" takes any that runs here.
	Architecture string
	// Handler is the Handler property; custom runtimes receive it as _HANDLER.
	Handler string
	// MemoryMB is the configured memory; 0 means DefaultMemoryMB. The function learns it, and nothing enforces it.
	MemoryMB int
	// Timeout of one invocation; 0 means DefaultTimeout.
	Timeout time.Duration
	// ReservedConcurrency is ReservedConcurrentExecutions; nil means unreserved, 0 throttles every call.
	ReservedConcurrency *int
	// Environment holds the function's own variables. Names that Lambda reserves are refused by Add.
	Environment map[string]string
	// AccessKeyID and SecretAccessKey are what the function signs its AWS calls with. The key id tells
	// the AWS endpoint which function is calling.
	AccessKeyID, SecretAccessKey string
	// Label is what people call the function, as it is short; "" means Name.
	Label string
	// LogGroup is the CloudWatch log group that the function's lines belong to; "" means /aws/lambda/NAME.
	LogGroup string
	// Routes are the keys of the routes by which APIs call the function. It learns them, beside its own variables.
	Routes []string
	// Async says what happens to asynchronous invocations that fail.
	Async Async
	// Debugger is a command that runs the program whose path follows as the last argument, and ends it on SIGTERM. The
	// function has one instance then, and no time-outs. Newer code waits until the instance has ended, since a debugger
	// has a port of its own. Default: none.
	Debugger []string
}

// forDebugging is the deadline of invocations under a debugger: none that a person reaches.
const forDebugging = 24 * time.Hour

// Options of a Service. The zero value works, apart from functions that call AWS.
type Options struct {
	// MaxInstances is the most instances of one function. 0 means DefaultMaxInstances.
	MaxInstances int
	// MaxStarts is the most instances, of all functions, that start at once. Others wait. 0 means one per processor,
	// at least two: more of them would delay each other beyond the time that a start may take.
	MaxStarts int
	// Region is given to functions as AWS_REGION; "" means us-east-1.
	Region string
	// Endpoint is given to functions as AWS_ENDPOINT_URL, so that every AWS call stays on this machine.
	Endpoint string
	// Variables are given to every function, beside its own. They do not count towards what a function's may have.
	Variables []string
	// Trace keeps what invocations do; nil keeps nothing.
	Trace *trace.Recorder
	// Log receives every line that functions write; nil drops them.
	Log func(function, line string)
	// AuthoriseLogs is asked once per instance whether the function's role may write to its log group
	// and stream; an error drops the instance's lines, as AWS would. nil allows all.
	AuthoriseLogs func(function, logGroup, logStream string) error
	// Queues receives the messages of asynchronous invocations that fail for good; nil refuses them.
	Queues Queues
	// RetryDelay is the wait before attempt n+1 of an asynchronous invocation whose attempt n failed
	// in the function. nil means AWS's: one minute after the first, two after the second.
	RetryDelay func(attempt int) time.Duration
}

// DefaultMaxInstances is the most instances of one function when Options names no limit: four per processor,
// at least eight. With 32 clients on two processors, one instance served 820 requests a second, four 990,
// eight 1,100; more bring nothing.
func DefaultMaxInstances() int { return max(8, 4*runtime.NumCPU()) }

// Result is what a function answered.
type Result struct {
	// Payload is the function's response, or AWS's error document when FunctionError is set.
	Payload []byte
	// FunctionError is "" on success, else "Unhandled" as in AWS's X-Amz-Function-Error header.
	FunctionError string
	// RequestID is the id that the function saw for this invocation.
	RequestID string
}

// Service runs functions. Make one with New; Close ends every child process.
type Service struct {
	options Options
	spawn   chan func()
	// starts has an element for each instance that is starting, at most MaxStarts.
	starts chan struct{}

	mu        sync.RWMutex
	functions map[string]*function
	// removed functions may have instances that finish their last invocation.
	removed []*function
	closed  bool

	background       context.Context
	cancelBackground context.CancelFunc
	running          sync.WaitGroup
}

// New returns a Service without functions.
func New(options Options) *Service {
	if options.MaxInstances <= 0 {
		options.MaxInstances = DefaultMaxInstances()
	}
	if options.MaxStarts <= 0 {
		options.MaxStarts = max(2, runtime.NumCPU())
	}
	if options.Region == "" {
		options.Region = "us-east-1"
	}
	if options.RetryDelay == nil {
		options.RetryDelay = func(attempt int) time.Duration { return time.Duration(attempt) * time.Minute }
	}
	s := &Service{options: options, spawn: make(chan func()), starts: make(chan struct{}, options.MaxStarts),
		functions: map[string]*function{}}
	s.background, s.cancelBackground = context.WithCancel(context.Background())
	go s.launch()
	return s
}

// launch starts every child from one thread that lives as long as the service: Linux's parent-death
// signal fires when the starting thread ends, not the process.
func (s *Service) launch() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case start := <-s.spawn:
			start()
		case <-s.background.Done():
			return
		}
	}
}

// Add makes a function known. It refuses a function that could not run here or on AWS: no bootstrap, a
// binary for another processor, reserved or too large environment. No process is started: see Warm.
func (s *Service) Add(definition Function) error {
	if err := definition.complete(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if _, ok := s.functions[definition.Name]; ok {
		return fmt.Errorf("function %s: two functions have this name", definition.Name)
	}
	s.functions[definition.Name] = &function{
		Name: definition.Name, service: s, current: &definition, limit: s.limit(&definition),
		instances: map[*instance]struct{}{},
	}
	return nil
}

// complete sets what the definition leaves to defaults, and checks it.
func (f *Function) complete() error {
	if f.Timeout == 0 {
		f.Timeout = DefaultTimeout
	}
	if f.MemoryMB == 0 {
		f.MemoryMB = DefaultMemoryMB
	}
	if f.Label == "" {
		f.Label = f.Name
	}
	if f.LogGroup == "" {
		f.LogGroup = "/aws/lambda/" + f.Name
	}
	return f.Check()
}

// limit is the most instances of a function.
func (s *Service) limit(of *Function) int {
	limit := s.options.MaxInstances
	if of.Debugger != nil {
		limit = 1
	}
	if r := of.ReservedConcurrency; r != nil {
		limit = min(limit, *r)
	}
	return limit
}

// Check returns why the function could not run here or on AWS. Add checks, too.
func (f *Function) Check() error {
	if err := checkEnvironment(f.Environment); err != nil {
		return fmt.Errorf("function %s: %w", f.Name, err)
	}
	if err := CheckBootstrap(f.Code, f.Architecture); err != nil {
		return fmt.Errorf("function %s: %w", f.Name, err)
	}
	return nil
}

// reserved variables cannot be set by a function ("Working with Lambda environment variables").
var reserved = []string{
	"_HANDLER", "_X_AMZN_TRACE_ID", "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_EXECUTION_ENV",
	"AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_VERSION",
	"AWS_LAMBDA_INITIALIZATION_TYPE", "AWS_LAMBDA_LOG_GROUP_NAME", "AWS_LAMBDA_LOG_STREAM_NAME",
	"AWS_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
	"AWS_LAMBDA_RUNTIME_API", "LAMBDA_TASK_ROOT", "LAMBDA_RUNTIME_DIR",
}

func checkEnvironment(environment map[string]string) error {
	size := 0
	for _, name := range slices.Sorted(maps.Keys(environment)) {
		if slices.Contains(reserved, name) {
			return fmt.Errorf("environment variable %s is reserved by Lambda: give it another name", name)
		}
		if strings.ContainsRune(name+environment[name], 0) {
			return fmt.Errorf("environment variable %q holds a NUL byte, which no process can receive", name)
		}
		size += len(name) + len(environment[name])
	}
	if size > MaxEnvironment {
		return fmt.Errorf("environment variables are %d bytes in all; Lambda allows %d", size, MaxEnvironment)
	}
	return nil
}

func (s *Service) function(name string) (*function, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, ErrClosed
	}
	f, ok := s.functions[name]
	if !ok {
		return nil, fmt.Errorf("%w %q: this run has %s", ErrNotFound, name,
			strings.Join(slices.Sorted(maps.Keys(s.functions)), ", "))
	}
	return f, nil
}

// Invoke calls a function and waits for its answer. A failure inside the function is a Result with
// FunctionError; an error means that the function did not take the call (ErrNotFound, ErrThrottled,
// ErrTooLarge, ErrClosed) or that ctx ended first. A function that already has the call then keeps
// working on it, as on AWS.
func (s *Service) Invoke(ctx context.Context, name string, payload []byte) (Result, error) {
	return s.InvokeWithin(ctx, 0, name, payload)
}

// InvokeWithin calls a function as Invoke does, and waits for its answer at most for the time after an instance has
// taken the call; then it fails with context.DeadlineExceeded. The wait for an instance does not count: on AWS there
// would be one. 0: no limit.
func (s *Service) InvokeWithin(ctx context.Context, limit time.Duration, name string, payload []byte) (Result, error) {
	f, err := s.function(name)
	if err != nil {
		return Result{}, err
	}
	if len(payload) > MaxPayload {
		return Result{}, fmt.Errorf("function %s: %w: Lambda takes %d bytes, this has %d", name, ErrTooLarge,
			MaxPayload, len(payload))
	}
	return f.invoke(ctx, limit, payload)
}

// Warm starts a function's first instance in the background unless it has one.
func (s *Service) Warm(name string) error {
	f, err := s.function(name)
	if err != nil {
		return err
	}
	f.warm()
	return nil
}

// Started waits until the instance that Warm has started asks for work. It returns a *StartError if the instance ends
// before, ErrClosed, or the cause if ctx ends. It returns nil at once if Warm has started none, or if its debugger may
// wait for a person. Call it once.
func (s *Service) Started(ctx context.Context, name string) error {
	f, err := s.function(name)
	if err != nil {
		return err
	}
	f.mu.Lock()
	first := f.first
	f.mu.Unlock()
	if first == nil || first.of.Debugger != nil {
		return nil
	}
	select {
	case err := <-first.started:
		return err
	case <-ctx.Done():
		return fmt.Errorf("function %s: %w", f.Name, context.Cause(ctx))
	}
}

// Kill ends one instance of a function with SIGKILL, a busy one if there is any, and returns its
// process id. ErrNotRunning says there was none. The next invocation starts another.
func (s *Service) Kill(name string) (pid int, err error) {
	f, err := s.function(name)
	if err != nil {
		return 0, err
	}
	return f.kill()
}

// Close kills every instance and waits until all have ended. Invocations in flight fail.
func (s *Service) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.running.Wait()
		return
	}
	s.closed = true
	functions := slices.AppendSeq(slices.Clone(s.removed), maps.Values(s.functions))
	s.mu.Unlock()
	for _, f := range functions {
		f.close()
	}
	s.cancelBackground()
	s.running.Wait()
}

// WithDeadLetter returns the names of the functions whose failed events go to the dead-letter queue, sorted.
func (s *Service) WithDeadLetter(queueARN string) (names []string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for name, f := range s.functions {
		if f.definition().Async.DeadLetter == queueARN {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Status is a function's figures since the start of the run.
type Status struct {
	Name string `json:"name"`
	// Label is what people call the function.
	Label         string  `json:"label"`
	ARN           string  `json:"arn"`
	Invocations   int64   `json:"invocations"`
	Errors        int64   `json:"errors"`
	Throttles     int64   `json:"throttles"`
	Timeouts      int64   `json:"timeouts"`
	ColdStarts    int64   `json:"cold_starts"`
	Deaths        int64   `json:"deaths"`
	Queued        int     `json:"queued"`
	MaxInstances  int     `json:"max_instances"`
	LastInitMilli float64 `json:"last_init_ms"`
	// MeanMilli is the mean time from handing an invocation to an instance to its answer, in milliseconds.
	MeanMilli float64    `json:"mean_ms"`
	Instances []Instance `json:"instances"`
}

// Instance is one live process of a function.
type Instance struct {
	PID   int  `json:"pid"`
	Busy  bool `json:"busy"`
	Ready bool `json:"ready"`
	// Retired says that newer code has taken over: the instance finishes its invocation, and ends.
	Retired     bool    `json:"retired,omitempty"`
	Invocations int64   `json:"invocations"`
	InitMilli   float64 `json:"init_ms"`
	// RSSBytes is the resident memory, 0 where the system does not tell.
	RSSBytes int64 `json:"rss_bytes"`
}

// Environment returns the variables of a function that are its own. It fails with ErrNotFound or ErrClosed.
func (s *Service) Environment(name string) (map[string]string, error) {
	f, err := s.function(name)
	if err != nil {
		return nil, err
	}
	return maps.Clone(f.definition().Environment), nil
}

// Functions returns the status of every function, by name.
func (s *Service) Functions() []Status {
	s.mu.RLock()
	names := slices.Sorted(maps.Keys(s.functions))
	functions := make([]*function, len(names))
	for i, name := range names {
		functions[i] = s.functions[name]
	}
	s.mu.RUnlock()
	statuses := make([]Status, len(functions))
	for i, f := range functions {
		statuses[i] = f.status()
	}
	return statuses
}

// failure is the document that Lambda returns for an error of the function or its sandbox.
func failure(requestID, errorType, message string) Result {
	payload, err := json.Marshal(map[string]string{"errorType": errorType, "errorMessage": message})
	if err != nil {
		payload = []byte(`{"errorType":"Runtime.Unknown"}`)
	}
	return Result{Payload: payload, FunctionError: "Unhandled", RequestID: requestID}
}
