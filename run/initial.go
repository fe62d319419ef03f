package run

// How a run gets the initial data of its platforms.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/onesynth-cdk/onesynth/run/internal/initial"
)

// initialDataFile is the file, in the folder of the run's data, that says which platforms have got their initial data.
const initialDataFile = "initial-data.json"

// LoadInitialData loads the initial data of all platforms of the assembly, as onesynth seed does, one after the other,
// and waits for a load that is under way. Existing items stay as they are. The error names the platforms whose data it
// could not load.
func (r *Runner) LoadInitialData(ctx context.Context) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	var problems []error
	for _, loader := range r.loaders() {
		_, err := loader.Load(ctx, r.invokeLoader, func(int, int) {})
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// without are the loaders whose data the run does not have. The caller holds loading.
func (r *Runner) without() (loaders []initial.Loader, err error) {
	if r.begun == nil {
		if r.begun, err = r.readBegun(); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(r.loaders(), func(l initial.Loader) bool { return slices.Contains(r.begun, l) }), nil
}

// unloaded are the platforms whose initial data is to be loaded.
func (r *Runner) unloaded() (names []string) {
	if !r.options.InitialData {
		return nil
	}
	r.loading.Lock()
	defer r.loading.Unlock()
	loaders, _ := r.without() // a warning says what is wrong
	for _, loader := range loaders {
		if !r.isDebugged(loader.Function) {
			names = append(names, loader.Platform)
		}
	}
	return names
}

// loaders are the functions of the assembly that load initial data.
func (r *Runner) loaders() (found []initial.Loader) {
	for _, stack := range r.design.Load().assembly.Stacks {
		outputs := map[string]string{}
		for name, output := range stack.Outputs {
			outputs[name] = output.Value
		}
		found = append(found, initial.Loaders(stack.Name, outputs)...)
	}
	return found
}

func (r *Runner) invokeLoader(ctx context.Context, function string, event []byte) ([]byte, string, error) {
	result, err := r.functions.Invoke(ctx, function, event)
	return result.Payload, result.FunctionError, err
}

// loadInitialData loads the initial data of platforms that have not got theirs in this run, nor in an earlier one with
// its folder of data, and prints what it has loaded. A platform without its data still runs, so a failure is a warning.
func (r *Runner) loadInitialData(ctx context.Context) {
	if !r.options.InitialData {
		return
	}
	r.loading.Lock()
	defer r.loading.Unlock()
	loaders, err := r.without()
	if err != nil {
		r.log.printf("warning: no initial data: %v", err)
		return
	}
	for _, loader := range loaders {
		if r.isDebugged(loader.Function) {
			r.log.printf("no initial data of %s, since its function is debugged: onesynth seed %s loads it",
				loader.Platform, loader.Platform)
			continue
		}
		if f := r.design.Load().function(loader.Function); f != nil {
			r.log.quiet.Store(&f.Label)
		}
		loaded, err := loader.Load(ctx, r.invokeLoader, func(int, int) {})
		r.log.quiet.Store(nil)
		if err == nil {
			r.log.printf("%-10s %s (stack %s)", "data", loaded, loader.Stack)
			r.begun = append(r.begun, loader)
			err = r.writeBegun()
		}
		if err != nil && ctx.Err() == nil {
			r.log.printf("warning: initial data: %v; onesynth seed %s tries again", err, loader.Platform)
		}
	}
}

// readBegun returns the loaders whose data an earlier run has loaded into the folder.
func (r *Runner) readBegun() (begun []initial.Loader, err error) {
	path := subfolder(r.options.Data, initialDataFile)
	if path == "" {
		return []initial.Loader{}, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return []initial.Loader{}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &begun)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: remove it, and the next run loads the data that is missing", path, err)
	}
	return begun, nil
}

func (r *Runner) writeBegun() error {
	path := subfolder(r.options.Data, initialDataFile)
	if path == "" {
		return nil
	}
	text, err := json.Marshal(r.begun)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	// A run that is killed meanwhile leaves the file as it was.
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", filepath.Clean(path))
}
