// Package gobuild builds the main packages of a Go module as AWS Lambda functions:
// for the cloud when an app is synthesised, and for a developer's machine when the
// assembly runs there.
//
// The same source gives the same binaries, to the byte, in any folder on any machine with the same release of Go.
// Builds of a module for one target share a folder, in which the toolchain finds what it has linked before and need not
// link again. That folder, and the binaries by content, are in the folder that ONESYNTH_CACHE names, or else in
// "onesynth" below the user's cache folder. Builds into the same folder wait for each other.
package gobuild

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// Source says which main packages to build.
type Source struct {
	// Module is the path of the packages' Go module. The build uses the module's own go.mod, wherever the Go toolchain
	// keeps it. Default: the module of this library.
	Module string
	// From are folders in which the build asks the toolchain for Module, in order, until one
	// knows it. It skips folders that do not exist. Default: the working directory.
	From []string
	// Directory is the folder of the module, absolute or relative to the working directory.
	// Module must be empty then. Default: the toolchain finds the folder.
	Directory string
	// Packages are the folders of the main packages, relative to the module's.
	Packages []string
	// Flags are flags of "go build". Default: [Flags].
	Flags []string
	// OwnGroup makes the toolchain lead its own group of processes, so that the end of the context ends the compilers
	// and the linker, too. The end of this process's group then does not end them. Only Unix has such groups.
	OwnGroup bool

	// former is the value of FormerVariable.
	former string
}

// FormerVariable is the environment variable with the name of a file of [WriteFormer]. It makes [Build] return the
// binaries in that file, if they are all that it needs. It is for a synth whose assembly goes to a run that builds the
// functions itself.
const FormerVariable = "ONESYNTH_FORMER_HANDLERS"

// Flags returns the flags that make a build reproducible and small, and leave out the RPC mode that only the retired
// go1.x runtime used ("Define Lambda function handlers in Go", AWS Lambda developer guide). They link the time zones,
// which provided.al2023 lacks. They keep the build id, by which the toolchain knows what it has linked. [Build] clears
// the id in the copy that it returns.
func Flags() []string {
	return []string{"-trimpath", "-buildvcs=false", "-tags=lambda.norpc,timetzdata", linkFlags + "-s -w"}
}

// linkFlags is the start of the flag with the linker's flags.
const linkFlags = "-ldflags="

// Target is the system and the processor that binaries run on.
type Target struct {
	// System and Processor are values of GOOS and GOARCH.
	System, Processor string
}

// Host returns the target that this program runs on.
func Host() Target { return Target{System: runtime.GOOS, Processor: runtime.GOARCH} }

// String returns the target as Go writes it, such as "linux/arm64".
func (t Target) String() string { return t.System + "/" + t.Processor }

// Binary is a built main package.
type Binary struct {
	// Directory holds the binary, called "bootstrap", and nothing else.
	Directory string
	// Hash is the SHA-256 of the binary in hexadecimal.
	Hash string
	// Size is the binary's size in bytes.
	Size int64
	// Module is the path of the package's module.
	Module string
	// Package is the package's folder, relative to the module's; "." is the root.
	Package string
	// Sources are the Go files of its packages of that module, one a line, unless the module is in the module cache.
	// Those of this library's kit, which knows no platform, are not among them.
	Sources string
}

// CompileError says that the Go toolchain could not build the packages.
type CompileError struct {
	// Packages are the packages of the [Source].
	Packages []string
	// Directory is the folder in which the toolchain ran.
	Directory string
	// Output is what the toolchain printed, or how it ended if it printed nothing.
	Output string
}

// Error returns a line that says what to build, and the toolchain's output below it.
func (e *CompileError) Error() string {
	return fmt.Sprintf("building %s in %s:\n%s", strings.Join(e.Packages, ", "), e.Directory,
		strings.TrimSpace(e.Output))
}

// ErrUnknownModule says that the toolchain does not know the module of a [Source].
var ErrUnknownModule = errors.New("module is not known here")

// Build builds the packages for the target by the Go toolchain, which must be on the PATH, and returns the binaries by
// package, as [Folder] writes it. The toolchain runs once, and again only for packages whose last elements are equal.
// It returns a [*CompileError] if the toolchain refuses the packages, [ErrUnknownModule], [exec.ErrNotFound] without a
// toolchain, and the cause if ctx ends.
func Build(ctx context.Context, source Source, target Target) (map[string]Binary, error) {
	source.former = os.Getenv(FormerVariable)
	return build(ctx, source, target, os.Getenv(cacheVariable))
}

