package lambda

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/onesynth-cdk/onesynth/internal/loopback"
	"github.com/onesynth-cdk/onesynth/internal/processgroup"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// instance is one process of a function and the Runtime API server that it alone talks to.
type instance struct {
	function *function
	// of is the definition that the instance runs.
	of      *Function
	work    chan *invocation // one slot: filled only while the instance is idle
	exited  chan struct{}
	process atomic.Pointer[os.Process]
	served  atomic.Int64
	newest  atomic.Pointer[string] // id of the invocation that it took last
	began   time.Time
	stream  string

	// ready, init, idle, polls, dying, retired and holdsStart are guarded by function.mu. polls are the requests for
	// work that wait. holdsStart says that the instance is one of Service.starts.
	ready   bool
	polls   int
	idle    bool
	dying   bool
	retired bool
	init    time.Duration

	holdsStart bool

	// started is a successor's, or that of the instance that Warm starts: how its start ended.
	started chan error

	mu sync.Mutex
	// printed is what a successor wrote before its first invocation, at most the newest keptLines lines.
	printed []string
	current *invocation
	stopped bool
	// stopping is closed when the instance is to end.
	stopping  chan struct{}
	initError *Result

	logs     sync.Once
	logsDrop bool
}

// run starts the process, serves it until it ends, and reports its end to the pool.
func (inst *instance) run() {
	f := inst.function
	if !f.mayStart(inst) {
		close(inst.exited)
		f.exited(inst, "it was not needed any more", nil)
		return
	}
	inst.began = time.Now()
	// A start that takes longer waits for something else than a processor.
	defer time.AfterFunc(initTimeout, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.startedLocked(inst)
	}).Stop()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		close(inst.exited)
		f.exited(inst, "no port for the Runtime API: "+err.Error(), nil)
		return
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", inst.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", inst.response)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", inst.failed)
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", inst.initFailed)
	guarded := loopback.Guard{Listener: "the Runtime API of function " + f.Name}.Handler(mux)
	server := &http.Server{Handler: guarded, ReadHeaderTimeout: 10 * time.Second}
	defer listener.Close()
	defer server.Close()

	inst.stream = inst.began.UTC().Format("2006/01/02") + "/[$LATEST]" + strings.ReplaceAll(uuid.NewString(), "-", "")
	words := append(slices.Clone(inst.of.Debugger), filepath.Join(inst.of.Code, "bootstrap"))
	command := exec.Command(words[0], words[1:]...)
	command.Dir = inst.of.Code
	command.Env = inst.of.environment(f.service.options, listener.Addr().String(), inst.stream)
	output := &lineWriter{emit: inst.line}
	command.Stdout, command.Stderr = output, output
	command.WaitDelay = time.Second
	processgroup.Lead(command)
	endWithRunner(command, inst.of.Debugger != nil)

	started := make(chan error, 1)
	select {
	case f.service.spawn <- func() { started <- command.Start() }:
		err = <-started
	case <-f.service.background.Done():
		err = ErrClosed
	}
	if err != nil {
		close(inst.exited)
		f.exited(inst, err.Error(), nil)
		return
	}
	inst.process.Store(command.Process)
	// The process is known before its first request is served.
	go server.Serve(listener)
	initTimer := time.AfterFunc(inst.of.startTime(), func() {
		f.mu.Lock()
		late := !inst.ready
		f.mu.Unlock()
		if late {
			inst.line(fmt.Sprintf("no call to the Runtime API within %v of starting: killed", inst.of.startTime()))
			inst.kill()
		}
	})
	inst.mu.Lock()
	if inst.stopped {
		inst.kill()
	}
	inst.mu.Unlock()

	err = command.Wait()
	initTimer.Stop()
	// A process that the function itself started must not outlive it.
	processgroup.Kill(command.Process.Pid)
	output.flush()
	close(inst.exited)
	reason := "exit status 0"
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		reason = exit.Error()
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		reason = err.Error()
	}
	inst.mu.Lock()
	report := inst.initError
	inst.mu.Unlock()
	f.exited(inst, reason, report)
}

// stop ends the process now or, if it is not up yet, as soon as it is.
func (inst *instance) stop() {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	if !inst.stopped {
		inst.stopped = true
		close(inst.stopping)
	}
	inst.kill()
}

// kill ends the process, if it is up. A debugger gets time to end the program, which is in a group of its own.
func (inst *instance) kill() error {
	process := inst.process.Load()
	if process == nil {
		return nil
	}
	if inst.of.Debugger == nil {
		return processgroup.Kill(process.Pid)
	}
	time.AfterFunc(debuggerEnd, func() {
		select {
		case <-inst.exited:
		default:
			processgroup.Kill(process.Pid)
		}
	})
	return process.Signal(syscall.SIGTERM)
}

