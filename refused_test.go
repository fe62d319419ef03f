package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkRefused checks that a mistake in an app ends it with a text and exit status 1.
func checkRefused(t *testing.T, program string) {
	tests := map[string]string{
		"build": "gofunction Own: Source.Directory is \"nowhere\", where there is no folder: name the folder of the " +
			"handlers' Go module\n",
		"props": `askahuman AskAHuman: 2 findings:
  Props.Prefix: got "-", allowed is 2 to 32 lower-case letters, digits and hyphens, beginning with a letter and not ending with a hyphen: write something like "aah"
  Props.LogLevel: got "loud", allowed is "debug", "info", "warn" or "error": leave it empty for "info"
`,
		"one": `askahuman AskAHuman: 1 finding:
  scope: got nil, allowed is a construct within a stack: pass the stack
`,
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			temporary := t.TempDir()
			command := exec.Command(program, "mistake", name)
			// The CDK warns of Node.js 20 on standard error.
			command.Env = append(os.Environ(), "TMPDIR="+temporary, "CDK_OUTDIR="+filepath.Join(temporary, "cdk.out"),
				"JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20")
			var printed, said bytes.Buffer
			command.Stdout, command.Stderr = &printed, &said
			var exit *exec.ExitError
			if err := command.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("got %v, want exit status 1", err)
			}
			if printed.Len() > 0 {
				t.Errorf("standard output: got %q, want nothing", &printed)
			}
			if diff := cmp.Diff(want, said.String()); diff != "" {
				t.Errorf("standard error (-want +got):\n%s", diff)
			}
			if left, err := filepath.Glob(filepath.Join(temporary, "jsii-*")); err != nil || len(left) > 0 {
				t.Errorf("the CDK left %v, %v, want that it ended", left, err)
			}
		})
	}
}
