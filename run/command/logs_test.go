package command

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/console"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// recorded is the console of a run whose functions one and two have logged. invoke makes one more request.
func recorded(t *testing.T) (address string, invoke func(n int, function string)) {
	t.Helper()
	recorder := trace.New(trace.Options{})
	invoke = func(n int, function string) {
		id := fmt.Sprintf("%08d-0000-4000-8000-000000000000", n)
		f := recorder.Invoke(t.Context(), id, "stack-"+function, function, 0)
		recorder.Line("stack-"+function, function, id, fmt.Sprintf(`{"level":"WARN","message":"said %d"}`, n))
		f.End("")
	}
	invoke(1, "one")
	recorder.Line("stack-two", "two", "", "between")
	invoke(2, "two")
	functions := lambda.New(lambda.Options{})
	t.Cleanup(functions.Close)
	// The program is never started.
	code := t.TempDir()
	must.OK(t, os.Symlink(command, filepath.Join(code, "bootstrap")))
	for _, label := range []string{"one", "two"} {
		must.OK(t, functions.Add(lambda.Function{Name: "stack-" + label, Label: label, Code: code}))
	}
	c := console.New(console.Parts{Trace: recorder, Functions: functions})
	server := httptest.NewServer(http.HandlerFunc(c.ServeHTTP))
	t.Cleanup(server.CloseClientConnections)
	return server.URL, invoke
}

func TestLogs(t *testing.T) {
	t.Parallel()
	address, _ := recorded(t)
	for name, test := range map[string]struct {
		arguments []string
		status    int
		want      string // of stdout, without times; or a part of stderr
	}{
		"All": {nil, 0, "invocation one  ok  0 ms  one\n          WARN  said 1\ntwo  between\ninvocation two  " +
			"ok  0 ms  two\n          WARN  said 2\n"},
		"Function": {[]string{"one"}, 0, "invocation one  ok  0 ms  one\n          WARN  said 1\n"},
		"FullName": {[]string{"stack-two"}, 0,
			"two  between\ninvocation two  ok  0 ms  two\n          WARN  said 2\n"},
		"Level": {[]string{"--log-level", "error"}, 0,
			"invocation one  ok  0 ms  one\ninvocation two  ok  0 ms  two\n"},
		"JSONLines": {[]string{"--format", "jsonlines", "two"}, 0,
			"between\n{\"level\":\"WARN\",\"message\":\"said 2\"}\n"},
		"Request": {[]string{"--request", "00000002-0000-4000-8000-000000000000"}, 0,
			"invocation two  ok  0 ms  two\n          WARN  said 2\n"},
		"Unknown":   {[]string{"three"}, 64, `FUNCTION: got "three", allowed are one, two`},
		"NoRequest": {[]string{"--request", "none"}, 1, `no request "none": the run keeps the newest`},
		"Both":      {[]string{"--request", "none", "-f"}, 64, "leave out -f and FUNCTION"},
		"Form":      {[]string{"--format", "xml"}, 64, "text"},
		"NoFollow":  {[]string{"--format", "csv", "-f"}, 64, "written as things happen"},
		"Former":    {[]string{"--log", "json", "two"}, 0, "between\n{\"level\":\"WARN\",\"message\":\"said 2\"}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, stdout, stderr := invoke(t, append([]string{"logs", "--console", address}, test.arguments...)...)
			if status != test.status {
				t.Fatalf("got %d\n%s%s", status, stdout, stderr)
			}
			if status != 0 {
				if !strings.Contains(stderr, test.want) {
					t.Errorf("got %s", stderr)
				}
				return
			}
			var got strings.Builder
			for line := range strings.Lines(stdout) {
				if before, after, ok := strings.Cut(line, "  "); ok && strings.Count(before, ":") == 2 &&
					len(before) == len("12:00:01") {
					line = after
				}
				got.WriteString(duration.ReplaceAllString(line, "0 ms"))
			}
			if got.String() != test.want {
				t.Errorf("got\n%s\nwant\n%s", got.String(), test.want)
			}
		})
	}
	if status, _, stderr := invoke(t, "logs", "--console", "http://127.0.0.1:1"); status != 1 ||
		!strings.Contains(stderr, "start it with onesynth local") {
		t.Errorf("got %d %s", status, stderr)
	}
}

// duration is how long an invocation took, which no test depends on.
var duration = regexp.MustCompile(`\d+ ms`)

// TestLogsFollow goes on with what happens, until the interrupt.
func TestLogsFollow(t *testing.T) {
	t.Parallel()
	address, invoke := recorded(t)
	c := exec.CommandContext(t.Context(), command, "logs", "-f", "--console", address, "one")
	stdout := must.Get(c.StdoutPipe())(t)
	must.OK(t, c.Start())
	lines := bufio.NewScanner(stdout)
	next := func(want string) {
		t.Helper()
		if !lines.Scan() || !strings.HasSuffix(duration.ReplaceAllString(lines.Text(), "0 ms"), want) {
			t.Fatalf("got %q, want %q", lines.Text(), want)
		}
	}
	next("invocation one  ok  0 ms  one")
	next("WARN  said 1")
	for n := 3; n < 6; n++ {
		invoke(n, "two")
		invoke(n+10, "one")
		next("invocation one  ok  0 ms  one")
		next(fmt.Sprint("WARN  said ", n+10))
	}
	must.OK(t, c.Process.Signal(syscall.SIGINT))
	for lines.Scan() {
		t.Errorf("got %q", lines.Text())
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}
