package dev

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
	"sync/atomic"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/gobuild"
	"github.com/onesynth-cdk/onesynth/run/internal/services/dynamodb"
	"github.com/onesynth-cdk/onesynth/run/internal/services/lambda"
	"github.com/onesynth-cdk/onesynth/run/internal/trace"
)

// errOvertaken ends a build that newer files have made useless.
var errOvertaken = errors.New("newer files were saved")

const (
	// namedFiles is the most files that a line names.
	namedFiles = 3
	// atOnce is the most functions that are built together, when the one that was asked last need not come first.
	atOnce = 2
	// maxKilled is how often a process of one change may be killed before the change counts as failed.
	maxKilled = 3
	// maxOvertaken is the most builds in a row that newer files break off. Without a limit, no build would end while
	// someone saves again and again.
	maxOvertaken = 5
)

// Options say which run follows its source, and how. All functions are needed, and may be called at the same time.
type Options struct {
	// Folder keeps what is built.
	Folder string
	// Modules are the folders whose Go modules may require those of the functions.
	Modules []string
	// App is the command that synthesises. Default: the app of cdk.json in the working folder.
	App string
	// Context are values of the app's context.
	Context map[string]string
	// Data is the folder that keeps the run's tables, for what people are told; empty if nothing is kept.
	Data string
	// Debugged is the name of the function that runs under delve, or empty.
	Debugged string
	// Functions returns the functions of the run, and Recent their names, the one that was asked last first.
	Functions func() []lambda.Declared
	Recent    func() []string
	// Running returns the SHA-256 of each function's program, as it runs.
	Running func() map[string]string
	// Replace puts other code, with its SHA-256, into the place of a function's, and returns when it takes requests.
	Replace func(ctx context.Context, name, code, hash string) error
	// Apply makes the run be of the assembly in a folder. It returns the functions that came or were replaced, and what
	// has changed, for people.
	Apply func(ctx context.Context, folder string) (functions []string, summary string, err error)
	// Report tells the console what becomes of a change.
	Report func(trace.Change)
	// Log prints.
	Log func(text string)
}

// Follower keeps a run up to date with its source. Make one with [Follow]. One goroutine uses it.
type Follower struct {
	options  Options
	watcher  *Watcher
	builders []*lambda.Builder
	// snapshots keep the source that is built. source is the newest of them, and settings are the app's of that moment.
	snapshots *gobuild.Snapshots
	source    *gobuild.Snapshot
	settings  string
	// builds counts synths, and builds for the debugger; each has a folder of its own.
	builds int
	// began is when the last build began: later than a save that came during the one before.
	began time.Time
	// pending is what was saved and not looked at.
	pending Change
	// overtaken counts the builds in a row that were broken off. After one that was, the next one is broken off only
	// when the function that was asked last has its new code, which is when answered is true.
	overtaken int
	answered  atomic.Bool
	// killed counts the times in a row that a process of the last change was killed.
	killed int
	// app is the app; nil if nothing tells how to synthesise.
	app *app
	// applied is the app that the run is of, and refused one that could not be applied, as [app.build] tells apps
	// apart. Until learned is closed, another goroutine finds out what is applied.
	applied, refused string
	learned          chan struct{}
	// waiting are the functions whose new code came with the refused app.
	waiting []string
	// explanation is what was printed of the last failure.
	explanation string
	// find takes the programs for the next [Watcher.Find].
	find chan []gobuild.Listing
	// debuggedAs is the hash of the binary in whose place that for the debugger runs.
	debuggedAs string
}

// Follow begins to watch the source. Run does the rest.
func Follow(ctx context.Context, options Options) (*Follower, error) {
	f := &Follower{options: options, find: make(chan []gobuild.Listing, 1)}
	if err := os.MkdirAll(options.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("follow the source: %w", err)
	}
	source, err := os.MkdirTemp(options.Folder, "source-")
	if err != nil {
		return nil, fmt.Errorf("follow the source: %w", err)
	}
	f.snapshots = gobuild.NewSnapshots(source)
	if f.builders, err = lambda.OpenBuilders(ctx, options.Functions(), options.Modules, options.Folder); err != nil {
		return nil, fmt.Errorf("follow the source: %w", err)
	}
	switch f.app, err = findApp(options.App, options.Context); {
	case errors.Is(err, errNoApp):
		f.printf("watch: %v", err)
	case err != nil:
		return nil, fmt.Errorf("follow the source: %w", err)
	}
	var files []string
	if f.app != nil {
		files = f.app.files
	}
	if f.watcher, err = New(ctx, f.programs(), files, 0); err != nil {
		return nil, fmt.Errorf("follow the source: %w", err)
	}
	return f, nil
}

