package local

// How one function of a run is debugged.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/onesynth-cdk/onesynth/local/lambda"
)

// ErrNoDelve says that the debugger was not found.
var ErrNoDelve = errors.New("delve not found: go install github.com/go-delve/delve/cmd/dlv@latest")

func (r *Runner) isDebugged(function string) bool { return r.debugged != "" && function == r.debugged }

func (r *Runner) debugPort() int { return cmp.Or(r.options.DebugPort, DefaultDebugPort) }

// debug gives the function that is to be debugged a debugger, and code for it. Without such a function it does nothing.
func (r *Runner) debug(ctx context.Context, functions []lambda.Declared) error {
	if r.options.Debug == "" {
		return nil
	}
	f, err := chooseDebugged(functions, r.options.Debug)
	if err != nil {
		return err
	}
	delve, err := findDelve(ctx)
	if err != nil {
		return err
	}
	// Delve would say so in a line among others, and the function would never start.
	if r.debugged == "" {
		listener, err := listen(r.debugPort())
		if err != nil {
			return fmt.Errorf("debugger: %w: stop what uses it, or choose another with --debug-port", err)
		}
		_ = listener.Close()
	}
	folder := filepath.Join(r.folder, "debug", strconv.Itoa(r.applied))
	places, err := lambda.OpenWorkplaces(ctx, []lambda.Declared{*f}, r.searched(), folder)
	if err != nil {
		return fmt.Errorf("debug %s: %w", f.Label, err)
	}
	if len(places) == 0 {
		return fmt.Errorf("debug %s: the template does not say how it is built: a run debugs functions that gofunction has built", f.Label)
	}
	shown := f.Label
	r.log.printf("building %s with debug information", shown)
	recipe := places[0].Packages[f.Name]
	if err := places[0].BuildForDebugger(ctx, recipe, folder); err != nil {
		return fmt.Errorf("debug %s: %w", shown, err)
	}
	f.Code, f.Architecture = folder, ""
	f.Debugger = []string{
		delve, "exec", "--headless", "--accept-multiclient", "--continue", "--api-version=2", "--check-go-version=false",
		"--listen=127.0.0.1:" + strconv.Itoa(r.debugPort()),
	}
	r.debugged = f.Name
	return nil
}

// chooseDebugged finds the function that a person means.
func chooseDebugged(functions []lambda.Declared, wanted string) (*lambda.Declared, error) {
	var all []string
	for i := range functions {
		f := &functions[i]
		if f.Name == wanted || f.Label == wanted {
			return f, nil
		}
		one := f.Name
		if f.Label != f.Name {
			one = f.Label + " (" + f.Name + ")"
		}
		all = append(all, one)
	}
	slices.Sort(all)
	return nil, fmt.Errorf("debug: got %q, which is no function of the run: write one of %s", wanted, strings.Join(all, ", "))
}

// findDelve finds delve on the PATH, or where "go install" puts it.
func findDelve(ctx context.Context) (string, error) {
	if path, err := exec.LookPath("dlv"); err == nil {
		return filepath.Abs(path)
	}
	text, err := exec.CommandContext(ctx, "go", "env", "GOBIN", "GOPATH").Output()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoDelve, err)
	}
	bin, folders, _ := strings.Cut(strings.TrimRight(string(text), "\n"), "\n")
	candidates := []string{bin}
	for _, folder := range filepath.SplitList(folders) {
		candidates = append(candidates, filepath.Join(folder, "bin"))
	}
	for _, folder := range candidates {
		if folder == "" {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(folder, "dlv")); err == nil {
			return path, nil
		}
	}
	return "", ErrNoDelve
}