// debuggerEnd is the longest that a debugger may take to end.
const debuggerEnd = 3 * time.Second

// startTime is the longest that an instance may take until it asks for work.
func (f *Function) startTime() time.Duration {
	if f.Debugger != nil {
		return forDebugging
	}
	return max(initTimeout, f.Timeout)
}

// time is the longest that an invocation may take.
func (f *Function) time() time.Duration {
	if f.Debugger != nil {
		return forDebugging
	}
	return f.Timeout
}

// take removes the current invocation if it has this id ("" means any) and hands it to the caller,
// who alone may then answer it.
func (inst *instance) take(id string) *invocation {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	inv := inst.current
	if inv == nil || id != "" && inv.id != id {
		return nil
	}
	inst.current = nil
	return inv
}

func (inst *instance) next(w http.ResponseWriter, r *http.Request) {
	f := inst.function
	// A runtime that asks for more work without having answered has abandoned its invocation.
	if inv := inst.take(""); inv != nil {
		f.finish(inv, failure(inv.id, "Runtime.NoResponse",
			fmt.Sprintf("RequestId: %s Error: the runtime asked for the next invocation without answering this one",
				inv.id)))
	}
	inv := f.offer(inst)
	if inv == nil {
		select {
		case inv = <-inst.work:
			f.took(inst)
		case <-inst.exited:
			return
		case <-r.Context().Done():
			f.withdraw(inst)
			return
		}
	}
	inst.mu.Lock()
	select {
	case <-inst.exited:
		// The process died before it could see the invocation: another instance takes it.
		inst.mu.Unlock()
		f.requeue(inv)
		return
	default:
	}
	inv.begin(inst.of.time())
	inst.current = inv
	inv.timer = time.AfterFunc(inst.of.time(), func() { inst.timeout(inv) })
	inst.mu.Unlock()
	inv.traced.Begin(inst.served.Add(1) == 1)
	inst.newest.Store(&inv.id)

	h := w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Lambda-Runtime-Aws-Request-Id"] = []string{inv.id}
	h["Lambda-Runtime-Deadline-Ms"] = []string{strconv.FormatInt(inv.deadline.UnixMilli(), 10)}
	h["Lambda-Runtime-Invoked-Function-Arn"] = []string{inst.of.ARN}
	h["Lambda-Runtime-Trace-Id"] = []string{trace.TraceID(inv.started, inv.id)}
	h["Content-Length"] = []string{strconv.Itoa(len(inv.payload))}
	w.Write(inv.payload)
}

func (inst *instance) timeout(inv *invocation) {
	f := inst.function
	if inst.take(inv.id) == nil {
		return
	}
	f.mu.Lock()
	f.timeouts++
	f.mu.Unlock()
	inst.kill()
	message := fmt.Sprintf("RequestId: %s Error: Task timed out after %.2f seconds", inv.id, inst.of.Timeout.Seconds())
	inst.line(message)
	f.finish(inv, failure(inv.id, "Sandbox.Timedout", message))
}

// answered takes the invocation that a request answers, with the answer. It returns
// false if there is none, or if the process died while it answered: then its exit
// answers the invocation.
func (inst *instance) answered(w http.ResponseWriter, r *http.Request) (inv *invocation, body []byte, ok bool) {
	id := r.PathValue("id")
	body, err := readAll(r)
	if err != nil {
		return nil, nil, false
	}
	inv = inst.take(id)
	if inv == nil {
		refuse(w, http.StatusBadRequest, "InvalidRequestID", "no invocation "+id+" is in flight")
		return nil, nil, false
	}
	return inv, body, true
}

func (inst *instance) response(w http.ResponseWriter, r *http.Request) {
	inv, body, ok := inst.answered(w, r)
	if !ok {
		return
	}
	result := Result{Payload: body, RequestID: inv.id}
	switch {
	case len(body) > MaxPayload:
		result = failure(inv.id, "Function.ResponseSizeTooLarge",
			fmt.Sprintf("Response payload size exceeded maximum allowed payload size (%d bytes).", MaxPayload))
		refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "response is over 6 MB")
	case r.Trailer.Get("Lambda-Runtime-Function-Error-Type") != "":
		result = failure(inv.id, r.Trailer.Get("Lambda-Runtime-Function-Error-Type"),
			"the function failed while it was writing its response")
		accept(w)
	default:
		accept(w)
	}
	inst.function.finish(inv, result)
}

