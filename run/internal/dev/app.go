package dev

// How a run synthesises the app that its assembly is from.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/gobuild"
	"github.com/onesynth-cdk/onesynth/internal/processgroup"
)

const (
	appSettings = "cdk.json"
	appContext  = "cdk.context.json"
	// appEnd is how long an app, with what it has started, has to end by itself.
	appEnd = time.Second
	// shownLines is how much of what a failing app has printed is shown.
	shownLines = 40
	// largestContext is the most bytes of a context in the environment, where the CDK's command puts it, too.
	largestContext = 64 << 10
)

// errNoApp says that nothing tells how to synthesise.
var errNoApp = errors.New("cdk.json of this folder names no app: constructs that are saved have no effect; name the " +
	"app with --app")

// SynthError says that the app failed.
type SynthError struct {
	// Output is the end of what the app printed.
	Output string
	// Cause is how its process ended.
	Cause error
}

// Error has the cause, and the output below.
func (e *SynthError) Error() string {
	return fmt.Sprintf("the app failed (%v):\n%s", e.Cause, e.Output)
}

// Unwrap returns the cause.
func (e *SynthError) Unwrap() error { return e.Cause }

// readAppFile reads a file of the working folder, if there is one.
func readAppFile(name string, into any) error {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// appCommand is the command of the app: the given one, or what cdk.json says. Error: errNoApp.
func appCommand(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	var settings struct{ App string }
	if err := readAppFile(appSettings, &settings); err != nil {
		return "", err
	}
	if settings.App == "" {
		return "", errNoApp
	}
	return settings.App, nil
}

// app is the app that the assembly of a run is from.
type app struct {
	// command is as people gave it, if they did, and context what they gave with it.
	command string
	context map[string]string
	// Listing is of its program; without patterns it is not known.
	gobuild.Listing
	// files are further files that count: the context of the app.
	files []string
	// arguments are those of the program, if the app's command is that program alone; otherwise the command runs.
	arguments []string
	alone     bool
	// program is the program that was built last.
	program string
}

// findApp says what the app is, by what people gave. Error: errNoApp.
func findApp(given string, context map[string]string) (*app, error) {
	command, err := appCommand(given)
	if err != nil {
		return nil, err
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("follow the app: %w", err)
	}
	found := &app{
		command: given, context: context,
		Listing: gobuild.Listing{Directory: folder},
		files:   []string{filepath.Join(folder, appSettings), filepath.Join(folder, appContext)},
	}
	const ofShells = "&|;<>$`'\"(){}*?~#\\"
	flags, packages, arguments := goRun(command)
	if len(packages) > 0 {
		found.Patterns = packages
		if strings.HasPrefix(command, "go run ") && !strings.ContainsAny(command, ofShells) {
			found.alone, found.Flags, found.arguments = true, flags, arguments
		}
		return found, nil
	}
	// A program that was built before: its source is mostly here.
	if sources, err := filepath.Glob(filepath.Join(folder, "*.go")); err == nil && len(sources) > 0 {
		found.Patterns = []string{"."}
	}
	return found, nil
}

// build builds the app's program from a snapshot of the files, and tells apps apart: by the program and the settings
// among the files. It is empty without an app.
func (a *app) build(ctx context.Context, of *gobuild.Snapshot, settings string) (state string, err error) {
	if a == nil {
		return "", nil
	}
	if len(a.Patterns) > 0 {
		if a.program, state, err = gobuild.Program(ctx, a.Listing, of); err != nil {
			return "", err
		}
	}
	return state + settings, nil
}

// has reports whether the app may be made of one of the files: of a package's folder or one with embedded files, of its
// settings, or of what says where packages are. A folder that no package had may be one of the app's by now. The
// sources are those of the functions, and the app's behind them; without any, it may be made of each file.
func (a *app) has(files []string, sources []gobuild.Sources) bool {
	if a == nil {
		return false
	}
	if len(sources) == 0 {
		return true
	}
	own := sources[len(sources)-1]
	var others []string
	for _, found := range sources[:len(sources)-1] {
		others = slices.Concat(others, found.Packages, found.Embedded)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		folder := filepath.Dir(file)
		if isOfModule(file) {
			return true
		}
		isOwn := slices.Contains(own.Packages, folder) || slices.Contains(own.Embedded, folder)
		return isOwn || slices.Contains(a.files, file) || !slices.Contains(others, folder)
	})
}

// settings tells the app's further files apart, by the contents of all files.
func (a *app) settings(files map[string][]byte) (settings string) {
	if a == nil {
		return ""
	}
	for _, name := range a.files {
		settings += fmt.Sprintf(" %x", sha256.Sum256(files[name]))
	}
	return settings
}

// goRun takes a command apart that runs a package, or files, with "go run". It returns none for another command.
func goRun(command string) (flags, packages, arguments []string) {
	words := strings.Fields(command)
	for i := range words {
		words[i] = strings.Trim(words[i], `"';`)
	}
	for i := 0; i+1 < len(words); i++ {
		if words[i] != "go" || words[i+1] != "run" {
			continue
		}
		words = words[i+2:]
		first := slices.IndexFunc(words, isPackage)
		if first < 0 {
			return nil, nil, nil
		}
		end := first + 1
		for isFile(words[first]) && end < len(words) && isFile(words[end]) {
			end++
		}
		return words[:first], words[first:end], words[end:]
	}
	return nil, nil, nil
}

