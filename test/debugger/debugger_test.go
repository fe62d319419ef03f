// Package debugger debugs a function of a run with the real delve.
package debugger

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-delve/delve/service/api"
	"github.com/go-delve/delve/service/rpc2"

	"github.com/onesynth-cdk/onesynth/internal/gobuild"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
	"github.com/onesynth-cdk/onesynth/schema/client"
)

// timeout is the function's: a breakpoint holds it for longer.
const timeout = time.Second

// assembly writes the cloud assembly of testdata, with the function echo for this machine behind an API.
func assembly(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	build := exec.Command("go", append(append([]string{"build"}, gobuild.Flags()...), "-o",
		filepath.Join(folder, "asset.code", "bootstrap"), "./echo")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	run(t, build)
	own := strings.NewReplacer("ARCHITECTURE", map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH],
		"FLAGS", strings.Join(gobuild.Flags(), `", "`))
	for _, name := range []string{"manifest.json", "Greeter.assets.json", "Greeter.template.json"} {
		text := must.Get(os.ReadFile(filepath.Join("testdata", name)))(t)
		must.OK(t, os.WriteFile(filepath.Join(folder, name), []byte(own.Replace(string(text))), 0o600))
	}
	return folder
}

func run(t *testing.T, command *exec.Cmd) {
	t.Helper()
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command.Args, err, output)
	}
}

func TestDebug(t *testing.T) {
	t.Parallel()
	programs := t.TempDir()
	run(t, exec.Command("go", "build", "-o", programs, "github.com/go-delve/delve/cmd/dlv"))
	onesynth, folder := commandtest.Path(t), assembly(t)
	t.Run("Stops", func(t *testing.T) { t.Parallel(); stops(t, onesynth, programs, folder) })
	t.Run("Errors", func(t *testing.T) { t.Parallel(); refuses(t, onesynth, folder) })
}

// A debugger stops in the handler of a running API, reads a variable, and goes on. The request is answered, although it
// was held for longer than the function's time-out and its integration's.
func stops(t *testing.T, onesynth, programs, folder string) {
	free := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()

	command := exec.Command(onesynth, "local", "--assembly", folder, "--port", "0", "--console-port", "0", "--debug",
		"echo", "--debug-port", fmt.Sprint(port))
	command.Env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	output := must.Get(wait.Start(command))(t)
	t.Cleanup(func() { _ = command.Process.Kill() })
	// With empty caches, the function's packages are compiled without optimisations first, which takes minutes.
	wait.Until(t, "the run is ready, and its debugger", func() (any, bool) {
		printed := output.String()
		return fmt.Sprint(len(printed), " bytes"), strings.Contains(printed, "\nready\n") &&
			strings.Contains(printed, "API server listening at")
	}, wait.On(output))
	url := regexp.MustCompile(`API +(http://\S+)`).FindStringSubmatch(output.String())[1]
	if !strings.Contains(output.String(), fmt.Sprintf("127.0.0.1:%d  echo under delve", port)) {
		t.Errorf("printed %s", output)
	}

	// Before the first answer, delve may not have let the program go on yet, and would do so at the breakpoint.
	if first := get(url + "/hello/nobody"); string(first.Body) != "hello nobody" {
		t.Fatalf("got %v\n%s", first, output)
	}
	delve := rpc2.NewClient(fmt.Sprintf("127.0.0.1:%d", port))
	must.Get(delve.Halt())(t)
	// The debugger knows files by their paths here, so an editor needs no translation of paths.
	file := must.Get(filepath.Abs(filepath.Join("echo", "main.go")))(t)
	before, _, _ := strings.Cut(string(must.Get(os.ReadFile(file))(t)), "// the breakpoint")
	breakpoint := must.Get(delve.CreateBreakpoint(&api.Breakpoint{File: file,
		Line: strings.Count(before, "\n") + 1}))(t)
	stopped := delve.Continue()
	answered := make(chan client.Reply, 1)
	go func() { answered <- get(url + "/hello/alice") }()
	var state *api.DebuggerState
	select {
	case state = <-stopped:
	case got := <-answered:
		t.Fatalf("the request was answered with %v, and the breakpoint not reached\n%s", got, output)
	}
	if state.Err != nil || state.CurrentThread == nil || state.CurrentThread.Breakpoint == nil ||
		state.CurrentThread.Breakpoint.ID != breakpoint.ID {
		t.Fatalf("stopped at %+v", state)
	}
	variable, err := delve.EvalVariable(api.EvalScope{GoroutineID: -1}, "name", api.LoadConfig{MaxStringLen: 100})
	if err != nil || variable.Value != "alice" {
		t.Fatalf("got %+v, %v\n%s", variable, err, output)
	}
	// Without the debugger this would end the instance.
	time.Sleep(timeout + timeout/2)
	must.Get(delve.ClearBreakpoint(breakpoint.ID))(t)
	delve.Continue()
	if got := <-answered; got.Status != http.StatusOK || string(got.Body) != "hello alice" {
		t.Errorf("got %v\n%s", got, output)
	}

	must.OK(t, command.Process.Signal(syscall.SIGINT))
	wait.Until(t, "the run ends", func() (any, bool) { return output.String(), output.Ended() != nil })
	if state := command.ProcessState; !state.Success() || !strings.HasSuffix(output.String(), "ended\n") {
		t.Errorf("got %s\n%s", state, output)
	}
	if runtime.GOOS != "linux" {
		return
	}
	for _, process := range must.Get(filepath.Glob("/proc/[0-9]*"))(t) {
		if program, err := os.Readlink(filepath.Join(process, "exe")); err == nil &&
			(strings.HasPrefix(program, programs) || strings.Contains(program, "/debug/echo/")) {
			t.Errorf("%s is left: %s", process, program)
		}
	}
}

// get returns the answer of an address, or one without a status that says why there is none.
func get(url string) client.Reply {
	r, err := (&client.Client{URL: url}).Send(context.Background(), http.MethodGet, "", nil, nil)
	if err != nil {
		r.Body = []byte(err.Error())
	}
	return r
}

func refuses(t *testing.T, onesynth, folder string) {
	for name, test := range map[string]struct{ function, path, want string }{
		"Unknown": {"none", os.Getenv("PATH"),
			`got "none", which is not a function of the run: write one of echo (greeter)`},
		"NoDelve": {"greeter", filepath.Dir(must.Get(exec.LookPath("go"))(t)) + string(os.PathListSeparator) +
			filepath.Dir(must.Get(exec.LookPath("java"))(t)), "go install github.com/go-delve/delve/cmd/dlv@latest"},
	} {
		command := exec.Command(onesynth, "local", "--assembly", folder, "--port", "0", "--console-port", "0",
			"--debug", test.function)
		command.Env = append(os.Environ(), "PATH="+test.path, "GOBIN="+t.TempDir(), "GOPATH="+t.TempDir())
		if output, err := command.CombinedOutput(); err == nil || !strings.Contains(string(output), test.want) {
			t.Errorf("%s: got %v, %s", name, err, output)
		}
	}
}
