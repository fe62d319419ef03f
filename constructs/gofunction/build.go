package gofunction

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/onesynth-cdk/onesynth/constructs/props"
)

// Source says which main packages to build, and for what.
type Source struct {
	// Module is the path of the Go module that the packages belong to, such as
	// "example.com/orders": the module of the working directory, or one that it
	// requires, wherever the Go toolchain keeps it. It is built with its own go.mod.
	// Default: the module of this library.
	Module string
	// Directory is the folder of that module instead, absolute or relative to the
	// working directory: in a test, that is the folder of the test's package. Default:
	// the Go toolchain is asked.
	Directory string
	// Packages are the main packages, relative to the module's folder, such as
	// "lambdas/askahuman/agentapi". The last element is the function's name in
	// [Build.Binary] and must be unique.
	Packages []string
	// Architecture is the processor to build for. Default: [ARM64].
	Architecture Architecture
	// OperatingSystem is what to build for, in Go's spelling. Default: "linux", the
	// system of AWS Lambda. With another, the assembly runs on a developer's machine
	// of that system, and must not be deployed.
	OperatingSystem string
}

// Binary is a built handler, ready to be an asset.
type Binary struct {
	// Directory holds the binary, called "bootstrap", and nothing else.
	Directory string
	// Hash is the SHA-256 of the binary in hexadecimal. The asset's hash is made of
	// it alone: the same source gives the same one in any folder on any machine
	// that has the same release of Go.
	Hash string
	// Size is the binary's size in bytes.
	Size int64
	// Architecture is what it was built for.
	Architecture Architecture
}

// CompileError says that the Go toolchain could not build the packages.
type CompileError struct {
	// Packages are those of the [Source].
	Packages []string
	// Directory is where the toolchain ran.
	Directory string
	// Output is what the toolchain printed.
	Output string
}

// Error returns the toolchain's output below a line that says what was built.
func (e *CompileError) Error() string {
	return fmt.Sprintf("building %s in %s:\n%s", strings.Join(e.Packages, ", "), e.Directory, strings.TrimSpace(e.Output))
}

// Build is a build under way. Begin one with [Start].
type Build struct {
	source   Source
	done     chan struct{}
	binaries map[string]Binary
	err      error
}

// Start begins to build the packages and returns at once: the build then runs
// beside the start of the CDK. Cancelling ctx ends it.
//
// All packages are built by one run of the Go toolchain, which must be on the
// PATH. Nothing is compiled or linked when nothing has changed since the last
// build: binaries are kept by content in the folder that ONESYNTH_CACHE names,
// or else in "onesynth" below the user's cache folder.
func Start(ctx context.Context, source Source) *Build {
	b := &Build{source: source, done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.binaries, b.err = build(ctx, source, os.Getenv(cacheVariable))
	}()
	return b
}

// Check adds a finding at path if the build was not begun, or is not one of the
// functions for the architecture; without an architecture any is right. It does
// not wait for the build. nil is the default.
func (b *Build) Check(f *props.Findings, path string, architecture Architecture, functions ...string) {
	if b == nil {
		return
	}
	if b.done == nil {
		f.Add(path, "a build that was never begun", "one that gofunction.Start has begun", "begin it with gofunction.Start, or leave it out")
		return
	}
	var built []string
	for _, p := range b.source.Packages {
		built = append(built, nameOf(p))
	}
	lacks := func(name string) bool { return !slices.Contains(built, name) }
	if slices.ContainsFunc(functions, lacks) {
		f.Add(path, "a build of "+strings.Join(built, ", "), "one of "+strings.Join(functions, ", "), "name their packages in Source.Packages: a platform's Handlers do")
	}
	if of := cmp.Or(b.source.Architecture, ARM64); architecture != "" && of != architecture {
		f.Add(path, "a build for "+string(of), "one for "+string(architecture)+", the Architecture", "build for it, or leave the Architecture out: then it is the build's")
	}
}

// Source returns what it is a build of.
func (b *Build) Source() Source { return b.source }

// nameOf is the name of the function that a package becomes.
func nameOf(folder string) string { return path.Base(path.Clean(folder)) }

// Wait blocks until the build has ended. It returns a [*CompileError] when the
// toolchain refused the packages, and other errors when the module or the
// toolchain is not there, or when the build was never begun.
func (b *Build) Wait() error {
	if b.done == nil {
		return errors.New("the build was never begun: begin it with gofunction.Start")
	}
	<-b.done
	return b.err
}

// Binary waits for the build and returns the binary of the package whose last
// path element is name. The errors are those of [Build.Wait], and an error if
// the build has no such package.
func (b *Build) Binary(name string) (Binary, error) {
	if err := b.Wait(); err != nil {
		return Binary{}, err
	}
	binary, ok := b.binaries[name]
	if !ok {
		var names []string
		for n := range b.binaries {
			names = append(names, n)
		}
		sort.Strings(names)
		return Binary{}, fmt.Errorf("the build has no function %q: it has %s; name its package in Source.Packages", name, strings.Join(names, ", "))
	}
	return binary, nil
}

// buildFlags make a build reproducible and small, and leave out the RPC mode
// that only the retired go1.x runtime used ("Define Lambda function handlers in
// Go", AWS Lambda developer guide).
var buildFlags = []string{"-trimpath", "-buildvcs=false", "-tags=lambda.norpc"}

// linkFlags belong to them: no symbols, no debugging information, no build ID.
const linkFlags = "-s -w -buildid="

