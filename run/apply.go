package run

// How another assembly takes the place of the one that runs.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
)

// Applied lists what a new assembly has changed in a run.
type Applied struct {
	// Added, Replaced and Removed name functions, as people call them.
	Added, Replaced, Removed []string
	// Tables are lines about altered tables.
	Tables []string
}

// String returns the changes for people, such as "replaced linksapi; table links: adds index ByOwner to 3 items".
func (a Applied) String() string {
	var parts []string
	for _, of := range []struct {
		what  string
		names []string
	}{{"added", a.Added}, {"replaced", a.Replaced}, {"removed", a.Removed}} {
		if len(of.names) > 0 {
			parts = append(parts, of.what+" "+strings.Join(of.names, ", "))
		}
	}
	parts = append(parts, a.Tables...)
	if len(parts) == 0 {
		return "no function and no table has changed"
	}
	return strings.Join(parts, "; ")
}

// Apply gives the run another assembly, such as the next synth of the app. Routes, authorizers, roles, functions,
// schedules, rules, streams and tables become as it declares them. Under the same names, these stay: items of tables
// and places in their streams, objects, messages, generated secrets, figures of functions, ports and tokens. A function
// with the same code and properties goes on. The run answers requests all the time, by the former design or by the next
// one; those to DynamoDB wait while tables change.
//
// An assembly that cannot be applied changes nothing: Apply returns the errors of [Start]. If only the new code of
// functions ends at its start, Apply applies all else, and returns what that code printed.
func (r *Runner) Apply(ctx context.Context, folder string) (Applied, error) {
	r.changing.Lock()
	defer r.changing.Unlock()
	r.applied++
	former := r.design.Load()
	var applied Applied
	var telling sync.Mutex
	progress := func(line string) {
		telling.Lock()
		defer telling.Unlock()
		applied.Tables = append(applied.Tables, line)
	}
	next, ready, err := r.readNext(ctx, folder, former)
	if err == nil {
		// From here on the run changes: first by what the former code does not notice.
		err = r.aws.DynamoDB.WithoutRequests(func() error { return next.databases.CreateTables(ctx, progress) })
	}
	if err != nil {
		r.closeOpened(next)
		return Applied{}, err
	}
	ready()
	problems := []error{r.changeFunctions(ctx, former, next, &applied)}
	next.users.Keep(former.users)
	r.registerSchedules(next)
	problems = append(problems, r.schedules.Change(next.schedules))
	r.design.Store(next)
	problems = append(problems, r.deliver(next, former.mappings))
	r.replaceHandlers(next)
	r.replaceConsole(next)
	r.removeFunctions(former, next, &applied)
	problems = append(problems, r.aws.DynamoDB.WithoutRequests(func() error {
		return next.databases.RemoveIndexes(ctx, progress)
	}))
	r.loadInitialData(ctx)
	r.removeCode(former, next)
	return applied, errors.Join(problems...)
}

// readNext reads another assembly as far as it can be read without a change of the run. What it returns makes the AWS
// endpoint and the buckets serve it.
func (r *Runner) readNext(ctx context.Context, folder string, former *design) (next *design, ready func(), err error) {
	code := filepath.Join(r.folder, "applied", strconv.Itoa(r.applied))
	if next, err = r.readAssembly(ctx, folder, code); err != nil {
		return next, nil, err
	}
	if err := r.keepUnchanged(former, next); err != nil {
		return next, nil, err
	}
	if err := r.readCallers(next); err != nil {
		return next, nil, err
	}
	if err := r.openDatabases(next, former.databases); err != nil {
		return next, nil, err
	}
	if err := r.readMappings(next); err != nil {
		return next, nil, err
	}
	if err := next.databases.Check(ctx); err != nil {
		return next, nil, err
	}
	serve, err := r.aws.Prepare(next.assembly, next.databases.AccessKeys())
	if err != nil {
		return next, nil, err
	}
	keep, err := r.buckets.Prepare(next.assembly)
	if err != nil {
		return next, nil, err
	}
	return next, func() { serve(); keep() }, nil
}

// closeOpened closes the ports that were opened for an assembly that is not applied.
func (r *Runner) closeOpened(d *design) {
	for _, name := range d.opened {
		_ = r.ports.apis[name].Close()
		delete(r.ports.apis, name)
	}
}

// keepUnchanged gives functions that are as they were their definitions, so that their instances go on.
func (r *Runner) keepUnchanged(former, next *design) error {
	if _, err := former.hashes(); err != nil {
		return err
	}
	if _, err := next.hashes(); err != nil {
		return err
	}
	for i := range next.functions {
		f := &next.functions[i]
		was := former.function(f.Name)
		if was == nil || former.code[f.Name] != next.code[f.Name] {
			continue
		}
		same := f.Function
		same.Code, same.AccessKeyID, same.Debugger = was.Code, was.AccessKeyID, was.Debugger
		if reflect.DeepEqual(same, was.Function) {
			f.Function = was.Function
		}
	}
	return nil
}

