package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
	"github.com/onesynth-cdk/onesynth/test/platform"
)

// A platform that the command has taken over passes all of its tests as it is: operations on a real DynamoDB, its
// template, and its app in a run.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	root := platform.Root(t)
	folder := filepath.Join(t.TempDir(), "tasks")
	run := func(arguments ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), arguments[0], arguments[1:]...)
		command.Env = append(os.Environ(), "GOWORK=off", "CDK_VALIDATION=false")
		if _, err := os.Stat(folder); err == nil {
			command.Dir = folder
		}
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", arguments, err, output)
		}
	}
	run(commandtest.Path(t), "init", "tasks", "--from", "todo", "--onesynth", root, "--dir", folder)
	// As npm ci does.
	must.OK(t, os.Symlink(filepath.Join(root, "node_modules"), filepath.Join(folder, "node_modules")))
	run("go", "test", "-vet=off", "-count=1", "./...")
}
