package onesynthtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/internal/document"
)

// Assembly returns the folder of the app's assembly. The first test that asks builds and runs
// the app; the others wait for it.
func (s *Suite) Assembly(t testing.TB) string {
	t.Helper()
	return must.Get(s.assembly(t.Context()))(t)
}

// Document returns the OpenAPI document of the only API of the Stack that has one, as the synth has written it.
func (s *Suite) Document(t testing.TB) []byte {
	t.Helper()
	options := document.Options{Assembly: s.Assembly(t)}
	if s.Stack != "" {
		options.Stacks = []string{s.Stack}
	}
	read := must.Get(document.Read(options))(t)
	return read.Content
}

func (s *Suite) assembly(ctx context.Context) (string, error) {
	if s.Synthesised != "" {
		if _, err := os.Stat(s.Synthesised); err != nil {
			return "", fmt.Errorf("look for the assembly that is synthesised already: %w", err)
		}
		return s.Synthesised, nil
	}
	// Go runs a test again when a variable that it has read changes. It does not see what a synth reads.
	_, _ = os.Getenv("ONESYNTH_SOURCES"), os.Getenv("ONESYNTH_TOOLS")
	s.synth.Lock()
	defer s.synth.Unlock()
	if s.folder == "" {
		folder, err := os.MkdirTemp("", "onesynth-test-")
		if err != nil {
			return "", err
		}
		s.folder = folder
	}
	made := filepath.Join(s.folder, "cdk.out")
	if _, err := os.Stat(made); err == nil {
		return made, nil
	}
	app, unfinished := filepath.Join(s.folder, "cdk-app"), filepath.Join(s.folder, "unfinished")
	for _, command := range []*exec.Cmd{
		// Debug information takes a third of the linker's time.
		exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-w", "-o", app, "."),
		exec.CommandContext(ctx, app, s.Arguments...),
	} {
		command.Dir = s.App
		command.Env = append(os.Environ(), "CDK_OUTDIR="+unfinished, "CDK_VALIDATION=false",
			"JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20")
		if output, err := command.CombinedOutput(); err != nil {
			return "", fmt.Errorf("synthesise the app in %q: %s: %w\n%s", s.App, command, err, bytes.TrimSpace(output))
		}
	}
	// It appears there when it is whole.
	if err := os.Rename(unfinished, made); err != nil {
		return "", fmt.Errorf("synthesise the app in %q: it writes no assembly to CDK_OUTDIR: %w", s.App, err)
	}
	return made, nil
}
