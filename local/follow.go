package local

// How a run follows its source: what is saved is built, and replaces what runs.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/gobuild"
	"github.com/onesynth-cdk/onesynth/local/engine"
	"github.com/onesynth-cdk/onesynth/local/lambda"
	"github.com/onesynth-cdk/onesynth/local/trace"
	"github.com/onesynth-cdk/onesynth/local/watch"
)

// errOvertaken ends a build that newer files have made useless.
var errOvertaken = errors.New("newer files were saved")

const (
	// namedFiles is the most files that a line names.
	namedFiles = 3
	// atOnce is the most functions that are built together, when the one that was asked last need not come first.
	atOnce = 2
)

// follower keeps a run up to date with its source. One goroutine uses it.
type follower struct {
	*Runner
	watcher *watch.Watcher
	places  []*lambda.Workplace
	folder  string
	// builds counts the builds; each has a folder of its own.
	builds int
	// pending is what saved files make necessary, failed what the last build did not achieve.
	pending, failed watch.Change
	// overtaken says that the last build was broken off. The next one is not, or saves in a row would keep all from ending.
	overtaken bool
	// app is the target of the app; nil if nothing tells how to synthesise.
	app *watch.Target
	// said is why the last assembly was not applied.
	said string
	// code are the folders of each function's code that this follower has built, the newest last.
	code map[string][]string
}

// follow begins to watch the source.
func (r *Runner) follow(ctx context.Context) error {
	f := &follower{Runner: r, folder: filepath.Join(r.folder, "watch"), code: map[string][]string{}}
	if err := os.MkdirAll(f.folder, 0o700); err != nil {
		return fmt.Errorf("follow the source: %w", err)
	}
	var err error
	if f.places, err = lambda.OpenWorkplaces(ctx, r.design.Load().functions, r.searched(), f.folder); err != nil {
		return fmt.Errorf("follow the source: %w", err)
	}
	command, err := r.appCommand()
	switch {
	case errors.Is(err, errNoApp):
		r.log.printf("watch: %v", err)
	case err != nil:
		return fmt.Errorf("follow the source: %w", err)
	default:
		target, err := r.appTarget(command)
		if err != nil {
			return err
		}
		f.app = &target
	}
	if f.watcher, err = watch.New(ctx, f.targets(), 0); err != nil {
		return fmt.Errorf("follow the source: %w", err)
	}
	r.parts.start(f.run)
	return nil
}

func (f *follower) targets() (targets []watch.Target) {
	for _, place := range f.places {
		targets = append(targets, watch.Target{Listing: place.Listing(), Functions: place.Functions()})
	}
	if f.app != nil {
		targets = append(targets, *f.app)
	}
	return targets
}

// reopen reads how the functions are built, if others than before run.
func (f *follower) reopen(ctx context.Context) error {
	had, has := map[string]bool{}, map[string]bool{}
	for _, place := range f.places {
		for name := range place.Packages {
			had[name] = true
		}
	}
	functions := f.design.Load().functions
	for i := range functions {
		if functions[i].Built() {
			has[functions[i].Name] = true
		}
	}
	if maps.Equal(had, has) {
		return nil
	}
	f.builds++
	places, err := lambda.OpenWorkplaces(ctx, functions, f.searched(), filepath.Join(f.folder, "modules"+strconv.Itoa(f.builds)))
	if err != nil {
		return err
	}
	f.places = places
	return nil
}

// run does what saved files make necessary, until ctx ends.
func (f *follower) run(ctx context.Context) error {
	defer f.watcher.Close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.watcher.Changed():
		}
		f.pending.Add(f.watcher.Take())
		for len(f.pending.Files) > 0 && ctx.Err() == nil {
			change, again := f.pending, f.failed
			f.pending, f.failed = watch.Change{}, watch.Change{}
			// Functions need not wait for a synth that has failed and does not concern them; the synth is tried again after them.
			if again.Synth && !change.Synth && !change.Empty() && !intersect(change.Functions, again.Functions) {
				f.handle(ctx, change)
				again.Add(f.failed)
				change, f.failed = watch.Change{Saved: time.Now()}, watch.Change{}
			}
			change.Add(again)
			if !change.Empty() && ctx.Err() == nil {
				f.handle(ctx, change)
			}
		}
	}
}

