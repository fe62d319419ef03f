package askahuman

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gruntwork-io/terratest/modules/shell"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/platforms/askahuman"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// The published npm client works unmodified: client/lifecycle.test.mjs says how.
func TestPublishedClient(t *testing.T) {
	t.Parallel()
	runClient(t, suite.Shared(t), nil, npmClient(t)...)
}

// The published client of PyPI works unmodified: client/sdk_test.py says how. It
// needs a Python that has it, which make bin/python/.installed makes.
func TestPublishedPythonClient(t *testing.T) {
	t.Parallel()
	runClient(t, suite.Shared(t), nil, pythonClient(t)...)
}

// The official TypeScript client talks to each tool: test/conformance/tools.mjs says how.
func TestMCPTypeScriptClient(t *testing.T) {
	t.Parallel()
	on := suite.Shared(t)
	running := exec.CommandContext(t.Context(), "node", "tools.mjs")
	running.Dir, running.Env = filepath.Dir(platform.Modules(t, "conformance")),
		append(os.Environ(), "BASE_URL="+on.URL)
	if output, err := running.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// npmClient is the command that runs the tests of the npm client.
func npmClient(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(platform.Root(t), "node_modules", "@ask-a-human", "sdk", "package.json"))
	if err != nil {
		t.Fatalf("%v: run npm ci at the root of the repository", err)
	}
	var published struct{ Version string }
	must.OK(t, json.Unmarshal(content, &published))
	if published.Version != "0.1.0" {
		t.Fatalf("got version %s of the client; want 0.1.0", published.Version)
	}
	return []string{"node", "--test", "lifecycle.test.mjs"}
}

// pythonClient is the command that runs the tests of the client of PyPI.
func pythonClient(t *testing.T) []string {
	t.Helper()
	named := os.Getenv("ONESYNTH_TEST_PYTHON")
	python := cmp.Or(named, filepath.Join(platform.Root(t), "bin", "python", "bin", "python"))
	version, err := exec.CommandContext(t.Context(), python, "-c",
		`import importlib.metadata; print(importlib.metadata.version("ask-a-human"))`).Output()
	switch {
	case err != nil && named != "":
		t.Fatalf("ONESYNTH_TEST_PYTHON: got %s, which has not the package ask-a-human: %v; run make "+
			"bin/python/.installed", python, err)
	case err != nil:
		t.Skipf("%s has not the package ask-a-human: run make bin/python/.installed, or name a Python that has it in "+
			"ONESYNTH_TEST_PYTHON", python)
	}
	if got := strings.TrimSpace(string(version)); got != "0.1.0" {
		t.Fatalf("got version %s of the client; want 0.1.0", got)
	}
	return []string{python, "sdk_test.py"}
}

// keyedClients is more than the tests of a client make of it.
const keyedClients = 30

// runClient runs a published client's tests against the platform. Where agents show
// keys, keyed makes one that has a key; nil: agents are open.
func runClient(t *testing.T, target *platform.Target, keyed func() agent, command ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a published client: go test without -short does")
	}
	makeAgent, environment := keyed, map[string]string{"BASE_URL": target.URL}
	if keyed == nil {
		makeAgent = func() agent { return newAgent(platform.NewClient(t, target)) }
	} else {
		var keys []string
		for range keyedClients {
			keys = append(keys, keyed().key)
		}
		environment["AGENT_KEYS"] = strings.Join(keys, ",")
	}
	full := makeAgent()
	fillQuota(t, target, full)
	// A client cannot make time pass, so it finds a question whose minute is over.
	late := makeAgent()
	asked := late.ask(t, textQuestion(2)).QuestionID
	answer(t, newPerson(platform.NewClient(t, target)), textAnswer(asked))
	expire(t, target, asked)
	environment["QUOTA_AGENT"], environment["EXPIRED_AGENT"], environment["EXPIRED_QUESTION"] =
		full.Header.Get(askahuman.AgentHeader), late.Header.Get(askahuman.AgentHeader), asked
	avoidEndOfHour(t)
	output, err := shell.RunCommandContextAndGetOutputE(t, t.Context(), &shell.Command{
		Command: command[0], Args: command[1:], WorkingDir: "client", Env: environment,
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}
