package commandtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
)

// A test runs the command that it is handed, and no other if that is not there.
func TestPath(t *testing.T) {
	t.Chdir(t.TempDir())
	must.OK(t, os.WriteFile("handed", nil, 0o700))
	t.Setenv(commandtest.Variable, "handed")
	if got := commandtest.Path(t); !filepath.IsAbs(got) || filepath.Base(got) != "handed" {
		t.Errorf("got %s, want the absolute path of the command that is handed on", got)
	}
	t.Setenv(commandtest.Variable, "none")
	if got, err := commandtest.Find(t.TempDir()); err == nil {
		t.Errorf("got %s, want an error", got)
	}
}
