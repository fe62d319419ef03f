package lambda_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda/lambdatest"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

var (
	buildOnce sync.Once
	codeDir   string
)

func TestMain(m *testing.M) {
	code := m.Run()
	if codeDir != "" {
		os.RemoveAll(codeDir)
	}
	os.Exit(code)
}

// code is the folder of the compiled test function.
func code(t testing.TB) string {
	t.Helper()
	buildOnce.Do(func() {
		dir := must.Get(os.MkdirTemp("", "onesynth-function-"))(t)
		lambdatest.Build(t, "./testdata/function", dir)
		codeDir = dir
	})
	if codeDir == "" {
		t.Fatal("the test function did not build")
	}
	return codeDir
}

func newService(t testing.TB, options lambda.Options, functions ...lambda.Function) *lambda.Service {
	t.Helper()
	s := lambda.New(options)
	t.Cleanup(s.Close)
	for _, f := range functions {
		must.OK(t, s.Add(defined(t, f)))
	}
	return s
}

// defined is a function with a definition for what it leaves out.
func defined(t testing.TB, f lambda.Function) lambda.Function {
	t.Helper()
	f.Name, f.Timeout = cmp.Or(f.Name, "fn"), cmp.Or(f.Timeout, 20*time.Second)
	if f.Code == "" {
		f.Code = code(t)
	}
	f.ARN, f.Architecture = "arn:aws:lambda:us-east-1:000000000000:function:"+f.Name, architectures[runtime.GOARCH]
	return f
}

func invoke(t testing.TB, s *lambda.Service, payload string) lambda.Result {
	t.Helper()
	return must.Get(s.Invoke(t.Context(), "fn", []byte(payload)))(t)
}

func failureOf(t testing.TB, result lambda.Result) (errorType, message string) {
	t.Helper()
	var document struct{ ErrorType, ErrorMessage string }
	if err := json.Unmarshal(result.Payload, &document); err != nil {
		t.Fatalf("payload %s: %v", result.Payload, err)
	}
	return document.ErrorType, document.ErrorMessage
}