// build returns the binaries by name, from the cache in the folder, or from the
// default one if that is empty.
func build(ctx context.Context, source Source, cacheFolder string) (map[string]Binary, error) {
	if err := source.check(); err != nil {
		return nil, err
	}
	if source.Architecture == "" {
		source.Architecture = ARM64
	}
	if source.OperatingSystem == "" {
		source.OperatingSystem = "linux"
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
	place, err := locate(ctx, source, filepath.Join(temporary, "module"))
	if err != nil {
		return nil, err
	}
	toolchain := toolchain{place: place, architecture: source.Architecture, system: source.OperatingSystem, packages: source.Packages}
	stamps, key, err := toolchain.inspect(ctx)
	if err != nil {
		return nil, err
	}
	binaries, err := cache.read(key, source.Architecture)
	if err == nil {
		return binaries, nil
	}
	if !errors.Is(err, errMiss) {
		return nil, err
	}
	output := filepath.Join(temporary, "output")
	if err := toolchain.build(ctx, output, stamps); err != nil {
		return nil, err
	}
	for _, p := range source.Packages {
		if _, err := os.Stat(filepath.Join(output, nameOf(p))); err != nil {
			return nil, fmt.Errorf("%s in %s is not a main package: a handler needs \"package main\" and a main function", p, place.directory)
		}
	}
	return cache.write(key, output, source.Architecture)
}

// check finds what the toolchain would report badly or not at all.
func (s Source) check() error {
	if len(s.Packages) == 0 {
		return errors.New("Source.Packages is empty: name at least one main package")
	}
	if s.Module != "" && s.Directory != "" {
		return fmt.Errorf("Source.Module is %q and Source.Directory %q: leave one of them out", s.Module, s.Directory)
	}
	if !s.Architecture.Valid() {
		return fmt.Errorf("Source.Architecture is %q: it must be %q or %q", s.Architecture, ARM64, X86_64)
	}
	names := map[string]string{}
	for _, p := range s.Packages {
		if p == "" || strings.HasPrefix(p, "-") || path.IsAbs(p) {
			return fmt.Errorf("Source.Packages has %q: write the package's folder relative to the module, such as %q", p, "lambdas/hello")
		}
		name := nameOf(p)
		if other, ok := names[name]; ok {
			return fmt.Errorf("Source.Packages has both %q and %q: their last elements must differ, rename one folder", other, p)
		}
		names[name] = p
	}
	return nil
}

// toolchain runs the Go toolchain for one source.
type toolchain struct {
	place        place
	architecture Architecture
	system       string
	packages     []string
}

// inspect returns the stamps of the main packages, and a key for what a build
// would give: it is made of the build IDs of all packages that go into the
// binaries, which cover their source, the compiler and its settings, and of the
// flags of the linker.
func (t toolchain) inspect(ctx context.Context) (stamps []stamp, key string, err error) {
	arguments := append([]string{"list", "-export", "-deps", listFormat}, t.flags()...)
	listing, err := t.run(ctx, append(arguments, t.patterns()...))
	if err != nil {
		return nil, "", err
	}
	packages, err := readPackages(listing)
	if err != nil {
		return nil, "", err
	}
	stamps = stampsOf(packages, t.system, t.architecture.goarch())
	h := sha256.New()
	fmt.Fprintln(h, t.system, t.architecture.goarch(), t.flags(), t.packages, stamps)
	for _, p := range packages {
		fmt.Fprintln(h, p.importPath, p.buildID)
	}
	return stamps, hex.EncodeToString(h.Sum(nil)), nil
}

// build writes one binary per package into the folder.
func (t toolchain) build(ctx context.Context, folder string, stamps []stamp) error {
	// The trailing separator makes the toolchain treat the output as a folder
	// even when there is only one package.
	arguments := append([]string{"build", "-o", folder + string(filepath.Separator)}, t.flags()...)
	for _, s := range stamps {
		arguments = append(arguments, s.flag())
	}
	_, err := t.run(ctx, append(arguments, t.patterns()...))
	return err
}

func (t toolchain) flags() []string {
	return append(append([]string(nil), buildFlags...), t.place.flags...)
}

func (t toolchain) patterns() []string {
	var patterns []string
	for _, p := range t.packages {
		patterns = append(patterns, t.place.prefix+path.Clean(filepath.ToSlash(p)))
	}
	return patterns
}

func (t toolchain) run(ctx context.Context, arguments []string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = t.place.directory
	// What a developer has set for other builds must not reach these: the
	// binaries would differ from one machine to the next.
	command.Env = append(os.Environ(),
		"CGO_ENABLED=0", "GOOS="+t.system, "GOARCH="+t.architecture.goarch(),
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off", "GOFLAGS=")
	command.Env = append(command.Env, t.place.environment...)
	output, err := output(command)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("building %s: %w", strings.Join(t.packages, ", "), context.Cause(ctx))
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, &CompileError{Packages: t.packages, Directory: t.place.directory, Output: string(exit.Stderr)}
	}
	if err != nil {
		return nil, err
	}
	return output, nil
}

// output runs a command and returns what it printed; with an [*exec.ExitError]
// comes all that it printed on standard error.
func output(command *exec.Cmd) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("the handlers are built with the Go toolchain, which is not on the PATH: install Go or add it to the PATH: %w", err)
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

// digest returns the SHA-256 of a file in hexadecimal, and its size in bytes.
func digest(name string) (string, int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err != nil {
		return "", 0, fmt.Errorf("reading %s: %w", name, err)
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// ownModule returns the source of one main package of the caller's own module,
// and the name that its binary will have.
func ownModule(folder string, architecture Architecture) (Source, string) {
	folder = filepath.Clean(folder)
	return Source{
		Directory:    filepath.Dir(folder),
		Packages:     []string{filepath.Base(folder)},
		Architecture: architecture,
	}, filepath.Base(folder)
}
