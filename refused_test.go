package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mistakenProgram is a CDK app with a mistake that its argument chooses.
const mistakenProgram = `package main

import (
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	shared "github.com/onesynth-cdk/onesynth/constructs/platform"
)

func main() {
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	switch os.Args[1] {
	case "props":
		askahuman.New(awscdk.NewStack(app, jsii.String("ask"), nil), "AskAHuman", askahuman.Props{Props: shared.Props{Prefix: "-", LogLevel: "loud"}})
	case "one":
		askahuman.New(nil, "AskAHuman", askahuman.Props{})
	case "build":
		gofunction.New(awscdk.NewStack(app, jsii.String("own"), nil), "Own", gofunction.Props{Package: "nowhere/own"})
	}
	fmt.Println("New has returned")
}
`

// A mistake in an app ends it with a text and exit status 1.
func TestRefusedProgram(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links an app")
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name, content string) string {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(root, "mistakenprogram", "main.go"): write("main.go", mistakenProgram),
	}})
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "program")
	output(t, exec.Command("go", "build", "-ldflags=-w", "-overlay", write("overlay.json", string(overlay)), "-o", program, "./mistakenprogram"))

	tests := map[string]string{
		"build": "gofunction Own: Source.Directory is \"nowhere\", where there is no folder: name the folder of the handlers' Go module\n",
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
			command := exec.Command(program, name)
			// The CDK warns of Node.js 20 on standard error.
			command.Env = append(os.Environ(), "TMPDIR="+temporary, "CDK_OUTDIR="+filepath.Join(temporary, "cdk.out"), "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20")
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