func TestInvoke(t *testing.T) {
	t.Parallel()
	s := newService(t, lambda.Options{}, lambda.Function{})

	t.Run("OK", func(t *testing.T) {
		result := invoke(t, s, `{"echo":{"a":"ü\u0000"}}`)
		if got := string(result.Payload); got != `{"a":"ü\u0000"}` || result.FunctionError != "" {
			t.Errorf("got %s, %q", got, result.FunctionError)
		}
	})
	t.Run("ErrOfHandler", func(t *testing.T) {
		result := invoke(t, s, `{"error":"no luck"}`)
		if _, message := failureOf(t, result); message != "no luck" || result.FunctionError != "Unhandled" {
			t.Errorf("got %s, %q", result.Payload, result.FunctionError)
		}
	})
	t.Run("ErrPanic", func(t *testing.T) {
		result := invoke(t, s, `{"panic":"at the disco"}`)
		if _, message := failureOf(t, result); message != "at the disco" {
			t.Errorf("got %s", result.Payload)
		}
		if got := string(invoke(t, s, `{"echo":1}`).Payload); got != "1" {
			t.Errorf("after the panic: got %s", got)
		}
	})
	t.Run("ErrExit", func(t *testing.T) {
		result := invoke(t, s, `{"exit":3}`)
		errorType, message := failureOf(t, result)
		if errorType != "Runtime.ExitError" || !strings.Contains(message, result.RequestID) ||
			!strings.HasSuffix(message, "exit status 3") {
			t.Errorf("got %s", result.Payload)
		}
		if got := string(invoke(t, s, `{"echo":2}`).Payload); got != "2" {
			t.Errorf("after the exit: got %s", got)
		}
	})
	t.Run("ErrResponseTooLarge", func(t *testing.T) {
		errorType, _ := failureOf(t, invoke(t, s, fmt.Sprintf(`{"big":%d}`, lambda.MaxPayload+1)))
		if errorType != "Function.ResponseSizeTooLarge" {
			t.Errorf("got %s", errorType)
		}
	})
	t.Run("ErrRequestTooLarge", func(t *testing.T) {
		if _, err := s.Invoke(t.Context(), "fn", make([]byte, lambda.MaxPayload+1)); !errors.Is(err,
			lambda.ErrTooLarge) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("ErrNotFound", func(t *testing.T) {
		_, err := s.Invoke(t.Context(), "other", nil)
		if !errors.Is(err, lambda.ErrNotFound) || !strings.Contains(err.Error(), "fn") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("LargestRequest", func(t *testing.T) {
		payload := `{"echo":"` + strings.Repeat("y", lambda.MaxPayload-11) + `"}`
		if got := invoke(t, s, payload); len(got.Payload) != lambda.MaxPayload-9 {
			t.Errorf("got %d bytes, %q", len(got.Payload), got.FunctionError)
		}
	})
}

func TestContextOfInvocation(t *testing.T) {
	t.Parallel()
	s := newService(t, lambda.Options{}, lambda.Function{})
	before := time.Now().Add(20 * time.Second).UnixMilli()
	result := invoke(t, s, `{"context":true}`)
	var got struct {
		DeadlineMS int64  `json:"deadline_ms"`
		RequestID  string `json:"request_id"`
		ARN        string
	}
	must.OK(t, json.Unmarshal(result.Payload, &got))
	if got.RequestID != result.RequestID || got.ARN != "arn:aws:lambda:us-east-1:000000000000:function:fn" {
		t.Errorf("got %+v, request id %s", got, result.RequestID)
	}
	if after := time.Now().Add(20 * time.Second).UnixMilli(); got.DeadlineMS < before || got.DeadlineMS > after {
		t.Errorf("deadline %d is not between %d and %d", got.DeadlineMS, before, after)
	}
}

func TestTimeoutKillsTheProcess(t *testing.T) {
	t.Parallel()
	s := newService(t, lambda.Options{}, lambda.Function{Timeout: 2 * time.Second})
	errorType, message := failureOf(t, invoke(t, s, `{"sleepMS":60000}`))
	if errorType != "Sandbox.Timedout" || !strings.HasSuffix(message, "Task timed out after 2.00 seconds") {
		t.Errorf("got %s: %s", errorType, message)
	}
	if got := string(invoke(t, s, `{"echo":1}`).Payload); got != "1" {
		t.Errorf("after the timeout: got %s", got)
	}
	if status := s.Functions()[0]; status.Timeouts != 1 || status.Errors != 1 {
		t.Errorf("got %+v", status)
	}
}

func TestInitFailures(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"exit", "panic"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := newService(t, lambda.Options{}, lambda.Function{Environment: map[string]string{"INIT": how}})
			for range 2 {
				errorType, _ := failureOf(t, invoke(t, s, `{}`))
				if errorType != "Runtime.ExitError" {
					t.Errorf("got %s", errorType)
				}
			}
		})
	}
}

func TestKillFailsOnlyItsInvocation(t *testing.T) {
	t.Parallel()
	s := newService(t, lambda.Options{MaxInstances: 4}, lambda.Function{})
	if _, err := s.Kill("fn"); !errors.Is(err, lambda.ErrNotRunning) {
		t.Errorf("got %v", err)
	}
	const calls = 200
	var wait sync.WaitGroup
	failures := make(chan string, calls)
	for i := range calls {
		wait.Go(func() {
			result, err := s.Invoke(t.Context(), "fn", fmt.Appendf(nil, `{"echo":%d,"sleepMS":5}`, i))
			switch {
			case err != nil:
				failures <- err.Error()
			case result.FunctionError != "":
				failures <- string(result.Payload)
			case string(result.Payload) != fmt.Sprint(i):
				t.Errorf("call %d got another's answer %s", i, result.Payload)
			}
		})
	}
	kills := 0
	for range 10 {
		if _, err := s.Kill("fn"); err == nil {
			kills++
		}
		time.Sleep(10 * time.Millisecond)
	}
	wait.Wait()
	close(failures)
	failed := 0
	for message := range failures {
		failed++
		if !strings.Contains(message, "Runtime.ExitError") || !strings.Contains(message, "killed") {
			t.Errorf("got %s", message)
		}
	}
	if failed > kills {
		t.Errorf("%d kills failed %d invocations", kills, failed)
	}
}

// A second request for work, which ends without any, leaves an instance in its place whose process waits. One of a web
// page is refused.
func TestSecondRequestForWork(t *testing.T) {
	t.Parallel()
	s := newService(t, lambda.Options{MaxInstances: 1}, lambda.Function{})
	var variables []string
	must.OK(t, json.Unmarshal(invoke(t, s, `{"env":true}`).Payload, &variables))
	const runtimeAPI = "AWS_LAMBDA_RUNTIME_API="
	i := slices.IndexFunc(variables, func(v string) bool { return strings.HasPrefix(v, runtimeAPI) })
	address := strings.TrimPrefix(variables[i], runtimeAPI)
	const path = "/2018-06-01/runtime/invocation/next"
	for range 3 {
		waitBusy(t, s, 0)
		// The server closes the connection when it has noticed that nobody waits for the answer.
		connection, err := net.Dial("tcp", address)
		must.OK(t, err)
		_, err = fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, address)
		must.OK(t, errors.Join(err, connection.(*net.TCPConn).CloseWrite()))
		must.Get(io.Copy(io.Discard, connection))(t)
		_ = connection.Close()
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil))(t)
		request.Header = http.Header{"Sec-Fetch-Site": {"same-site"}, "Sec-Fetch-Mode": {"no-cors"}}
		response := must.Get(http.DefaultClient.Do(request))(t)
		if _ = response.Body.Close(); response.StatusCode != http.StatusForbidden {
			t.Fatalf("a web page got %s", response.Status)
		}
		result, err := s.Invoke(t.Context(), "fn", []byte(`{"echo":1}`))
		if err != nil || string(result.Payload) != "1" {
			t.Fatalf("got %s, %v", result.Payload, err)
		}
	}
	if got := s.Functions()[0]; got.ColdStarts != 1 || got.Deaths != 0 {
		t.Errorf("got %+v, want the one instance", got)
	}
}

