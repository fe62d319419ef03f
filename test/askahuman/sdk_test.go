package askahuman

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gruntwork-io/terratest/modules/shell"

	"github.com/onesynth-cdk/onesynth/test/platform"
)

// The published npm client works unmodified: client/lifecycle.test.mjs says how.
func TestPublishedClient(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(platform.Root(t), "node_modules", "@ask-a-human", "sdk", "package.json"))
	if err != nil {
		t.Fatalf("%v: run npm ci at the root of the repository", err)
	}
	var published struct{ Version string }
	if err := json.Unmarshal(content, &published); err != nil {
		t.Fatal(err)
	}
	if published.Version != "0.1.0" {
		t.Fatalf("got version %s of the client; want 0.1.0", published.Version)
	}
	runClient(t, "node", "--test", "lifecycle.test.mjs")
}

// The published client of PyPI works unmodified: client/sdk_test.py says how. It
// needs a Python that has it, which make bin/python makes.
func TestPublishedPythonClient(t *testing.T) {
	t.Parallel()
	python := os.Getenv("ONESYNTH_TEST_PYTHON")
	if python == "" {
		python = filepath.Join(platform.Root(t), "bin", "python", "bin", "python")
	}
	version, err := exec.CommandContext(t.Context(), python, "-c", `import importlib.metadata; print(importlib.metadata.version("ask-a-human"))`).Output()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s has not the package ask-a-human: %v; run make bin/python first", python, err)
		}
		t.Skipf("%s has not the package ask-a-human: run make bin/python, or name one that has it in ONESYNTH_TEST_PYTHON", python)
	}
	if got := strings.TrimSpace(string(version)); got != "0.1.0" {
		t.Fatalf("got version %s of the client; want 0.1.0", got)
	}
	runClient(t, python, "sdk_test.py")
}

// runClient runs a published client's tests against the platform.
func runClient(t *testing.T, command string, arguments ...string) {
	t.Helper()
	target := shared(t)
	full := newClient(t, target).newAgent()
	fillQuota(t, target, full)
	// A client cannot make time pass, so it finds a question whose minute is over.
	late := newClient(t, target).newAgent()
	asked := late.ask(t, textQuestion(2)).QuestionID
	newClient(t, target).newPerson().answer(t, textAnswer(asked))
	target.expire(t, asked)
	avoidEndOfHour(t)
	output, err := shell.RunCommandContextAndGetOutputE(t, t.Context(), &shell.Command{
		Command: command, Args: arguments, WorkingDir: "client",
		Env: map[string]string{"BASE_URL": target.URL, "QUOTA_AGENT": full.id, "EXPIRED_AGENT": late.id, "EXPIRED_QUESTION": asked},
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}