func (f *Follower) printf(format string, arguments ...any) {
	f.options.Log(fmt.Sprintf(format, arguments...))
}

// functions are the programs of the functions that the run follows.
func (f *Follower) functions() (programs []gobuild.Listing) {
	for _, builder := range f.builders {
		programs = append(programs, builder.Listing())
	}
	return programs
}

// programs are those that the run follows.
func (f *Follower) programs() []gobuild.Listing {
	programs := f.functions()
	if f.app != nil {
		programs = append(programs, f.app.Listing)
	}
	return programs
}

// reopen reads how the functions are built, if others than before run.
func (f *Follower) reopen(ctx context.Context) error {
	had, has := map[string]bool{}, map[string]bool{}
	for _, builder := range f.builders {
		for name := range builder.Packages {
			had[name] = true
		}
	}
	functions := f.options.Functions()
	for i := range functions {
		if functions[i].Built() {
			has[functions[i].Name] = true
		}
	}
	if maps.Equal(had, has) {
		return nil
	}
	f.builds++
	builders, err := lambda.OpenBuilders(ctx, functions, f.options.Modules,
		filepath.Join(f.options.Folder, "modules"+strconv.Itoa(f.builds)))
	if err != nil {
		return err
	}
	f.builders = builders
	return nil
}

// Run does what saved files make necessary, until ctx ends.
func (f *Follower) Run(ctx context.Context) error {
	defer f.watcher.Close()
	var finding sync.WaitGroup
	defer finding.Wait()
	defer close(f.find)
	finding.Go(func() {
		for programs := range f.find {
			if err := f.watcher.Find(ctx, programs); err != nil && ctx.Err() == nil {
				f.printf("watch: %v", err)
			}
		}
	})
	f.begin(ctx, &finding)
	for {
		// What was saved before begin is pending already, and no event tells of it again.
		for len(f.pending.Files) > 0 && ctx.Err() == nil {
			change := f.pending
			f.pending = Change{}
			f.handle(ctx, change)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-f.watcher.Changed():
		}
		f.pending.Add(f.watcher.Take())
	}
}

// begin learns what the source of what runs gives, so that later builds show what has changed. What does not compile
// is told when something is saved. The functions' builds, which only make later ones shorter, end with the first save;
// that of the app goes on beside later ones, until learning has ended.
func (f *Follower) begin(ctx context.Context, learning *sync.WaitGroup) {
	f.learned = make(chan struct{})
	files, saved := f.watcher.Read()
	f.pending.Add(saved)
	err := f.take(files)
	if err != nil {
		f.printf("watch: %v", err)
		close(f.learned)
		return
	}
	// What was saved since the run began is in the app that is built, and not in the assembly.
	if settings := f.settings; f.app.has(saved.Files, f.watcher.Sources()) {
		close(f.learned)
	} else {
		learning.Go(func() {
			defer close(f.learned)
			f.learn(ctx, files, settings)
		})
	}
	building, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		built, _ := f.buildFunctions(building, f.names())
		f.debuggedAs = built[f.options.Debugged].Hash
	}()
	for {
		if len(f.pending.Files) > 0 && f.options.Debugged == "" {
			cancel()
		}
		select {
		case <-ended:
			return
		case <-f.watcher.Changed():
			f.pending.Add(f.watcher.Take())
		}
	}
}

// learn builds the app from the files, as it is when the run begins.
func (f *Follower) learn(ctx context.Context, files map[string][]byte, settings string) {
	folder, err := os.MkdirTemp(f.options.Folder, "app-")
	if err != nil {
		return
	}
	defer os.RemoveAll(folder)
	source, err := gobuild.NewSnapshots(folder).Take(files)
	if err != nil {
		return
	}
	if state, err := f.app.build(ctx, source, settings); err == nil {
		f.applied = state
	}
}

// snapshot makes builds be of the source as it is now, and returns what was saved before.
func (f *Follower) snapshot() (saved Change, err error) {
	files, saved := f.watcher.Read()
	return saved, f.take(files)
}

