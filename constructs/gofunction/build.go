package gofunction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onesynth-cdk/onesynth/internal/gobuild"
	"github.com/onesynth-cdk/onesynth/schema/finding"
)

// Source names main packages to build, and the processor to build them for.
type Source struct {
	// Module is the path of the packages' Go module, such as "example.com/orders": the module of the working directory,
	// or one that it requires, wherever the Go toolchain keeps it. The build uses that module's own go.mod. Default:
	// the module of this library.
	Module string
	// Directory names the folder of that module, absolute or relative to the working directory, which in a test is the
	// folder of its package. Default: the Go toolchain finds it.
	Directory string
	// Packages are the folders of the main packages, relative to the module's, such as "lambdas/askahuman/agentapi".
	Packages []string
	// Architecture is the processor to build for. Default: [ARM64].
	Architecture Architecture
}

// Binary is a built handler, ready to be an asset. The asset's hash is made of its
// Hash alone.
type Binary struct {
	gobuild.Binary
	// Architecture is what it was built for.
	Architecture Architecture
}

// CompileError says that the Go toolchain could not build the packages.
type CompileError = gobuild.CompileError

// Build is a build under way. Begin one with [Start].
type Build struct {
	source   Source
	done     chan struct{}
	binaries map[string]gobuild.Binary
	err      error
	// pruned are the output folders that prune has been through for a function of the build, and the scopes of those.
	pruned map[any]bool
}

// Start begins to build the packages and returns at once: the build then runs
// beside the start of the CDK. Cancelling ctx ends it.
//
// One run of the Go toolchain, which must be on the PATH, builds all packages. Of those with equal last elements, each
// further one takes a run of its own. The build compiles and links nothing if nothing has changed since the last one:
// binaries are kept by content in the folder that ONESYNTH_CACHE names, or else in "onesynth" below the user's cache
// folder.
func Start(ctx context.Context, source Source) *Build {
	b := &Build{source: source, done: make(chan struct{}), pruned: map[any]bool{}}
	go func() {
		defer close(b.done)
		b.binaries, b.err = source.build(ctx)
	}()
	return b
}

// Check adds a finding at path if the build was not begun, does not have exactly one package of each name
// ([Build.Binary]), or is for another architecture; an empty architecture allows any. It does not wait for the build. A
// nil build is the default, and valid.
func (b *Build) Check(f *finding.List, path string, architecture Architecture, names ...string) {
	if b == nil {
		return
	}
	if b.done == nil {
		f.Add(path, "a build that was never begun", "one that gofunction.Start has begun",
			"begin it with gofunction.Start, or leave it out")
		return
	}
	lacks := func(name string) bool { return len(b.packages(name)) == 0 }
	if slices.ContainsFunc(names, lacks) {
		f.Add(path, "a build of "+strings.Join(b.source.Packages, ", "), "one of "+strings.Join(names, ", "),
			"name their packages in Source.Packages: a platform's Handlers do")
	}
	for _, name := range names {
		if found := b.packages(name); len(found) > 1 {
			f.Add(path, name+", the last element of "+strings.Join(found, " and of "), "the name of one package",
				"write more of the path's last elements")
		}
	}
	if of := cmp.Or(b.source.Architecture, ARM64); architecture != "" && of != architecture {
		f.Add(path, "a build for "+string(of), "one for "+string(architecture)+", the Architecture",
			"build for it, or leave the Architecture out: then it is the build's")
	}
}

// Source returns what the build builds.
func (b *Build) Source() Source { return b.source }

// Wait blocks until the build has ended. It returns a [*CompileError] if the toolchain refused the packages, and other
// errors if the module or the toolchain is missing, or if no one began the build.
func (b *Build) Wait() error {
	if b.done == nil {
		return errors.New("the build was never begun: begin it with gofunction.Start")
	}
	<-b.done
	return b.err
}

// Binary waits for the build and returns the binary of the package with that name: the last element of the package's
// path, or more of its last elements where several packages have that one. It returns the errors of [Build.Wait], and
// an error if the name is of no package of the build, or of several.
func (b *Build) Binary(name string) (Binary, error) {
	if err := b.Wait(); err != nil {
		return Binary{}, err
	}
	switch found := b.packages(name); len(found) {
	case 0:
		return Binary{}, fmt.Errorf("the build has no function %q: it has %s; name its package in Source.Packages",
			name, strings.Join(b.source.Packages, ", "))
	case 1:
		return Binary{Binary: b.binaries[found[0]], Architecture: cmp.Or(b.source.Architecture, ARM64)}, nil
	default:
		return Binary{}, fmt.Errorf("the build has several functions %q: %s; write more of the path's last elements",
			name, strings.Join(found, ", "))
	}
}

// packages returns the packages of the build that have the name. A whole path is of one package alone.
func (b *Build) packages(name string) (named []string) {
	for _, p := range b.source.Packages {
		switch folder := gobuild.Folder(p); {
		case folder == name:
			return []string{folder}
		case strings.HasSuffix(folder, "/"+name) && !slices.Contains(named, folder):
			named = append(named, folder)
		}
	}
	return named
}

// NameOf returns the name of a platform's function for [Build.Binary]. It is PLATFORM/FUNCTION if the path of a package
// ends so, and otherwise FUNCTION. If the build has packages of the platform, and a package FUNCTION in the folder of
// another platform, the name stays PLATFORM/FUNCTION: a platform does not run the function of another one.
func (b *Build) NameOf(platform, function string) string {
	whole := platform + "/" + function
	if b == nil || len(b.packages(whole)) > 0 {
		return whole
	}
	for _, other := range b.packages(function) {
		for _, p := range b.source.Packages {
			folder := path.Dir(gobuild.Folder(p))
			if path.Base(folder) == platform && path.Dir(folder) == path.Dir(path.Dir(other)) {
				return whole
			}
		}
	}
	return function
}

// build builds the source for AWS Lambda.
func (s Source) build(ctx context.Context) (map[string]gobuild.Binary, error) {
	if !s.Architecture.Valid() {
		return nil, fmt.Errorf("Source.Architecture is %q: it must be %q or %q", s.Architecture, ARM64, X86_64)
	}
	binaries, err := gobuild.Build(ctx,
		gobuild.Source{Module: s.Module, Directory: s.Directory, Packages: s.Packages},
		gobuild.Target{System: "linux", Processor: s.Architecture.goarch()})
	if errors.Is(err, gobuild.ErrUnknownModule) {
		return nil, fmt.Errorf("%w\nrun the app from the folder of the module that requires it", err)
	}
	return binaries, err
}

// recipe says in the template how the binary was built. A folder that the app wrote
// relative to its own is the same on every machine; another one is not.
func (b *Build) recipe(binary Binary) gobuild.Recipe {
	recipe := gobuild.Recipe{Module: binary.Module, Package: binary.Package, Flags: gobuild.Flags()}
	if directory := filepath.Clean(b.source.Directory); directory != "." && !filepath.IsAbs(directory) {
		recipe.Directory = filepath.ToSlash(directory)
	}
	return recipe
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