func intersect(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
}

// handle does what a change makes necessary. Files that are saved meanwhile break it off, if the one before was not.
func (f *follower) handle(ctx context.Context, change watch.Change) {
	f.log.printf("changed: %s", f.named(change.Files))
	building, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() {
		// A synth builds the functions, too. Their new code waits for it: it may need what the synth declares.
		if change.Synth {
			ended <- f.apply(ctx, building, change)
		} else {
			ended <- f.build(ctx, building, change)
		}
	}()
	var err error
	for waiting := true; waiting; {
		select {
		case err = <-ended:
			waiting = false
		case <-f.watcher.Changed():
			next := f.watcher.Take()
			f.pending.Add(next)
			if !next.Empty() && !f.overtaken {
				cancel(errOvertaken)
			}
		}
	}
	f.overtaken = errors.Is(err, errOvertaken)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		// What failed is due again with the next change.
		f.failed = change
		if f.overtaken {
			return
		}
		f.failed.Saved = time.Time{}
	}
	f.watcher.Failing(err != nil)
	if err != nil || change.Relist || change.Synth {
		if err := f.watcher.List(ctx, f.targets()); err != nil && ctx.Err() == nil {
			f.log.printf("watch: %v", err)
		}
	}
}

// build builds the functions of a change, and replaces those that run. Building ends with the context of that name, replacing with ctx.
func (f *follower) build(ctx, building context.Context, change watch.Change) error {
	names := change.Functions
	f.told(change, "build", "began", f.labels(names), "")
	// Linking takes the most time, so with many functions the one that was asked last comes first.
	batches := [][]string{names}
	if len(names) > atOnce {
		recent := slices.DeleteFunc(f.functions.Recent(), func(name string) bool { return !slices.Contains(names, name) })
		if len(recent) > 0 {
			batches = [][]string{recent[:1], recent[1:]}
		}
	}
	var problems []error
	for _, batch := range batches {
		err := f.buildBatch(ctx, building, batch, change)
		if err != nil && ctx.Err() == nil && !errors.Is(err, errOvertaken) {
			text := f.explain(err)
			f.log.printf("%s", text)
			f.told(change, "build", "failed", f.labels(batch), text)
		}
		problems = append(problems, err)
		if failure := (*gobuild.CompileError)(nil); errors.As(err, &failure) || building.Err() != nil {
			break
		}
	}
	return errors.Join(problems...)
}

func (f *follower) buildBatch(ctx, building context.Context, names []string, change watch.Change) error {
	f.builds++
	folder := filepath.Join(f.folder, strconv.Itoa(f.builds))
	began := time.Now()
	code := map[string]string{}
	for _, place := range f.places {
		var packages []string
		for _, name := range names {
			if p, has := place.Packages[name]; has && !slices.Contains(packages, p) {
				packages = append(packages, p)
			}
		}
		if len(packages) == 0 {
			continue
		}
		built, err := f.buildPackages(building, place, packages, change.Packages, folder)
		if err != nil {
			_ = os.RemoveAll(folder)
			return err
		}
		for _, name := range names {
			if p, has := place.Packages[name]; has {
				code[name] = built[p]
			}
		}
	}
	took := time.Since(began)
	var replacing sync.WaitGroup
	problems := make([]error, len(names))
	for i, name := range names {
		replacing.Go(func() { problems[i] = f.replace(ctx, name, code[name]) })
	}
	replacing.Wait()
	var replaced []string
	for i, name := range names {
		if problems[i] == nil {
			f.changing.Lock()
			f.newer[name] = true
			f.changing.Unlock()
			replaced = append(replaced, name)
			f.keep(name, code[name])
		}
	}
	if len(replaced) > 0 {
		f.log.printf("new code after %.1f s (built in %.1f s): %s", time.Since(change.Saved).Seconds(), took.Seconds(), strings.Join(f.labels(replaced), ", "))
		f.told(change, "build", "done", f.labels(replaced), "")
	}
	return errors.Join(problems...)
}