// Folder returns the shortest way to write the folder of a package, with slashes.
func Folder(of string) string { return path.Clean(filepath.ToSlash(of)) }

// rootName returns the name of the binary of the package at a module's root, as the
// toolchain chooses it: the last element of the path, or the one before if the last
// is a major version ("go help build": -o).
func rootName(modulePath string) string {
	if prefix, major, ok := module.SplitPathVersion(modulePath); ok && strings.HasPrefix(major, "/") {
		return path.Base(prefix)
	}
	return path.Base(modulePath)
}

// build is [Build] with the cache in a folder; "" is the default folder.
func build(ctx context.Context, source Source, target Target, cacheFolder string) (map[string]Binary, error) {
	if err := source.check(); err != nil {
		return nil, err
	}
	if source.Flags == nil {
		source.Flags = Flags()
	}
	cache, err := openCache(cacheFolder)
	if err != nil {
		return nil, err
	}
	temporary, err := cache.temporary()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	location, err := locate(ctx, source, filepath.Join(temporary, "module"))
	if err != nil {
		return nil, err
	}
	toolchain := toolchain{location: location, target: target, source: source}
	mains, files, err := toolchain.inspect(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range source.Packages {
		if toolchain.index(mains, p) < 0 {
			return nil, fmt.Errorf("%s in %s is not a main package: a handler needs \"package main\" and a main "+
				"function", p, location.directory)
		}
	}
	if former := cache.former(source.former, target, mains); former != nil {
		return toolchain.byPackage(mains, former), nil
	}
	linked, unlock, err := cache.linked(ctx, toolchain.describe(mains[0].module))
	if err != nil {
		return nil, err
	}
	defer unlock()
	cache.removeUnused()
	if toolchain.snapshot, err = snapshotOf(files, filepath.Join(temporary, "source")); err != nil {
		return nil, err
	}
	if err := toolchain.build(ctx, linked, temporary, mains); err != nil {
		return nil, err
	}
	binaries, damaged, err := cache.keepAll(linked, temporary, mains)
	if err == nil && len(damaged) > 0 {
		if err = toolchain.build(ctx, linked, temporary, damaged); err == nil {
			binaries, _, err = cache.keepAll(linked, temporary, mains)
		}
	}
	if err != nil {
		return nil, err
	}
	return toolchain.byPackage(mains, binaries), nil
}

// byPackage returns the binaries of the main packages by the packages of the source.
func (t toolchain) byPackage(mains []mainPackage, binaries []Binary) map[string]Binary {
	named := map[string]Binary{}
	for _, p := range t.source.Packages {
		named[Folder(p)] = binaries[t.index(mains, p)]
	}
	return named
}

// index returns where a package of the source is among the main packages, or -1.
func (t toolchain) index(mains []mainPackage, folder string) int {
	return slices.IndexFunc(mains, func(m mainPackage) bool { return slices.Contains(m.patterns, t.pattern(folder)) })
}

// check refuses sources that the toolchain would accept, or refuse with an unclear error.
func (s Source) check() error {
	if len(s.Packages) == 0 {
		return errors.New("Source.Packages is empty: name at least one main package")
	}
	if s.Module != "" && s.Directory != "" {
		return fmt.Errorf("Source.Module is %q and Source.Directory %q: leave one of them out", s.Module, s.Directory)
	}
	if strings.HasPrefix(s.Module, "-") {
		return fmt.Errorf("Source.Module is %q: write the path of a Go module, such as %q", s.Module,
			"example.com/orders")
	}
	for _, flag := range s.Flags {
		if !strings.HasPrefix(flag, "-") {
			return fmt.Errorf("Source.Flags has %q: write flags as -name=value", flag)
		}
	}
	for _, p := range s.Packages {
		if p == "" || strings.HasPrefix(p, "-") || path.IsAbs(p) {
			return fmt.Errorf("Source.Packages has %q: write the package's folder relative to the module, such as %q",
				p, "lambdas/hello")
		}
	}
	return nil
}

// toolchain runs the Go toolchain on one source.
type toolchain struct {
	location location
	target   Target
	source   Source
	// snapshot is what is built from.
	snapshot *Snapshot
}

// describe returns what must be equal for two builds of a module to share a folder.
func (t toolchain) describe(module string) string {
	flags := slices.Concat(t.source.Flags, t.location.flags)
	return fmt.Sprintf("%s %s %s %q", module, cmp.Or(t.location.origin, t.location.directory), t.target, flags)
}

// inspect returns the main packages among the packages, and the source files of all that they need, which may change.
func (t toolchain) inspect(ctx context.Context) (mains []mainPackage, files []string, err error) {
	compiler, _ := t.flags()
	arguments := append([]string{"list", "-deps", listFormat}, compiler...)
	for _, p := range t.source.Packages {
		arguments = append(arguments, t.pattern(p))
	}
	listing, err := t.run(ctx, arguments)
	if err != nil {
		return nil, nil, err
	}
	packages, err := readPackages(listing)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range packages {
		files = append(files, p.files...)
	}
	return mainsOf(packages, t.target), files, nil
}

// build writes a binary for each package into the folder that [mainPackage.in] returns. A binary that is up to date
// stays as it is. The temporary folder is on the same file system, so that the toolchain moves binaries instead of
// copying them. If one run of the toolchain fails, the others still build their packages.
func (t toolchain) build(ctx context.Context, folder, temporary string, mains []mainPackage) error {
	t.location.environment = append(slices.Clone(t.location.environment), "GOTMPDIR="+temporary)
	compiler, linker := t.flags()
	into := map[string][]mainPackage{}
	for _, m := range mains {
		into[m.in(folder)] = append(into[m.in(folder)], m)
	}
	var failure error
	for _, folder := range slices.Sorted(maps.Keys(into)) {
		// The trailing separator makes the toolchain treat the output as a folder
		// even when there is only one package.
		arguments := append([]string{"build", "-o", folder + string(filepath.Separator)}, compiler...)
		for _, m := range into[folder] {
			arguments = append(arguments, m.flag(linker))
		}
		for _, m := range into[folder] {
			arguments = append(arguments, m.importPath)
		}
		_, err := t.run(ctx, arguments)
		failure = cmp.Or(failure, err)
	}
	return failure
}

// flags returns the flags of the build, and those of the linker.
func (t toolchain) flags() (compiler []string, linker string) {
	for _, flag := range slices.Concat(t.source.Flags, t.location.flags) {
		if text, ok := strings.CutPrefix(flag, linkFlags); ok {
			linker = text
		} else {
			compiler = append(compiler, flag)
		}
	}
	return compiler, linker
}

// environment is added to that of this process. With a developer's settings for other builds, the binaries would differ
// between machines.
func (t toolchain) environment() []string {
	return append([]string{
		"CGO_ENABLED=0", "GOOS=" + t.target.System, "GOARCH=" + t.target.Processor,
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off", "GOFLAGS=",
	}, t.location.environment...)
}

func (t toolchain) run(ctx context.Context, arguments []string) ([]byte, error) {
	return t.runWith(ctx, t.environment(), arguments)
}

// runWith runs the toolchain with an environment added to that of this process.
func (t toolchain) runWith(ctx context.Context, environment, arguments []string) ([]byte, error) {
	// An overlay of the caller's own follows, and wins.
	arguments = slices.Insert(slices.Clone(arguments), 1, t.snapshot.flags()...)
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = t.location.directory
	command.Env = append(os.Environ(), environment...)
	if t.source.OwnGroup {
		ownGroup(command)
	}
	output, err := output(command)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("building %s: %w", strings.Join(t.source.Packages, ", "), context.Cause(ctx))
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, &CompileError{Packages: t.source.Packages, Directory: t.location.directory,
			Output: cmp.Or(t.snapshot.named(string(exit.Stderr), t.location.directory), exit.Error())}
	}
	if err != nil {
		return nil, err
	}
	return output, nil
}

// output runs a command and returns its standard output. An [*exec.ExitError] among its errors
// has the standard error.
func output(command *exec.Cmd) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("the handlers are built with the Go toolchain, which is not on the PATH: install Go "+
			"or add it to the PATH: %w", err)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		exit.Stderr = stderr.Bytes()
	}
	if err != nil {
		return nil, fmt.Errorf("running %s: %w", strings.Join(command.Args[:2], " "), err)
	}
	return stdout.Bytes(), nil
}