// hashes has the SHA-256 of each function's program. Changing is held.
func (d *design) hashes() (_ map[string]string, err error) {
	if d.code == nil {
		d.code, err = hashesOf(d.functions)
	}
	return d.code, err
}

// running has the SHA-256 of each function's program, as it runs, except for a program that cannot be read.
func (r *Runner) running() map[string]string {
	r.changing.Lock()
	defer r.changing.Unlock()
	known, err := r.design.Load().hashes()
	if err != nil {
		r.log.printf("watch: %v", err)
	}
	return known
}

// replace puts other code, with its SHA-256, into the place of a function's, and returns when it takes requests.
func (r *Runner) replace(ctx context.Context, name, code, hash string) error {
	f := r.design.Load().function(name)
	if f == nil {
		return fmt.Errorf("replace code: %w: %s", lambda.ErrNotFound, name)
	}
	definition := f.Function
	definition.Code, definition.Architecture = code, ""
	started := definition
	// The code may be for routes of the next assembly.
	started.Routes = nil
	if err := r.functions.Replace(ctx, started); err != nil {
		return err
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	next := *r.design.Load()
	known, err := next.hashes()
	if err != nil {
		return err
	}
	next.functions, next.code = slices.Clone(next.functions), maps.Clone(known)
	if f := next.function(name); f != nil {
		f.Function, next.code[name] = definition, hash
	}
	r.design.Store(&next)
	return nil
}

// hashesOf are the SHA-256 of the functions' programs, by the functions' names.
func hashesOf(functions []lambda.Declared) (map[string]string, error) {
	sums := map[string]string{}
	for _, f := range functions {
		file, err := os.Open(filepath.Join(f.Code, "bootstrap"))
		if err != nil {
			return nil, fmt.Errorf("function %s: %w", f.Name, err)
		}
		hash := sha256.New()
		_, err = io.Copy(hash, file)
		_ = file.Close()
		if err != nil {
			return nil, fmt.Errorf("function %s: %w", f.Name, err)
		}
		sums[f.Name] = hex.EncodeToString(hash.Sum(nil))
	}
	return sums, nil
}

// function is the function of a name, or nil.
func (d *design) function(name string) *lambda.Declared {
	if at := slices.IndexFunc(d.functions, func(f lambda.Declared) bool { return f.Name == name }); at >= 0 {
		return &d.functions[at]
	}
	return nil
}

// changeFunctions adds new functions, replaces those that are not as they were, and gives the others their roles.
func (r *Runner) changeFunctions(ctx context.Context, former, next *design, applied *Applied) error {
	var working sync.WaitGroup
	problems := make([]error, len(next.functions))
	for i, f := range next.functions {
		r.register(f, next)
		was := former.function(f.Name)
		switch {
		case was == nil:
			if problems[i] = r.functions.Add(f.Function); problems[i] == nil {
				problems[i] = r.functions.Warm(f.Name)
				applied.Added = append(applied.Added, f.Label)
			}
		case was.AccessKeyID != f.AccessKeyID:
			working.Go(func() { problems[i] = r.functions.Replace(ctx, f.Function) })
		}
	}
	working.Wait()
	for i, f := range next.functions {
		was := former.function(f.Name)
		switch {
		case was == nil || was.AccessKeyID == f.AccessKeyID:
		case problems[i] == nil:
			applied.Replaced = append(applied.Replaced, f.Label)
		default:
			// The former code goes on, so the next assembly has to replace it.
			next.functions[i].Code, next.code[f.Name] = was.Code, ""
		}
	}
	return errors.Join(problems...)
}

// removeCode removes the code of earlier assemblies that no function has any more. Processes do not need their files.
func (r *Runner) removeCode(former, next *design) {
	needed := map[string]bool{}
	for _, f := range append(slices.Clone(former.functions), next.functions...) {
		needed[f.Code] = true
	}
	folders, err := filepath.Glob(filepath.Join(r.folder, "applied", "*", "*"))
	if err != nil {
		return
	}
	for _, folder := range folders {
		if !needed[folder] {
			_ = os.RemoveAll(folder)
		}
	}
}

func (r *Runner) removeFunctions(former, next *design, applied *Applied) {
	for _, f := range former.functions {
		if next.function(f.Name) == nil && r.functions.Remove(f.Name) == nil {
			applied.Removed = append(applied.Removed, f.Label)
		}
	}
}
