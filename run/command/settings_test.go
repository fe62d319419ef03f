package command

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run"
	"github.com/onesynth-cdk/onesynth/run/command/target"
)

// invokeBeside runs the command in a folder with a cdk.json.
func invokeBeside(t *testing.T, settings string, arguments ...string) (status int, stdout, stderr string) {
	t.Helper()
	folder := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(folder, "cdk.json"), []byte(settings), 0o600))
	c := exec.CommandContext(t.Context(), command, arguments...)
	c.Dir = folder
	return finish(t, c)
}

func TestSettingsAreRead(t *testing.T) {
	t.Parallel()
	console := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/push" {
			fmt.Fprint(w, `[{"name": "of the folder's run"}]`)
		}
	}))
	t.Cleanup(console.Close)
	port := console.Listener.Addr().(*net.TCPAddr).Port
	content := fmt.Sprintf(`{"context": {"onesynth": {"consolePort": %d}}}`, port)
	if status, stdout, stderr := invokeBeside(t, content, "push"); status != 0 ||
		!strings.Contains(stdout, "of the folder's run") {
		t.Errorf("push: got %d %s%s", status, stdout, stderr)
	}
	if status, _, stderr := invokeBeside(t, content, "push", "--console", "http://127.0.0.1:1"); status != 1 ||
		!strings.Contains(stderr, "nothing runs at http://127.0.0.1:1") {
		t.Errorf("push --console: got %d %s", status, stderr)
	}
	unknown := `{"context": {"onesynth": {"prot": 1}}}`
	for _, command := range []string{"local", "push"} {
		if status, _, stderr := invokeBeside(t, unknown, command); status == 0 ||
			!strings.Contains(stderr, `cdk.json: context.onesynth: got "prot": allowed are `) {
			t.Errorf("%s: got %d %s", command, status, stderr)
		}
	}
	if status, _, stderr := invokeBeside(t, content, "local"); status == 0 ||
		!strings.Contains(stderr, fmt.Sprint("port in use: ", port)) && !strings.Contains(stderr, "cdk synth") {
		t.Errorf("local: got %d %s", status, stderr)
	}
}

// Flags come before what cdk.json says.
func TestFlagsWin(t *testing.T) {
	t.Parallel()
	content := target.Settings{
		Stacks: []string{"Dev/*"}, Port: new(9000), ConsolePort: new(9079), Ports: map[string]int{"ask": 9001},
		AllowUnsupported: []string{"AWS::EKS::Cluster"},
		SSMParameters:    map[string]string{"/a": "content", "/b": "content"},
	}
	flags := localCommand{Stack: []string{"Prod/Ask"}, Port: new(port(0)), ConsolePort: new(port(0)),
		AllowUnsupported: []string{"AWS::MSK::Cluster"}, SSMParameter: map[string]string{"/a": "flag"},
		Bedrock: "http://127.0.0.1:1"}
	got := flags.options(content)
	want := run.Options{Stacks: []string{"Prod/Ask"},
		AllowUnsupported: []string{"AWS::MSK::Cluster", "AWS::EKS::Cluster"},
		SSMParameters:    map[string]string{"/a": "flag", "/b": "content"}, ModelsURL: "http://127.0.0.1:1",
		InitialData: true}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(run.Options{}, "Log")); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	got = (&localCommand{}).options(content)
	want = run.Options{Stacks: content.Stacks, Port: 9000, ConsolePort: 9079, Ports: content.Ports,
		AllowUnsupported: content.AllowUnsupported, SSMParameters: content.SSMParameters, InitialData: true}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(run.Options{}, "Log")); diff != "" {
		t.Errorf("cdk.json (-want +got):\n%s", diff)
	}
	if got := (&localCommand{}).options(target.Settings{}); got.Port != run.PlatformPorts ||
		got.ConsolePort != run.DefaultConsolePort {
		t.Errorf("neither: got %+v", got)
	}
}

// The AWS SDKs' variable names the endpoint of models, unless the flag names another.
func TestBedrockEndpoint(t *testing.T) {
	t.Setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://127.0.0.1:1")
	for want, arguments := range map[string][]string{"http://127.0.0.1:1": nil,
		"http://127.0.0.1:2": {"--bedrock", "http://127.0.0.1:2"}} {
		var c localCommand
		parser := must.Get(kong.New(&c))(t)
		if _, err := parser.Parse(arguments); err != nil || c.options(target.Settings{}).ModelsURL != want {
			t.Errorf("%v: got %q, %v, want %q", arguments, c.Bedrock, err, want)
		}
	}
}