func isFile(word string) bool { return strings.HasSuffix(word, ".go") }

// isPackage tells a package, or a file, from a flag and its value: a package is named by its folder or its import path.
func isPackage(word string) bool {
	return !strings.HasPrefix(word, "-") && (strings.HasPrefix(word, ".") || strings.Contains(word, "/") ||
		isFile(word))
}

// synthesise runs the app, which writes its assembly to the folder, with the handlers that the file of former ones
// has. The end of ctx ends the app with all that it started. Errors: *SynthError, errNoApp, and the cause when ctx
// ends.
func (a *app) synthesise(ctx context.Context, folder, former string) error {
	command, err := appCommand(a.command)
	if err != nil {
		return err
	}
	environment, err := a.environment(folder)
	if err != nil {
		return err
	}
	environment = append(environment, gobuild.FormerVariable+"="+former)
	// The CDK's command runs apps by the shell, too.
	app := exec.CommandContext(ctx, "sh", "-c", command)
	if a.alone && a.program != "" {
		app = exec.CommandContext(ctx, a.program, a.arguments...)
	}
	var printed bytes.Buffer
	app.Stdout, app.Stderr, app.Env = &printed, &printed, environment
	processgroup.Lead(app)
	app.Cancel = func() error {
		pid := app.Process.Pid
		time.AfterFunc(appEnd, func() { _ = processgroup.Kill(pid) })
		return processgroup.Terminate(pid)
	}
	app.WaitDelay = 2 * appEnd
	err = app.Run()
	if app.Process != nil {
		_ = processgroup.Kill(app.Process.Pid) // what the app has left
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // something that the app has left kept its output open
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		lines := strings.Split(strings.TrimSpace(printed.String()), "\n")
		return &SynthError{Cause: err, Output: strings.Join(lines[max(0, len(lines)-shownLines):], "\n")}
	}
	if _, err := os.Stat(filepath.Join(folder, "manifest.json")); err != nil {
		return fmt.Errorf("the app %q writes no assembly to the folder CDK_OUTDIR: do not set Outdir in its props",
			command)
	}
	return nil
}

// environment is what the CDK's command gives to an app: the context of cdk.json and of the command line, and the
// folder for the assembly.
func (a *app) environment(folder string) ([]string, error) {
	var settings struct{ Context map[string]any }
	if err := readAppFile(appSettings, &settings); err != nil {
		return nil, err
	}
	values := map[string]any{}
	maps.Copy(values, settings.Context)
	if err := readAppFile(appContext, &values); err != nil {
		return nil, err
	}
	if given := os.Getenv("CDK_CONTEXT_JSON"); given != "" {
		if err := json.Unmarshal([]byte(given), &values); err != nil {
			return nil, fmt.Errorf("CDK_CONTEXT_JSON: %w", err)
		}
	}
	for name, value := range a.context {
		values[name] = value
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("context of the app: %w", err)
	}
	// A run shows at once what it cannot do; the CDK's check of the templates takes most of a synth.
	environment := append(os.Environ(), "CDK_OUTDIR="+folder, "CDK_VALIDATION=false")
	if len(text) <= largestContext {
		return append(environment, "CDK_CONTEXT_JSON="+string(text)), nil
	}
	file := folder + "-context.json"
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, fmt.Errorf("context of the app: %w", err)
	}
	return append(environment, "CDK_CONTEXT_JSON={}", "CONTEXT_OVERFLOW_LOCATION="+file), nil
}

// apply synthesises the app, and applies what it has written. The synth ends with the context synthesising, and the
// rest with ctx.
func (f *Follower) apply(ctx, synthesising context.Context, change Change, state string) error {
	f.builds++
	folder := filepath.Join(f.options.Folder, "assembly"+strconv.Itoa(f.builds))
	defer os.RemoveAll(folder)
	f.report(change, "apply", "began", nil, "")
	began, former := time.Now(), filepath.Join(f.options.Folder, "former.json")
	var shops []*gobuild.Workshop
	for _, builder := range f.builders {
		shops = append(shops, builder.Workshop)
	}
	if err := gobuild.WriteFormer(former, shops...); err != nil {
		return err
	}
	if err := f.app.synthesise(synthesising, folder, former); err != nil {
		return f.notApplied(ctx, change, state, err)
	}
	took := time.Since(began)
	functions, summary, err := f.options.Apply(ctx, folder)
	if problem := f.reopen(ctx); err == nil {
		err = problem
	}
	if err != nil {
		return f.notApplied(ctx, change, state, err)
	}
	f.applied, f.refused, f.explanation = state, "", ""
	f.printf("applied after %.1f s (synthesised in %.1f s): %s", time.Since(change.Saved).Seconds(), took.Seconds(),
		summary)
	f.report(change, "apply", "done", functions, summary)
	return nil
}