func TestKillOfAnInstanceThatBegins(t *testing.T) {
	t.Parallel()
	s := newService(t, lambda.Options{MaxInstances: 1}, lambda.Function{Environment: map[string]string{"INIT": "slow"}})
	answer := make(chan string)
	go func() {
		result, err := s.Invoke(t.Context(), "fn", []byte(`{"echo":1}`))
		answer <- fmt.Sprint(string(result.Payload), result.FunctionError, err)
	}()
	wait.Until(t, "an instance begins, and is killed", func() (any, bool) {
		_, err := s.Kill("fn")
		if err != nil && !errors.Is(err, lambda.ErrNotRunning) {
			t.Fatal(err)
		}
		return s.Functions(), err == nil
	}, wait.Closely())
	if got := <-answer; got != "1<nil>" {
		t.Errorf("got %s, want the answer of the next instance", got)
	}
	if deaths := s.Functions()[0].Deaths; deaths != 1 {
		t.Errorf("got %d deaths, want 1", deaths)
	}
}

func TestConcurrencyIsBounded(t *testing.T) {
	t.Parallel()
	s := newService(t, lambda.Options{MaxInstances: 3}, lambda.Function{})
	var wait sync.WaitGroup
	for range 30 {
		wait.Go(func() {
			if _, err := s.Invoke(context.Background(), "fn", []byte(`{"sleepMS":2}`)); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	status := s.Functions()[0]
	if len(status.Instances) > 3 || status.Invocations != 30 || status.Queued != 0 {
		t.Errorf("got %+v", status)
	}
	var served int64
	for _, instance := range status.Instances {
		served += instance.Invocations
	}
	if served != 30 {
		t.Errorf("instances served %d invocations", served)
	}
}

// Many first requests at once start more instances than the processors can start at once. They wait for each other, and
// none fails.
func TestManyStarts(t *testing.T) {
	t.Parallel()
	const requests = 60
	s := newService(t, lambda.Options{MaxInstances: requests, MaxStarts: 2},
		lambda.Function{Environment: map[string]string{"INIT": "crowded", "CROWD": t.TempDir()}})
	outcomes := make(chan string, requests)
	for range requests {
		go func() {
			result, err := s.InvokeWithin(context.Background(), time.Minute, "fn", []byte(`{"sleepMS":20,"echo":"ok"}`))
			outcomes <- fmt.Sprintf("%s %v", result.Payload, err)
		}()
	}
	counts := map[string]int{}
	for range requests {
		counts[<-outcomes]++
	}
	if counts[`"ok" <nil>`] != requests {
		t.Errorf("got %v", counts)
	}
	if status := s.Functions()[0]; status.Deaths > 0 || status.Queued > 0 || status.ColdStarts < 2 {
		t.Errorf("got %+v", status)
	}
}

func TestReservedConcurrency(t *testing.T) {
	t.Parallel()
	zero, one := 0, 1
	t.Run("Zero", func(t *testing.T) {
		t.Parallel()
		s := newService(t, lambda.Options{}, lambda.Function{ReservedConcurrency: &zero})
		if _, err := s.Invoke(t.Context(), "fn", []byte(`{}`)); !errors.Is(err, lambda.ErrThrottled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("One", func(t *testing.T) {
		t.Parallel()
		s := newService(t, lambda.Options{}, lambda.Function{ReservedConcurrency: &one})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := s.Invoke(ctx, "fn", []byte(`{"sleepMS":60000}`))
			done <- err
		}()
		wait.For(t, "the invocations", int64(1), func() int64 { return s.Functions()[0].Invocations })
		if _, err := s.Invoke(t.Context(), "fn", []byte(`{}`)); !errors.Is(err, lambda.ErrThrottled) {
			t.Errorf("got %v", err)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestEnvironment(t *testing.T) {
	t.Setenv("ONESYNTH_SHELL_SECRET", "must not leak")
	t.Setenv("AWS_PROFILE", "must not leak")
	s := newService(t, lambda.Options{Endpoint: "http://127.0.0.1:1", Region: "eu-central-1"}, lambda.Function{
		AccessKeyID: "KEY", SecretAccessKey: "SECRET", Handler: "bootstrap",
		Environment: map[string]string{"TABLE": "t=1"}, Routes: []string{"GET /a", "PUT /b"},
	})
	var env []string
	must.OK(t, json.Unmarshal(invoke(t, s, `{"env":true}`).Payload, &env))
	for _, want := range []string{
		"TABLE=t=1", "AWS_REGION=eu-central-1", "AWS_DEFAULT_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=KEY",
		"AWS_SECRET_ACCESS_KEY=SECRET",
		"AWS_ENDPOINT_URL=http://127.0.0.1:1", "AWS_LAMBDA_FUNCTION_NAME=fn", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=128",
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST", "_HANDLER=bootstrap", "TZ=:UTC",
		"AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/fn", "ONESYNTH_ROUTES=GET /a\nPUT /b",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("missing %s in %q", want, env)
		}
	}
	for _, variable := range env {
		if strings.Contains(variable, "must not leak") || strings.HasPrefix(variable, "HOME=") {
			t.Errorf("the shell's %s reached the function", variable)
		}
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		recorder := trace.New(trace.Options{})
		s := newService(t, lambda.Options{Trace: recorder}, lambda.Function{})
		invoke(t, s, `{"print":"one\ntwo"}`)
		invoke(t, s, `{"print":"three","exit":0}`)
		if lines := linesOf(recorder); !slices.Equal(lines, []string{"one", "two", "three"}) {
			t.Errorf("got %q", lines)
		}
	})
	t.Run("ErrNotAuthorised", func(t *testing.T) {
		t.Parallel()
		recorder := trace.New(trace.Options{})
		var group, stream string
		s := newService(t, lambda.Options{Trace: recorder,
			AuthoriseLogs: func(function, logGroup, logStream string) error {
				group, stream = logGroup, logStream
				return errors.New("not authorized to perform: logs:PutLogEvents")
			}}, lambda.Function{LogGroup: "/my/group"})
		invoke(t, s, `{"print":"secret\nplan"}`)
		invoke(t, s, `{"exit":1}`)
		lines := linesOf(recorder)
		if len(lines) != 1 || !strings.Contains(lines[0], "logs:PutLogEvents") || group != "/my/group" ||
			!strings.Contains(stream, "[$LATEST]") {
			t.Errorf("got %q for %s %s", lines, group, stream)
		}
	})
}

// linesOf are the texts that the functions have logged.
func linesOf(recorder *trace.Recorder) (texts []string) {
	for _, line := range recorder.Lines(trace.LineFilter{Function: "fn"}) {
		texts = append(texts, line.Text)
	}
	return texts
}

func TestCloseEndsEveryProcess(t *testing.T) {
	t.Parallel()
	s := newService(t, lambda.Options{}, lambda.Function{})
	var grandchild int
	must.OK(t, json.Unmarshal(invoke(t, s, `{"child":true}`).Payload, &grandchild))
	status := s.Functions()[0]
	if len(status.Instances) != 1 {
		t.Fatalf("after an invocation: got %+v, want one instance", status)
	}
	pid := status.Instances[0].PID
	inflight := make(chan error, 1)
	go func() {
		result, err := s.Invoke(context.Background(), "fn", []byte(`{"sleepMS":60000}`))
		if err == nil && result.FunctionError == "" {
			err = fmt.Errorf("answered %s", result.Payload)
			inflight <- err
			return
		}
		inflight <- nil
	}()
	s.Close()
	if err := <-inflight; err != nil {
		t.Error(err)
	}
	for _, p := range []int{pid, grandchild} {
		// The grandchild is reaped by init, which may take a moment.
		wait.Until(t, fmt.Sprintf("process %d is gone", p), func() (any, bool) {
			return nil, syscall.Kill(p, 0) != nil || zombie(p)
		})
	}
	if _, err := s.Invoke(t.Context(), "fn", nil); !errors.Is(err, lambda.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	other := map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH]
	build := func(system, processor string) string {
		dir := t.TempDir()
		must.OK(t, os.WriteFile(filepath.Join(dir, "bootstrap"), lambdatest.Executable(t, system, processor), 0o755))
		return dir
	}
	foreign := build(runtime.GOOS, other)
	notExecutable := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(notExecutable, "bootstrap"), []byte("#!/bin/sh\n"), 0o644))
	for name, test := range map[string]struct {
		function lambda.Function
		want     string
	}{
		"NoBootstrap":   {lambda.Function{Code: t.TempDir()}, "no file named bootstrap"},
		"NoFolder":      {lambda.Function{Code: filepath.Join(t.TempDir(), "none")}, "no file named bootstrap"},
		"NotExecutable": {lambda.Function{Code: notExecutable}, "not executable"},
		"Foreign": {lambda.Function{Code: foreign, Architecture: architectures[other]},
			"it runs on " + runtime.GOOS + "/" + other + ", this machine is " + runtime.GOOS + "/" + runtime.GOARCH},
		"ForeignSystem": {lambda.Function{Code: build("darwin", runtime.GOARCH)},
			"it runs on darwin/" + runtime.GOARCH},
		"Undeclared": {lambda.Function{Code: foreign, Architecture: architectures[runtime.GOARCH]},
			"AWS could not start it"},
		"Reserved": {lambda.Function{Code: code(t), Environment: map[string]string{"AWS_REGION": "x"}},
			"AWS_REGION is reserved"},
		"TooLarge": {lambda.Function{Code: code(t), Environment: map[string]string{"A": strings.Repeat("x", 5000)}},
			"Lambda allows 4096"},
		"NUL": {lambda.Function{Code: code(t), Environment: map[string]string{"A": "x\x00"}}, "NUL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, lambda.Options{})
			test.function.Name = "fn"
			if test.function.Architecture == "" {
				test.function.Architecture = architectures[runtime.GOARCH]
			}
			err := s.Add(test.function)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if strings.HasPrefix(name, "Foreign") && !errors.Is(err, lambda.ErrArchitecture) {
				t.Errorf("got %v", err)
			}
		})
	}
}

var architectures = map[string]string{"amd64": "x86_64", "arm64": "arm64"}

type recordedMessage struct {
	function, queue, body string
	attributes            map[string]string
}

type recorder chan recordedMessage

func (r recorder) SendMessage(_ context.Context, function, queue, body string, attributes map[string]string) error {
	r <- recordedMessage{function, queue, body, attributes}
	return nil
}

func TestInvokeAsync(t *testing.T) {
	t.Parallel()
	queues := make(recorder, 10)
	retries := 1
	s := newService(t, lambda.Options{Queues: queues, RetryDelay: func(int) time.Duration { return time.Millisecond }},
		lambda.Function{Async: lambda.Async{OnFailure: "arn:failure", DeadLetter: "arn:dead", MaxRetries: &retries}})
	must.Get(s.InvokeAsync(t.Context(), "fn", []byte(`{"error":"never works"}`)))(t)
	record, dead := <-queues, <-queues
	var got struct {
		RequestContext struct {
			Condition              string
			ApproximateInvokeCount int
		}
		RequestPayload  struct{ Error string }
		ResponsePayload struct{ ErrorMessage string }
	}
	must.OK(t, json.Unmarshal([]byte(record.body), &got))
	if record.queue != "arn:failure" || got.RequestContext.Condition != "RetriesExhausted" ||
		got.RequestContext.ApproximateInvokeCount != 2 ||
		got.RequestPayload.Error != "never works" || got.ResponsePayload.ErrorMessage != "never works" {
		t.Errorf("got %+v", record)
	}
	if dead.queue != "arn:dead" || dead.body != `{"error":"never works"}` ||
		dead.attributes["ErrorMessage"] != "never works" {
		t.Errorf("got %+v", dead)
	}
	if status := s.Functions()[0]; status.Invocations != 2 {
		t.Errorf("invoked %d times", status.Invocations)
	}
}

func BenchmarkWarmInvoke(b *testing.B) {
	s := newService(b, lambda.Options{}, lambda.Function{})
	payload := []byte(`{"echo":{"hello":"world"}}`)
	invoke(b, s, string(payload))
	b.ReportAllocs()
	for b.Loop() {
		must.Get(s.Invoke(b.Context(), "fn", payload))(b)
	}
	status := s.Functions()[0]
	b.ReportMetric(status.LastInitMilli, "init-ms")
	b.ReportMetric(float64(status.Instances[0].RSSBytes)/1e6, "MB-rss")
}

func BenchmarkWarmInvokeParallel(b *testing.B) {
	s := newService(b, lambda.Options{}, lambda.Function{})
	payload := []byte(`{"echo":{"hello":"world"}}`)
	invoke(b, s, string(payload))
	b.SetParallelism(16)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, err := s.Invoke(b.Context(), "fn", payload); err != nil {
				b.Error(err)
			}
		}
	})
}