// take makes builds be of the files.
func (f *Follower) take(files map[string][]byte) (err error) {
	f.settings = f.app.settings(files)
	f.source, err = f.snapshots.Take(files)
	return err
}

// mayChangeApp reports whether the app may be another one than that of the run after a change of the files.
func (f *Follower) mayChangeApp(files []string) bool {
	if f.app == nil {
		return false
	}
	if f.app.has(files, f.watcher.Sources()) {
		return true
	}
	select {
	case <-f.learned:
		return f.applied == "" || f.refused != ""
	default:
		return false
	}
}

// names are the functions that are built.
func (f *Follower) names() (names []string) {
	for _, builder := range f.builders {
		names = slices.AppendSeq(names, maps.Keys(builder.Packages))
	}
	slices.Sort(names)
	return names
}

// handle does what a change makes necessary. Files that are saved meanwhile break it off, as overtaken says.
func (f *Follower) handle(ctx context.Context, change Change) {
	if change.movesSource() {
		// The programs may be of other folders now. Their build says what is wrong with them.
		_ = f.watcher.Find(ctx, f.programs())
	}
	saved, err := f.snapshot()
	change.Add(saved)
	f.printf("changed: %s", f.named(change.Files))
	building, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err != nil {
		_ = f.explained(ctx, change, err)
		return
	}
	ended := make(chan error, 1)
	f.answered.Store(false)
	go func() { ended <- f.catchUp(ctx, building, change) }()
	for waiting := true; waiting; {
		select {
		case err = <-ended:
			waiting = false
		case <-f.watcher.Changed():
			// The signal may be of files that are in the snapshot.
			f.pending.Add(f.watcher.Take())
			if len(f.pending.Files) > 0 && f.mayBreakOff() {
				cancel(errOvertaken)
			}
		}
	}
	if errors.Is(err, errOvertaken) {
		f.overtaken++
		f.pending.Add(change)
		return
	}
	f.overtaken = 0
	if f.killed++; killed(err) && f.killed < maxKilled {
		f.printf("a process was killed, which says nothing of the source: trying again")
		f.pending.Add(change)
		return
	}
	f.killed = 0
	// Programs may have other files now. The next save need not wait until they are found, and only the newest programs
	// matter.
	select {
	case <-f.find:
	default:
	}
	f.find <- f.programs()
}

// mayBreakOff reports whether newer files end the build that goes on.
func (f *Follower) mayBreakOff() bool {
	return f.overtaken == 0 || f.answered.Load() && f.overtaken < maxOvertaken
}

// killed reports whether a process was killed: for want of memory, or because it took too long to start. It is one of
// the toolchain, of the app or of a function.
func killed(err error) bool { return err != nil && strings.Contains(err.Error(), "signal: killed") }

// catchUp makes the run be of the source as it is now. Building ends with the context of that name, the rest with ctx.
func (f *Follower) catchUp(ctx, building context.Context, change Change) error {
	f.report(change, "build", "began", nil, "")
	f.began = time.Now()
	// The function that was asked last comes first, and the app is built meanwhile: most changes are of one of them.
	names := f.names()
	first := names
	if recent := f.options.Recent(); len(names) > atOnce && len(recent) > 0 && slices.Contains(names, recent[0]) {
		first = recent[:1]
	}
	var state string
	var problem error
	var asking sync.WaitGroup
	isOfApp := f.mayChangeApp(change.Files)
	if isOfApp {
		// The app may be of other files from now on.
		f.watcher.Forget()
		asking.Go(func() {
			select {
			case <-f.learned:
				state, problem = f.app.build(building, f.source, f.settings)
			case <-building.Done():
			}
		})
	}
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
	due, again := isOfApp && state != f.applied, isOfApp && state == f.refused
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
	replace(built, err)
	f.answered.Store(replaced > 0)
	if len(first) < len(names) && building.Err() == nil {
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
	f.explanation = ""
	if replaced == 0 && !due {
		f.printf("nothing that runs has changed")
		f.report(change, "build", "done", nil, "")
	}
	return nil
}

// buildFunctions builds functions, and returns their binaries by name. With an error it returns those that could be
// built.
func (f *Follower) buildFunctions(ctx context.Context, names []string) (map[string]gobuild.Binary, error) {
	binaries := map[string]gobuild.Binary{}
	var problems []error
	for _, builder := range f.builders {
		var packages []string
		for _, name := range names {
			if p, has := builder.Packages[name]; has && !slices.Contains(packages, p) {
				packages = append(packages, p)
			}
		}
		if len(packages) == 0 {
			continue
		}
		built, err := builder.Build(ctx, packages, f.source)
		problems = append(problems, err)
		for _, name := range names {
			if binary, has := built[builder.Packages[name]]; has {
				binaries[name] = binary
			}
		}
	}
	return binaries, errors.Join(problems...)
}

// changed are the functions that run as another binary than was built.
func (f *Follower) changed(built map[string]gobuild.Binary) (names []string) {
	running := f.options.Running()
	for _, name := range slices.Sorted(maps.Keys(built)) {
		of := running[name]
		if name == f.options.Debugged {
			of = f.debuggedAs
		}
		if built[name].Hash != of {
			names = append(names, name)
		}
	}
	return names
}

// replaceAll replaces the functions, and returns how many it could rebuilder.
func (f *Follower) replaceAll(
	ctx context.Context, change Change, built map[string]gobuild.Binary, names []string,
) (int, error) {
	took := time.Since(f.began)
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
		f.printf("new code after %.1f s (built in %.1f s): %s", time.Since(change.Saved).Seconds(), took.Seconds(),
			strings.Join(f.labels(replaced), ", "))
		f.report(change, "build", "done", f.labels(replaced), "")
	}
	return len(replaced), f.explained(ctx, change, errors.Join(problems...))
}

