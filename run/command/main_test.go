package command

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
	"github.com/onesynth-cdk/onesynth/run/internal/cloud/assembly/assemblytest"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda/lambdatest"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// command is the path of the command.
var command string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "onesynth-command-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	command, err = commandtest.Find(dir, commandtest.Lake)
	status := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		status = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(status)
}

func invoke(t *testing.T, arguments ...string) (status int, stdout, stderr string) {
	t.Helper()
	return finish(t, exec.CommandContext(t.Context(), command, arguments...))
}

// serve serves by a handler until the test ends, and returns the address.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// finish runs a prepared command to its end.
func finish(t *testing.T, c *exec.Cmd) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if _, ok := err.(*exec.ExitError); err != nil && !ok {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

// architecture is that of this machine, as AWS Lambda names it.
var architecture = map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]

// writeAssembly writes an assembly with the template testdata/worker.json and a change merged into it. Its functions
// run the program of the package code.
func writeAssembly(t *testing.T, code, change string) string {
	t.Helper()
	template := must.Get(json.Marshal(assemblytest.Changed(t, "testdata/worker.json", change)))(t)
	dir := assemblytest.Write(t, assemblytest.Anywhere,
		map[string]string{"S": strings.ReplaceAll(string(template), "ARCHITECTURE", architecture)}, "code")
	lambdatest.Build(t, code, filepath.Join(dir, "asset.code"))
	return dir
}

// TestNothingOutlivesTheRun: however the run ends, DynamoDB Local and the functions' processes end with it.
func TestNothingOutlivesTheRun(t *testing.T) {
	t.Parallel()
	for name, signals := range map[string][]syscall.Signal{
		"Interrupt":  {syscall.SIGINT},
		"Terminate":  {syscall.SIGTERM},
		"Impatience": {syscall.SIGINT, syscall.SIGINT, syscall.SIGINT},
		"Kill":       {syscall.SIGKILL},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.CommandContext(context.Background(), command, "local", "--assembly",
				writeAssembly(t, "../../run/internal/services/lambda/testdata/function", "{}"), "--port", "0",
				"--console-port", "0")
			stdout := must.Get(c.StdoutPipe())(t)
			c.Stderr = os.Stderr
			must.OK(t, c.Start())
			t.Cleanup(func() { c.Process.Kill() })
			console := ""
			lines := bufio.NewScanner(stdout)
			for lines.Scan() && !strings.HasPrefix(lines.Text(), "ready") {
				if match := regexp.MustCompile(`^console +(http://\S+)`).FindStringSubmatch(
					lines.Text()); match != nil {
					console = match[1]
				}
			}
			var pids []int
			wait.Until(t, "the run has DynamoDB Local and a function", func() (any, bool) {
				pids = children(t, c.Process.Pid)
				return pids, len(pids) >= 2
			})
			var functions []lambda.Status
			response := must.Get(http.Get(console + "/functions"))(t)
			defer response.Body.Close()
			if err := json.NewDecoder(response.Body).Decode(&functions); err != nil || len(functions) != 1 {
				t.Fatalf("got %+v, %v", functions, err)
			}
			for _, signal := range signals {
				if err := c.Process.Signal(signal); err != nil && err != os.ErrProcessDone {
					t.Fatal(err)
				}
			}
			var said []string
			for lines.Scan() {
				said = append(said, lines.Text())
			}
			err := c.Wait()
			if ended := slices.Contains(said, "ending") && slices.Contains(said, "ended"); len(signals) == 1 &&
				ended != (signals[0] != syscall.SIGKILL) {
				t.Errorf("at its end the run said %q", said)
			}
			if len(signals) == 1 && signals[0] != syscall.SIGKILL && err != nil {
				t.Errorf("ended with %v", err)
			}
			for _, pid := range pids {
				wait.For(t, fmt.Sprintf("process %d is there", pid), false, func() bool { return alive(pid) })
			}
		})
	}
}

// children are the processes that a process started, as ps tells.
func children(t *testing.T, parent int) (pids []int) {
	t.Helper()
	output := must.Get(exec.Command("ps", "-A", "-o", "pid=,ppid=").Output())(t)
	for line := range strings.SplitSeq(string(output), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[1] == strconv.Itoa(parent) {
			pid := must.Get(strconv.Atoi(fields[0]))(t)
			pids = append(pids, pid)
		}
	}
	return pids
}

func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	output, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(output)), "Z")
}
