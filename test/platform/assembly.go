package platform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/gruntwork-io/terratest/modules/shell"
)

// assemblies are synthesised once for all test processes that `go test ./...` runs
// at the same time: the first one that needs an environment makes its assembly, and
// the last one that ends removes them all.
type assemblies struct {
	mutex  sync.Mutex
	folder string
	using  *os.File // locked, shared, while this process uses the folder
}

// of returns the assembly of an environment of cdk.json for this machine's processor.
func (a *assemblies) of(t testing.TB, environment string) (string, error) {
	if folder := os.Getenv("ONESYNTH_TEST_ASSEMBLY"); folder != "" && environment == "dev" {
		return folder, nil
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.folder == "" {
		// The parent of all those processes is one `go test`.
		a.folder = filepath.Join(os.TempDir(), fmt.Sprintf("onesynth-test-%d", os.Getppid()))
	}
	making, err := a.lock()
	if err != nil {
		return "", fmt.Errorf("lock the assemblies of the tests: %w", err)
	}
	defer making.Close()
	if a.using == nil {
		if err := a.use(); err != nil {
			return "", fmt.Errorf("use the assemblies of the tests: %w", err)
		}
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

// lock waits until no other process makes or removes assemblies. Closing the file
// ends that.
func (a *assemblies) lock() (*os.File, error) {
	for {
		if err := os.MkdirAll(a.folder, 0o700); err != nil {
			return nil, err
		}
		file, err := os.OpenFile(filepath.Join(a.folder, "making"), os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, os.ErrNotExist) {
			continue // removed since
		}
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		locked, err := file.Stat()
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if current, err := os.Stat(file.Name()); err == nil && os.SameFile(locked, current) {
			return file, nil
		}
		file.Close() // removed while this process waited
	}
}

// use says that this process needs the folder. What is there that nobody uses was
// left by processes that died, and may be out of date.
func (a *assemblies) use() error {
	file, err := os.OpenFile(filepath.Join(a.folder, "using"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		left, err := os.ReadDir(a.folder)
		if err != nil {
			return errors.Join(err, file.Close())
		}
		for _, entry := range left {
			if entry.IsDir() {
				if err := os.RemoveAll(filepath.Join(a.folder, entry.Name())); err != nil {
					return errors.Join(err, file.Close())
				}
			}
		}
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH); err != nil {
		return errors.Join(err, file.Close())
	}
	a.using = file
	return nil
}

// close removes the folder, unless another process uses it.
func (a *assemblies) close() error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.using == nil {
		return nil
	}
	making, err := a.lock()
	if err != nil {
		return fmt.Errorf("remove the assemblies of the tests: %w", err)
	}
	defer making.Close()
	defer a.using.Close()
	if syscall.Flock(int(a.using.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return nil
	}
	if err := os.RemoveAll(a.folder); err != nil {
		return fmt.Errorf("remove the assemblies of the tests: %w", err)
	}
	return nil
}

// synthesise makes the assembly of an environment, as folder/environment. It appears
// there when it is whole.
func synthesise(t testing.TB, environment, folder string) error {
	app, unfinished := filepath.Join(folder, "cdk-app"), filepath.Join(folder, "unfinished")
	for _, command := range []shell.Command{
		{Command: "go", Args: []string{"build", "-o", app, "."}},
		{Command: app, Args: []string{"-c", "env=" + environment, "-c", "arch=local"}, Env: map[string]string{
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

// Root is the folder of the repository.
func Root(t testing.TB) string {
	t.Helper()
	folder, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return folder
}
