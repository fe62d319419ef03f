package platform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/gruntwork-io/terratest/modules/shell"
)

// assemblies are synthesised by the first test that needs them, unless
// ONESYNTH_TEST_ASSEMBLIES has them.
type assemblies struct {
	mutex  sync.Mutex
	folder string
}

// of returns the assembly of an environment of cdk.json for this machine's processor.
func (a *assemblies) of(t testing.TB, environment string) (string, error) {
	if folder := os.Getenv("ONESYNTH_TEST_ASSEMBLIES"); folder != "" {
		made := filepath.Join(folder, environment)
		if _, err := os.Stat(made); err != nil {
			return "", fmt.Errorf("ONESYNTH_TEST_ASSEMBLIES names a folder without the assembly of %s: %w", environment, err)
		}
		return made, nil
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if err := a.ensure(); err != nil {
		return "", err
	}
	made := filepath.Join(a.folder, environment)
	if _, err := os.Stat(made); !errors.Is(err, os.ErrNotExist) {
		return made, err
	}
	if err := synthesise(t, environment, a.folder); err != nil {
		return "", fmt.Errorf("synthesise %s: %w", environment, err)
	}
	return made, nil
}

// scratch is a folder that is there until the tests have ended.
func (a *assemblies) scratch() (string, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	err := a.ensure()
	return a.folder, err
}

func (a *assemblies) ensure() (err error) {
	if a.folder == "" {
		a.folder, err = os.MkdirTemp("", "onesynth-test-")
	}
	return err
}

// close removes what was synthesised.
func (a *assemblies) close() error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.folder == "" {
		return nil
	}
	return os.RemoveAll(a.folder)
}

// synthesise makes the assembly of an environment, as folder/environment. It appears
// there when it is whole.
func synthesise(t testing.TB, environment, folder string) error {
	app, unfinished := filepath.Join(folder, "cdk-app"), filepath.Join(folder, "unfinished")
	for _, command := range []shell.Command{
		{Command: "go", Args: []string{"build", "-o", app, "."}},
		{Command: app, Args: []string{"-c", "env=" + environment, "-c", "arch=" + ownArchitecture()}, Env: map[string]string{
			"CDK_OUTDIR": unfinished, "CDK_VALIDATION": "false", "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20",
		}},
	} {
		command.WorkingDir = Root(t)
		if _, err := shell.RunCommandContextAndGetOutputE(t, context.Background(), &command); err != nil {
			return fmt.Errorf("%s: %w", command.Command, err)
		}
	}
	return os.Rename(unfinished, filepath.Join(folder, environment))
}

// ownArchitecture is what this machine can run without building it once more, unless
// its system is another.
func ownArchitecture() string {
	if runtime.GOARCH == "amd64" {
		return "x86_64"
	}
	return "arm64"
}

// Root is the folder of the repository.
func Root(t testing.TB) string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return folder
}
