package dev

// How one function of a run is debugged.

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
)

// ErrNoDelve says that the debugger was not found.
var ErrNoDelve = errors.New("delve not found: go install github.com/go-delve/delve/cmd/dlv@latest")

// Debugger says which function is debugged, and how.
type Debugger struct {
	// Function is the function's name or label.
	Function string
	// Port is the port on which delve listens.
	Port int
	// Folder gets the function's code.
	Folder string
	// Modules are the folders whose Go modules may require that of the function.
	Modules []string
	// Log prints.
	Log func(text string)
}

// Attach gives the function a debugger, and code for it, and returns its name. Errors: [ErrNoDelve], and those of a
// build.
func (d Debugger) Attach(ctx context.Context, functions []lambda.Declared) (name string, err error) {
	f, err := Find(functions, d.Function)
	if err != nil {
		return "", fmt.Errorf("debug: %w", err)
	}
	delve, err := findDelve(ctx)
	if err != nil {
		return "", err
	}
	builders, err := lambda.OpenBuilders(ctx, []lambda.Declared{*f}, d.Modules, d.Folder)
	if err != nil {
		return "", fmt.Errorf("debug %s: %w", f.Label, err)
	}
	if len(builders) == 0 {
		return "", fmt.Errorf("debug %s: the template does not say how it is built: a run debugs functions that "+
			"gofunction has built", f.Label)
	}
	d.Log("building " + f.Label + " with debug information")
	source, err := builders[0].Snapshot(filepath.Join(d.Folder, "source"))
	if err != nil {
		return "", fmt.Errorf("debug %s: %w", f.Label, err)
	}
	if err := builders[0].BuildForDebugger(ctx, builders[0].Packages[f.Name], d.Folder, source); err != nil {
		return "", fmt.Errorf("debug %s: %w", f.Label, err)
	}
	f.Code, f.Architecture = d.Folder, ""
	f.Debugger = []string{
		delve, "exec", "--headless", "--accept-multiclient", "--continue", "--api-version=2",
		"--check-go-version=false",
		"--listen=127.0.0.1:" + strconv.Itoa(d.Port),
	}
	return f.Name, nil
}

// Find returns the function that a person means: by its name, or by the last part of its package.
func Find(functions []lambda.Declared, wanted string) (*lambda.Declared, error) {
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
	return nil, fmt.Errorf("got %q, which is not a function of the run: write one of %s", wanted,
		strings.Join(all, ", "))
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
