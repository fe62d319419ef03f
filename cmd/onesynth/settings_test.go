package main

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

	"github.com/onesynth-cdk/onesynth/local"
)

func TestParseSettings(t *testing.T) {
	t.Parallel()
	port, console := 9000, 0
	for name, test := range map[string]struct {
		text    string
		want    settings
		problem []string
	}{
		"All": {text: `{"app": "go run .", "context": {"other": 1, "onesynth": {"stacks": ["Dev/*"], "port": 9000, "consolePort": 0, "ports": {"Dev/Ask": 9001},
			"allowUnsupported": ["AWS::EKS::Cluster"], "ssmParameters": {"/company/vpc": "vpc-1"}}}}`,
			want: settings{Stacks: []string{"Dev/*"}, Port: &port, ConsolePort: &console, Ports: map[string]int{"Dev/Ask": 9001},
				AllowUnsupported: []string{"AWS::EKS::Cluster"}, SSMParameters: map[string]string{"/company/vpc": "vpc-1"}}},
		"Empty":        {text: `{"context": {"onesynth": {}}}`},
		"NoContext":    {text: `{"app": "go run ."}`},
		"NoKey":        {text: `{"context": {}}`},
		"NoJSON":       {text: `{`, problem: []string{"got no JSON object"}},
		"NoObject":     {text: `{"context": {"onesynth": ["AWS::EKS::Cluster"]}}`, problem: []string{`context.onesynth: got ["AWS::EKS::Cluster"]: write an object with any of allowUnsupported, consolePort, port, ports, ssmParameters, stacks`}},
		"Null":         {text: `{"context": {"onesynth": null}}`, problem: []string{"context.onesynth: got null"}},
		"Unknown":      {text: `{"context": {"onesynth": {"prot": 1, "allow-unsupported": []}}}`, problem: []string{`context.onesynth: got "prot": allowed are allowUnsupported, consolePort, port, ports, ssmParameters, stacks; remove or rename it`, `got "allow-unsupported"`}},
		"OtherType":    {text: `{"context": {"onesynth": {"port": "9000", "stacks": "Dev"}}}`, problem: []string{`context.onesynth.port: got "9000": write a port from 0 to 65535`, `context.onesynth.stacks: got "Dev": write a list of stacks`}},
		"NullMember":   {text: `{"context": {"onesynth": {"ports": null}}}`, problem: []string{"context.onesynth.ports: got null"}},
		"NoPort":       {text: `{"context": {"onesynth": {"port": 65536, "consolePort": -1, "ports": {"ask": -1}}}}`, problem: []string{"context.onesynth.port: got 65536", "context.onesynth.consolePort: got -1", "context.onesynth.ports.ask: got -1"}},
		"StacksByName": {text: `{"context": {"onesynth": {"port": -1}}}`, want: settings{Port: new(-1)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseSettings([]byte(test.text))
			if len(test.problem) > 0 {
				for _, want := range test.problem {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("got %v, want %q", err, want)
					}
				}
				return
			}
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func FuzzParseSettings(f *testing.F) {
	for _, seed := range []string{`{"context": {"onesynth": {"port": 1}}}`, `{"context": null}`, `null`, `{"context": {"onesynth": {"ports": {"a": 1e9}}}}`, `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if read, err := parseSettings(text); err == nil && read.Port != nil && (*read.Port < -1 || *read.Port > 65535) {
			t.Errorf("got port %d", *read.Port)
		}
	})
}

// invokeBeside runs the command in a folder with a cdk.json.
func invokeBeside(t *testing.T, settings string, arguments ...string) (status int, stdout, stderr string) {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "cdk.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
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
	if status, stdout, stderr := invokeBeside(t, content, "push"); status != 0 || !strings.Contains(stdout, "of the folder's run") {
		t.Errorf("push: got %d %s%s", status, stdout, stderr)
	}
	if status, _, stderr := invokeBeside(t, content, "push", "--console", "http://127.0.0.1:1"); status != 1 || !strings.Contains(stderr, "nothing runs at http://127.0.0.1:1") {
		t.Errorf("push --console: got %d %s", status, stderr)
	}
	unknown := `{"context": {"onesynth": {"prot": 1}}}`
	for _, command := range []string{"local", "push"} {
		if status, _, stderr := invokeBeside(t, unknown, command); status == 0 || !strings.Contains(stderr, `cdk.json: context.onesynth: got "prot": allowed are `) {
			t.Errorf("%s: got %d %s", command, status, stderr)
		}
	}
	if status, _, stderr := invokeBeside(t, content, "local"); status == 0 || !strings.Contains(stderr, fmt.Sprint("port in use: ", port)) && !strings.Contains(stderr, "cdk synth") {
		t.Errorf("local: got %d %s", status, stderr)
	}
}

// Flags come before what cdk.json says.
func TestFlagsWin(t *testing.T) {
	t.Parallel()
	content := settings{
		Stacks: []string{"Dev/*"}, Port: new(9000), ConsolePort: new(9079), Ports: map[string]int{"ask": 9001}, AllowUnsupported: []string{"AWS::EKS::Cluster"},
		SSMParameters: map[string]string{"/a": "content", "/b": "content"},
	}
	flags := localCommand{Stack: []string{"Prod/Ask"}, Port: new(0), ConsolePort: new(0), AllowUnsupported: []string{"AWS::MSK::Cluster"}, SSMParameter: map[string]string{"/a": "flag"}, Bedrock: "http://127.0.0.1:1"}
	got := flags.options(content)
	want := local.Options{Stacks: []string{"Prod/Ask"}, AllowUnsupported: []string{"AWS::MSK::Cluster", "AWS::EKS::Cluster"}, SSMParameters: map[string]string{"/a": "flag", "/b": "content"}, ModelsURL: "http://127.0.0.1:1", InitialData: true}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(local.Options{}, "Log", "CheckLake", "QueryLake")); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	got = (&localCommand{}).options(content)
	want = local.Options{Stacks: content.Stacks, Port: 9000, ConsolePort: 9079, Ports: content.Ports, AllowUnsupported: content.AllowUnsupported, SSMParameters: content.SSMParameters, InitialData: true}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(local.Options{}, "Log", "CheckLake", "QueryLake")); diff != "" {
		t.Errorf("cdk.json (-want +got):\n%s", diff)
	}
	if got := (&localCommand{}).options(settings{}); got.Port != local.PlatformPorts || got.ConsolePort != local.DefaultConsolePort {
		t.Errorf("neither: got %+v", got)
	}
}

// The AWS SDKs' variable names the endpoint of models, unless the flag names another.
func TestBedrockEndpoint(t *testing.T) {
	t.Setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://127.0.0.1:1")
	for want, arguments := range map[string][]string{"http://127.0.0.1:1": nil, "http://127.0.0.1:2": {"--bedrock", "http://127.0.0.1:2"}} {
		var c localCommand
		parser, err := kong.New(&c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(arguments); err != nil || c.options(settings{}).ModelsURL != want {
			t.Errorf("%v: got %q, %v, want %q", arguments, c.Bedrock, err, want)
		}
	}
}
