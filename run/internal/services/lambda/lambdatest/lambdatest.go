// Package lambdatest builds Go functions for tests, the way a function's asset is built for AWS.
package lambdatest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// Build compiles the main package at a path (as go build takes it) into dir/bootstrap for this machine.
// It fails the test with the compiler's output when that does not succeed.
func Build(t testing.TB, packagePath, dir string) {
	t.Helper()
	// Go runs a test again when a file of the module that it has read changes. It does not see what the compiler reads.
	sources, _ := filepath.Glob(filepath.Join(packagePath, "*.go"))
	for _, source := range sources {
		must.Get(os.ReadFile(source))(t)
	}
	command := exec.Command("go", "build", "-tags", "lambda.norpc,timetzdata", "-trimpath", "-buildvcs=false",
		"-ldflags=-s -w", "-o", filepath.Join(dir, "bootstrap"), packagePath)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", packagePath, err, output)
	}
}