// buildPackages builds the package of the function that is debugged for the debugger, and the others for the next request.
func (f *follower) buildPackages(ctx context.Context, place *lambda.Workplace, packages, changed []string, folder string) (map[string]string, error) {
	built := map[string]string{}
	for _, mode := range []gobuild.Mode{gobuild.Quick, gobuild.Debug} {
		chosen := slices.DeleteFunc(slices.Clone(packages), func(p string) bool {
			return (f.debugged != "" && p == place.Packages[f.debugged]) != (mode == gobuild.Debug)
		})
		if len(chosen) == 0 {
			continue
		}
		folders, err := place.Build(ctx, chosen, changed, mode, folder)
		if err != nil {
			return nil, err
		}
		maps.Copy(built, folders)
	}
	return built, nil
}

// replace puts newer code into the place of a function's, and returns when it takes requests.
func (r *Runner) replace(ctx context.Context, name, code string) error {
	at := slices.IndexFunc(r.design.Load().functions, func(d lambda.Declared) bool { return d.Name == name })
	if at < 0 {
		return fmt.Errorf("replace code: %w: %s", lambda.ErrNotFound, name)
	}
	definition := r.design.Load().functions[at].Function
	definition.Code, definition.Architecture = code, ""
	return r.functions.Replace(ctx, definition)
}

// keep removes the code of a function that no instance runs any more: a process that runs does not need its file.
func (f *follower) keep(name, code string) {
	folders := append(f.code[name], code)
	if len(folders) > 2 {
		_ = os.RemoveAll(folders[0])
		folders = folders[1:]
	}
	f.code[name] = folders
}

// explain is an error for people: what the compiler says, with files as seen from the working folder, or what else went wrong.
func (f *follower) explain(err error) string {
	var failure *gobuild.CompileError
	if errors.As(err, &failure) {
		var lines []string
		for line := range strings.Lines(failure.Text(workingFolder())) {
			// A package's name above its errors says no more than their files.
			if !strings.HasPrefix(line, "# ") {
				lines = append(lines, strings.TrimRight(line, "\n"))
			}
		}
		return "build failed, the former code goes on:\n" + strings.Join(lines, "\n")
	}
	return "the former code goes on: " + err.Error()
}

// told tells the console what becomes of a change.
func (f *follower) told(change watch.Change, what, state string, functions []string, text string) {
	told := trace.Change{What: what, State: state, Functions: functions, Text: text}
	if state != "began" {
		told.Milliseconds = since(change.Saved)
	}
	f.trace.Changed(told)
}

// notApplied tells people why an assembly is not applied, and what to do.
func (f *follower) notApplied(ctx context.Context, change watch.Change, err error) error {
	if ctx.Err() != nil || errors.Is(err, errOvertaken) {
		return err
	}
	text := "not applied, the former design goes on: " + err.Error()
	var start *lambda.StartError
	switch {
	case errors.As(err, &start):
		text = "applied, but the former code goes on: " + err.Error()
	case errors.Is(err, engine.ErrTableDiffers) && f.options.Data != "":
		text += "\nend the run, remove the data folder " + f.options.Data + ", and start again; DynamoDB cannot change the key of a table, nor a local index"
	case errors.Is(err, engine.ErrTableDiffers):
		text += "\nend the run, and start again with empty tables; DynamoDB cannot change the key of a table, nor a local index"
	}
	if text == f.said {
		f.log.printf("still not applied, for the reason above")
	} else {
		f.log.printf("%s", text)
	}
	f.said = text
	f.told(change, "apply", "failed", nil, text)
	return err
}

// labels are what people call the functions.
func (r *Runner) labels(names []string) []string {
	var labels []string
	for _, name := range names {
		label := name
		if at := slices.IndexFunc(r.design.Load().functions, func(d lambda.Declared) bool { return d.Name == name }); at >= 0 {
			label = r.design.Load().functions[at].Label
		}
		labels = append(labels, label)
	}
	return labels
}

// named are files for people, the first few of many.
func (f *follower) named(files []string) string {
	var names []string
	folder := workingFolder()
	for i, file := range files {
		if i == namedFiles {
			return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", len(files)-i)
		}
		if relative, err := filepath.Rel(folder, file); err == nil {
			file = relative
		}
		names = append(names, file)
	}
	return strings.Join(names, ", ")
}

// workingFolder is "" if the system does not tell: files have their whole names then.
func workingFolder() string {
	folder, err := os.Getwd()
	if err != nil {
		return ""
	}
	return folder
}

func since(began time.Time) float64 { return float64(time.Since(began).Microseconds()) / 1000 }
