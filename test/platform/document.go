package platform

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// CheckAnswers checks that the API's answers match the platform's OpenAPI document: Schemathesis
// sends requests that the document allows, and requests that it does not, with the headers
// ("Authorization: Bearer …"). ONESYNTH_TEST_SCHEMATHESIS names the program; without it, the test is
// skipped.
func (s *Suite) CheckAnswers(t *testing.T, headers ...string) {
	t.Helper()
	program := os.Getenv("ONESYNTH_TEST_SCHEMATHESIS")
	if program == "" {
		t.Skip("ONESYNTH_TEST_SCHEMATHESIS names no program: run make test-documents")
	}
	folder := filepath.Join(Root(t), "test", "schemathesis")
	arguments := []string{"--config-file", filepath.Join(folder, "schemathesis.toml"), "run",
		s.Shared(t).URL + s.Document(), "--request-timeout", "60"}
	for _, header := range headers {
		arguments = append(arguments, "--header", header)
	}
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Dir = t.TempDir()
	command.Env = append(os.Environ(), "SCHEMATHESIS_HOOKS="+filepath.Join(folder, "hooks.py"),
		"PYTHONDONTWRITEBYTECODE=1")
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