// replace puts a newer binary into the place of a function's, and returns when it takes requests.
func (f *Follower) replace(ctx context.Context, name string, binary gobuild.Binary) error {
	code := binary.Directory
	if name == f.options.Debugged {
		f.builds++
		code = filepath.Join(f.options.Folder, "debug"+strconv.Itoa(f.builds))
		for _, builder := range f.builders {
			if p, has := builder.Packages[name]; has {
				if err := builder.BuildForDebugger(ctx, p, code, f.source); err != nil {
					return err
				}
			}
		}
	}
	if err := f.options.Replace(ctx, name, code, binary.Hash); err != nil {
		return err
	}
	if name == f.options.Debugged {
		f.debuggedAs = binary.Hash
	}
	return nil
}

// explained prints a failure, unless it was printed last, and returns it.
func (f *Follower) explained(ctx context.Context, change Change, err error) error {
	if err == nil || ctx.Err() != nil || errors.Is(err, errOvertaken) {
		return err
	}
	text := f.explain(err)
	if text != f.explanation {
		f.printf("%s", text)
	}
	f.explanation = text
	f.report(change, "build", "failed", nil, text)
	return err
}

// explain is an error for people: what the compiler says, with files as seen from the working folder, or what else went
// wrong.
func (f *Follower) explain(err error) string {
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

// report tells the console what becomes of a change.
func (f *Follower) report(change Change, what, state string, functions []string, text string) {
	reported := trace.Change{What: what, State: state, Functions: functions, Text: text}
	if state != "began" {
		reported.Milliseconds = since(change.Saved)
	}
	f.options.Report(reported)
}

// notApplied tells people why the assembly of an app is not applied, and what to do.
func (f *Follower) notApplied(ctx context.Context, change Change, state string, err error) error {
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
	case errors.Is(err, dynamodb.ErrTableDiffers) && f.options.Data != "":
		text += "\nend the run, remove the data folder " + f.options.Data +
			", and start again; DynamoDB cannot change the key of a table, nor a local index"
	case errors.Is(err, dynamodb.ErrTableDiffers):
		text += "\nend the run, and start again with empty tables; DynamoDB cannot change the key of a table, nor a " +
			"local index"
	}
	if text == f.explanation {
		f.printf("still not applied, for the reason above")
	} else {
		f.printf("%s", text)
	}
	f.explanation = text
	f.report(change, "apply", "failed", nil, text)
	return err
}

// labels are what people call the functions.
func (f *Follower) labels(names []string) []string {
	labels, functions := slices.Clone(names), f.options.Functions()
	for i, name := range names {
		if at := slices.IndexFunc(functions, func(d lambda.Declared) bool { return d.Name == name }); at >= 0 {
			labels[i] = functions[at].Label
		}
	}
	return labels
}

// named are files for people, the first few of many.
func (f *Follower) named(files []string) string {
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
