package local

// How a run follows its source: what is saved is built, and replaces what runs. The Go toolchain decides what a file
// is part of.

import (
	"cmp"
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
	// builds counts synths, and builds for the debugger; each has a folder of its own.
	builds int
	// pending is what was saved and not looked at.
	pending watch.Change
	// overtaken says that the last build was broken off. The next one is not, or saves in a row would keep all from ending.
	overtaken bool
	// app is the app; nil if nothing tells how to synthesise.
	app *app
	// applied is the app that the run is of, and refused one that could not be applied, as [app.build] tells apps apart.
	applied, refused string
	// waiting are the functions whose new code came with the refused app.
	waiting []string
	// said is what was printed of the last failure.
	said string
	// find takes the programs for the next [watch.Watcher.Find].
	find chan []gobuild.Listing
	// debuggedAs is the hash of the binary in whose place that for the debugger runs.
	debuggedAs string
}

// follow begins to watch the source.
func (r *Runner) follow(ctx context.Context) error {
	f := &follower{Runner: r, folder: filepath.Join(r.folder, "watch"), find: make(chan []gobuild.Listing, 1)}
	if err := os.MkdirAll(f.folder, 0o700); err != nil {
		return fmt.Errorf("follow the source: %w", err)
	}
	var err error
	if f.places, err = lambda.OpenWorkplaces(ctx, r.design.Load().functions, r.searched(), f.folder); err != nil {
		return fmt.Errorf("follow the source: %w", err)
	}
	switch f.app, err = r.findApp(); {
	case errors.Is(err, errNoApp):
		r.log.printf("watch: %v", err)
	case err != nil:
		return fmt.Errorf("follow the source: %w", err)
	}
	var files []string
	if f.app != nil {
		files = f.app.files
	}
	if f.watcher, err = watch.New(ctx, f.programs(), files, 0); err != nil {
		return fmt.Errorf("follow the source: %w", err)
	}
	r.parts.start(f.run)
	return nil
}

// programs are those that the run follows.
func (f *follower) programs() (programs []gobuild.Listing) {
	for _, place := range f.places {
		programs = append(programs, place.Listing())
	}
	if f.app != nil {
		programs = append(programs, f.app.Listing)
	}
	return programs
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
	var finding sync.WaitGroup
	defer finding.Wait()
	defer close(f.find)
	finding.Go(func() {
		for programs := range f.find {
			if err := f.watcher.Find(ctx, programs); err != nil && ctx.Err() == nil {
				f.log.printf("watch: %v", err)
			}
		}
	})
	f.begin(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.watcher.Changed():
		}
		f.pending.Add(f.watcher.Take())
		for len(f.pending.Files) > 0 && ctx.Err() == nil {
			change := f.pending
			f.pending = watch.Change{}
			f.handle(ctx, change)
		}
	}
}

// begin learns what the source of what runs gives, so that later builds show what has changed. What does not compile
// is told when something is saved.
func (f *follower) begin(ctx context.Context) {
	built, _ := f.buildFunctions(ctx, f.names())
	f.debuggedAs = built[f.debugged].Hash
	f.applied, _ = f.app.build(ctx)
	// What was saved meanwhile may be in the app that was built, and is not in the assembly.
	f.watcher.Look()
	if f.pending.Add(f.watcher.Take()); len(f.pending.Files) > 0 {
		f.applied = ""
	}
}

// names are the functions that are built.
func (f *follower) names() (names []string) {
	for _, place := range f.places {
		names = slices.AppendSeq(names, maps.Keys(place.Packages))
	}
	slices.Sort(names)
	return names
}

// handle does what a change makes necessary. Files that are saved meanwhile break it off, if the one before was not.
func (f *follower) handle(ctx context.Context, change watch.Change) {
	f.log.printf("changed: %s", f.named(change.Files))
	building, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() { ended <- f.catchUp(ctx, building, change) }()
	var err error
	for waiting := true; waiting; {
		select {
		case err = <-ended:
			waiting = false
		case <-f.watcher.Changed():
			f.pending.Add(f.watcher.Take())
			if !f.overtaken {
				cancel(errOvertaken)
			}
		}
	}
	if f.overtaken = errors.Is(err, errOvertaken); f.overtaken {
		f.pending.Add(change)
		return
	}
	// Programs may have other files now. The next save need not wait until they are found, and only the newest programs
	// matter.
	select {
	case <-f.find:
	default:
	}
	f.find <- f.programs()
}

