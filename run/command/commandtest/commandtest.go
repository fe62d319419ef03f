// Package commandtest gives tests the command onesynth.
package commandtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// Variable names the environment variable that holds the path of a built command. Linking it takes seconds, so make
// builds it once for the tests of all packages.
const Variable = "ONESYNTH_COMMAND"

// module is the path of the module that the command belongs to.
const module = "github.com/onesynth-cdk/onesynth"

// Lake is the command for SQL, which onesynth looks for beside itself. Building it needs a C compiler.
const Lake = "onesynth-lake"

// Path returns the path of the command: the one that [Variable] names, or else one that it builds for the test, with
// other commands beside it.
func Path(t testing.TB, beside ...string) string {
	t.Helper()
	return must.Get(Find(t.TempDir(), beside...))(t)
}

// Find returns the path of the command that [Variable] names. Without one, it builds the command into the folder, and
// others beside it. The working directory belongs to the module of the command, or to one that requires it.
func Find(folder string, beside ...string) (string, error) {
	if command := os.Getenv(Variable); command != "" {
		if _, err := os.Stat(command); err != nil {
			return "", fmt.Errorf("%s: %w", Variable, err)
		}
		// Tests start it in other folders.
		return filepath.Abs(command)
	}
	listed, err := exec.Command("go", "list", "-m", "-f={{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", module, err)
	}
	arguments := []string{"build", "-o", folder + string(filepath.Separator), "./cmd/onesynth"}
	for _, other := range beside {
		arguments = append(arguments, "./cmd/"+other)
	}
	build := exec.Command("go", arguments...)
	build.Dir = strings.TrimSpace(string(listed))
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building onesynth: %w\n%s", err, output)
	}
	return filepath.Join(folder, "onesynth"), nil
}
