package platform

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// CheckAnswers is [CheckAnswersOf] of the platform.
func (s *Suite) CheckAnswers(t *testing.T, headers ...string) {
	t.Helper()
	CheckAnswersOf(t, s.Shared(t).URL+s.Document(), headers...)
}

// CheckAnswersOf checks that an API's answers match its OpenAPI document at the URL: Schemathesis sends requests that
// the document allows, and requests that it does not, with the headers ("Authorization: Bearer …").
// ONESYNTH_TEST_SCHEMATHESIS names the program; without it, the test is skipped.
func CheckAnswersOf(t *testing.T, document string, headers ...string) {
	t.Helper()
	program := os.Getenv("ONESYNTH_TEST_SCHEMATHESIS")
	if program == "" {
		t.Skip("ONESYNTH_TEST_SCHEMATHESIS names no program: run make test-documents")
	}
	folder := filepath.Join(Root(t), "test", "schemathesis")
	command := exec.CommandContext(t.Context(), program, "--config-file",
		filepath.Join(folder, "schemathesis.toml"), "run", document, "--request-timeout", "60")
	for _, header := range headers {
		command.Args = append(command.Args, "--header", header)
	}
	command.Dir = t.TempDir()
	command.Env = append(os.Environ(), "SCHEMATHESIS_HOOKS="+filepath.Join(folder, "hooks.py"),
		"PYTHONDONTWRITEBYTECODE=1")
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