// catchUp makes the run be of the source as it is now. Building ends with the context of that name, the rest with ctx.
func (f *follower) catchUp(ctx, building context.Context, change watch.Change) error {
	f.told(change, "build", "began", nil, "")
	// The function that was asked last comes first, and the app is built meanwhile: most changes are of one of them.
	names := f.names()
	first := names
	if recent := f.functions.Recent(); len(names) > atOnce && len(recent) > 0 && slices.Contains(names, recent[0]) {
		first = recent[:1]
	}
	var state string
	var problem error
	var asking sync.WaitGroup
	asking.Go(func() { state, problem = f.app.build(building) })
	built, err := f.buildFunctions(building, first)
	if len(first) < len(names) && len(f.changed(built)) == 0 {
		first = names
		built, err = f.buildFunctions(building, names)
	}
	asking.Wait()
	if building.Err() != nil {
		return context.Cause(building)
	}
	if problem != nil {
		state = problem.Error()
	}
	due, again := state != f.applied, state == f.refused
	if !due {
		f.waiting = nil
	}
	replaced := 0
	var problems []error
	replace := func(built map[string]gobuild.Binary, err error) {
		// New code waits for the app that it came with: it may need what that declares.
		names := slices.DeleteFunc(f.changed(built), func(name string) bool { return slices.Contains(f.waiting, name) })
		count, failed := f.replaceAll(ctx, change, built, names)
		replaced += count
		problems = append(problems, f.explained(ctx, change, err), failed)
	}
	synth := func() error {
		err := problem
		if err != nil {
			err = f.notApplied(ctx, change, state, err)
		} else {
			err = f.apply(ctx, building, change, state)
		}
		if building.Err() != nil {
			return context.Cause(building)
		}
		if f.waiting = nil; err != nil {
			built, _ := f.buildFunctions(building, f.names())
			f.waiting = f.changed(built)
		}
		return err
	}
	// An app that failed is tried again after what need not wait for it.
	if due && !again {
		if err := synth(); err != nil {
			return err
		}
	}
	if replace(built, err); len(first) < len(names) && building.Err() == nil {
		replace(f.buildFunctions(building, f.names()))
	}
	if due && again && building.Err() == nil {
		if err := synth(); err != nil {
			return err
		}
		replace(f.buildFunctions(building, f.names()))
	}
	if err := cmp.Or(context.Cause(building), errors.Join(problems...)); err != nil {
		return err
	}
	f.said = ""
	if replaced == 0 && !due {
		f.log.printf("nothing that runs has changed")
		f.told(change, "build", "done", nil, "")
	}
	return nil
}

// buildFunctions builds functions, and returns their binaries by name. With an error it returns those that could be
// built.
func (f *follower) buildFunctions(ctx context.Context, names []string) (map[string]gobuild.Binary, error) {
	binaries := map[string]gobuild.Binary{}
	var problems []error
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
		built, err := place.Build(ctx, packages)
		problems = append(problems, err)
		for _, name := range names {
			if binary, has := built[place.Packages[name]]; has {
				binaries[name] = binary
			}
		}
	}
	return binaries, errors.Join(problems...)
}

// changed are the functions that run as another binary than was built.
func (f *follower) changed(built map[string]gobuild.Binary) (names []string) {
	running := f.running()
	for _, name := range slices.Sorted(maps.Keys(built)) {
		of := running[name]
		if name == f.debugged {
			of = f.debuggedAs
		}
		if built[name].Hash != of {
			names = append(names, name)
		}
	}
	return names
}

// replaceAll replaces the functions, and returns how many it could replace.
func (f *follower) replaceAll(
	ctx context.Context, change watch.Change, built map[string]gobuild.Binary, names []string,
) (int, error) {
	took := time.Since(change.Saved)
	var replacing sync.WaitGroup
	problems := make([]error, len(names))
	for i, name := range names {
		replacing.Go(func() { problems[i] = f.replace(ctx, name, built[name]) })
	}
	replacing.Wait()
	var replaced []string
	for i, name := range names {
		if problems[i] == nil {
			replaced = append(replaced, name)
		}
	}
	if len(replaced) > 0 {
		f.log.printf("new code after %.1f s (built in %.1f s): %s", time.Since(change.Saved).Seconds(), took.Seconds(), strings.Join(f.labels(replaced), ", "))
		f.told(change, "build", "done", f.labels(replaced), "")
	}
	return len(replaced), f.explained(ctx, change, errors.Join(problems...))
}

// replace puts a newer binary into the place of a function's, and returns when it takes requests.
func (f *follower) replace(ctx context.Context, name string, binary gobuild.Binary) error {
	code := binary.Directory
	if name == f.debugged {
		f.builds++
		code = filepath.Join(f.folder, "debug"+strconv.Itoa(f.builds))
		for _, place := range f.places {
			if p, has := place.Packages[name]; has {
				if err := place.BuildForDebugger(ctx, p, code); err != nil {
					return err
				}
			}
		}
	}
	if err := f.Runner.replace(ctx, name, code, binary.Hash); err != nil {
		return err
	}
	if name == f.debugged {
		f.debuggedAs = binary.Hash
	}
	return nil
}

// explained prints a failure, unless it was printed last, and returns it.
func (f *follower) explained(ctx context.Context, change watch.Change, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, errOvertaken) {
		return err
	}
	text := f.explain(err)
	if text != f.said {
		f.log.printf("%s", text)
	}
	f.said = text
	f.told(change, "build", "failed", nil, text)
	return err
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

// notApplied tells people why the assembly of an app is not applied, and what to do.
func (f *follower) notApplied(ctx context.Context, change watch.Change, state string, err error) error {
	if ctx.Err() != nil || errors.Is(err, errOvertaken) {
		return err
	}
	f.refused = state
	text := "not applied, the former design goes on: " + err.Error()
	var start *lambda.StartError
	var compile *gobuild.CompileError
	switch {
	case errors.As(err, &compile):
		text = "not applied, the former design goes on: the app does not compile:\n" + compile.Text(workingFolder())
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