func (inst *instance) failed(w http.ResponseWriter, r *http.Request) {
	inv, body, ok := inst.answered(w, r)
	if !ok {
		return
	}
	accept(w)
	inst.function.finish(inv, Result{Payload: errorDocument(r, body), FunctionError: "Unhandled", RequestID: inv.id})
}

func (inst *instance) initFailed(w http.ResponseWriter, r *http.Request) {
	body, err := readAll(r)
	if err != nil {
		return
	}
	inst.mu.Lock()
	inst.initError = &Result{Payload: errorDocument(r, body), FunctionError: "Unhandled"}
	inst.mu.Unlock()
	accept(w)
}

// errorDocument keeps the runtime's own document, or makes one from the error type header.
func errorDocument(r *http.Request, body []byte) []byte {
	if json.Valid(body) && len(body) > 0 {
		return body
	}
	errorType := r.Header.Get("Lambda-Runtime-Function-Error-Type")
	if errorType == "" {
		errorType = "Runtime.Unknown"
	}
	return failure("", errorType, string(body)).Payload
}

// readAll reads one byte more than allowed, so that the caller recognises a body that is too large.
func readAll(r *http.Request) ([]byte, error) {
	if n := r.ContentLength; n >= 0 && n <= MaxPayload {
		body := make([]byte, n)
		_, err := io.ReadFull(r.Body, body)
		return body, err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxPayload+1))
	if err == nil && len(body) > MaxPayload {
		_, err = io.Copy(io.Discard, r.Body)
	}
	return body, err
}

func accept(w http.ResponseWriter) {
	w.WriteHeader(http.StatusAccepted)
	io.WriteString(w, `{"status":"OK"}`)
}

func refuse(w http.ResponseWriter, status int, errorType, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"errorType": errorType, "errorMessage": message})
}

// environment returns a process's variables: Lambda's and the function's. None comes from the shell that started the
// run, because its credentials and settings must not reach a function.
func (f *Function) environment(options Options, runtimeAPI, stream string) []string {
	region := cmp.Or(f.Region, options.Region)
	env := []string{
		"PATH=/usr/local/bin:/usr/bin:/bin:/opt/bin",
		"LANG=en_US.UTF-8",
		"TZ=:UTC",
		"_HANDLER=" + f.Handler,
		"LAMBDA_TASK_ROOT=" + f.Code,
		"LAMBDA_RUNTIME_DIR=" + f.Code,
		"AWS_EXECUTION_ENV=AWS_Lambda_provided.al2023",
		"AWS_REGION=" + region,
		"AWS_DEFAULT_REGION=" + region,
		"AWS_ACCESS_KEY_ID=" + f.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY=" + f.SecretAccessKey,
		"AWS_EC2_METADATA_DISABLED=true",
		"AWS_LAMBDA_RUNTIME_API=" + runtimeAPI,
		"AWS_LAMBDA_FUNCTION_NAME=" + f.Name,
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=" + strconv.Itoa(f.MemoryMB),
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME=" + f.LogGroup,
		"AWS_LAMBDA_LOG_STREAM_NAME=" + stream,
	}
	if options.Endpoint != "" {
		env = append(env, "AWS_ENDPOINT_URL="+options.Endpoint)
	}
	env = append(env, options.Variables...)
	if len(f.Routes) > 0 {
		// Handlers of lambdas/kit that do not serve one of them refuse to start.
		env = append(env, "ONESYNTH_ROUTES="+strings.Join(f.Routes, "\n"))
	}
	for name, value := range f.Environment {
		env = append(env, name+"="+value)
	}
	return env
}

// line records one line of the process, if its role may write logs.
func (inst *instance) line(text string) {
	f := inst.function
	if inst.started != nil && inst.served.Load() == 0 {
		inst.mu.Lock()
		inst.printed = append(inst.printed[max(0, len(inst.printed)-keptLines+1):], text)
		inst.mu.Unlock()
	}
	inst.logs.Do(func() {
		authorise := f.service.options.AuthoriseLogs
		if authorise == nil {
			return
		}
		if err := authorise(f.Name, inst.of.LogGroup, inst.stream); err != nil {
			inst.logsDrop = true
			f.service.log(f, "", fmt.Sprintf("its log lines are dropped, as on AWS: %v", err))
		}
	})
	if !inst.logsDrop {
		invocation := ""
		if newest := inst.newest.Load(); newest != nil {
			invocation = *newest
		}
		f.service.log(f, invocation, text)
	}
}

// log passes a line on, of an invocation or of none.
func (s *Service) log(f *function, invocation, text string) {
	s.options.Trace.Line(f.Name, f.definition().Label, invocation, text)
	if s.options.Log != nil {
		s.options.Log(f.Name, text)
	}
}
