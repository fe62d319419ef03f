package target

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSettings(t *testing.T) {
	t.Parallel()
	port, console := 9000, 0
	for name, test := range map[string]struct {
		text    string
		want    Settings
		problem []string
	}{
		"All": {
			text: `{"app": "go run .", "context": {"other": 1, "onesynth": {"stacks": ["Dev/*"], "port": 9000, "consolePort": 0, "ports": {"Dev/Ask": 9001},
			"allowUnsupported": ["AWS::EKS::Cluster"], "ssmParameters": {"/company/vpc": "vpc-1"}, "environment": {"api": {"KEY": "test"}}}}}`,
			want: Settings{Stacks: []string{"Dev/*"}, Port: &port, ConsolePort: &console,
				Ports:            map[string]int{"Dev/Ask": 9001},
				AllowUnsupported: []string{"AWS::EKS::Cluster"},
				SSMParameters:    map[string]string{"/company/vpc": "vpc-1"},
				Environment:      map[string]map[string]string{"api": {"KEY": "test"}}}},
		"Empty":     {text: `{"context": {"onesynth": {}}}`},
		"NoContext": {text: `{"app": "go run ."}`},
		"NoKey":     {text: `{"context": {}}`},
		"NoJSON":    {text: `{`, problem: []string{"got no JSON object"}},
		"NoObject": {text: `{"context": {"onesynth": ["AWS::EKS::Cluster"]}}`,
			problem: []string{
				`context.onesynth: got ["AWS::EKS::Cluster"]: write an object with any of allowUnsupported, consolePort, environment, port, ports, ssmParameters, stacks`}},
		"Null": {text: `{"context": {"onesynth": null}}`, problem: []string{"context.onesynth: got null"}},
		"Unknown": {text: `{"context": {"onesynth": {"prot": 1, "allow-unsupported": []}}}`,
			problem: []string{
				`context.onesynth: got "prot": allowed are allowUnsupported, consolePort, environment, port, ports, ssmParameters, stacks; remove or rename it`,
				`got "allow-unsupported"`}},
		"OtherType": {text: `{"context": {"onesynth": {"port": "9000", "stacks": "Dev"}}}`,
			problem: []string{`context.onesynth.port: got "9000": write a port from 0 to 65535`,
				`context.onesynth.stacks: got "Dev": write a list of stacks`}},
		"NullMember": {text: `{"context": {"onesynth": {"ports": null}}}`,
			problem: []string{"context.onesynth.ports: got null"}},
		"NoPort": {text: `{"context": {"onesynth": {"port": 65536, "consolePort": -1, "ports": {"ask": -1}}}}`,
			problem: []string{"context.onesynth.port: got 65536", "context.onesynth.consolePort: got -1",
				"context.onesynth.ports.ask: got -1"}},
		"StacksByName": {text: `{"context": {"onesynth": {"port": -1}}}`, want: Settings{Port: new(-1)}},
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
	for _, seed := range []string{`{"context": {"onesynth": {"port": 1}}}`, `{"context": null}`, `null`,
		`{"context": {"onesynth": {"ports": {"a": 1e9}}}}`, `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if read, err := parseSettings(text); err == nil && read.Port != nil && (*read.Port < -1 || *read.Port > 65535) {
			t.Errorf("got port %d", *read.Port)
		}
	})
}

// TestAdvise: a Region that is misspelt has no address.
func TestAdvise(t *testing.T) {
	t.Parallel()
	cause := &net.OpError{Op: "dial", Err: &net.DNSError{Name: "cloudformation.eu-nowhere-1.amazonaws.com",
		IsNotFound: true}}
	if got := Advise(cause, "eu-nowhere-1", "permissions"); !errors.Is(got, cause) ||
		!strings.HasPrefix(got.Error(), "got no address for AWS in eu-nowhere-1: set AWS_REGION") {
		t.Errorf("got %v", got)
	}
	if got := Advise(io.EOF, "eu-west-1", "permissions"); got != io.EOF {
		t.Errorf("got %v", got)
	}
}
