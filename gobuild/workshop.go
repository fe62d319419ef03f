package gobuild

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Workshop builds functions of one module for this machine again and again, for a developer who waits for them. It uses
// the flags of the source, so it finds compiled what a synth has compiled, and leaves out what a deployment needs alone: the
// stamp, the hash and the cache of binaries. Packages that have changed are compiled without inlining, which takes
// a third less time, and debuggers and stack traces see more. Make one with [OpenWorkshop]. It is not for concurrent use.
type Workshop struct {
	place  place
	source Source
	// changed are the import paths of packages that are compiled without inlining. None leaves the set: it would have to be
	// compiled again.
	changed []string
}

// OpenWorkshop finds the module of the source, as [Build] does. It may write into the folder, which must stay as long as the
// workshop is used. Errors as of [Build].
func OpenWorkshop(ctx context.Context, source Source, folder string) (*Workshop, error) {
	if err := source.check(); err != nil {
		return nil, err
	}
	if source.Flags == nil {
		source.Flags = Flags()
	}
	found, err := locate(ctx, source, folder)
	if err != nil {
		return nil, err
	}
	source.OwnGroup = true
	return &Workshop{place: found, source: source}, nil
}

// Listing says how "go list" finds what the functions are made of.
type Listing struct {
	// Directory is the working directory.
	Directory string
	// Environment is added to that of this process.
	Environment []string
	// Flags precede Patterns.
	Flags, Patterns []string
}

// Listing is that of the source's packages.
func (w *Workshop) Listing() Listing {
	t := toolchain{place: w.place, target: Host(), source: w.source}
	compiler, _ := t.flags()
	listing := Listing{Directory: w.place.directory, Environment: t.environment(), Flags: compiler}
	for _, p := range w.source.Packages {
		listing.Patterns = append(listing.Patterns, t.pattern(p))
	}
	return listing
}

// Mode is how a [Workshop] builds.
type Mode int

const (
	// Quick is for the next request.
	Quick Mode = iota
	// Debug is for a debugger: nothing is optimised, and the binaries name files by their paths on this machine.
	Debug
)

// workshopGC lets the compiler and the linker use more memory, which saves a tenth of the time. One's own GOGC wins.
const workshopGC = "400"

// Build builds some of the source's packages by one run of the Go toolchain. Changed are the import paths of packages that
// have changed since the last build, with those that import them. Each binary comes into a folder of its own below the
// given one, as bootstrap; the answer has these folders by package. The end of ctx ends the toolchain with all that it
// started. Errors: [*CompileError], [exec.ErrNotFound] without a toolchain, and the cause when ctx ends.
func (w *Workshop) Build(ctx context.Context, packages, changed []string, mode Mode, folder string) (map[string]string, error) {
	for _, p := range changed {
		if !slices.Contains(w.changed, p) {
			w.changed = append(w.changed, p)
		}
	}
	source := w.source
	source.Packages = packages
	t := toolchain{place: w.place, target: Host(), source: source}
	output := filepath.Join(folder, "output")
	compiler, linker := t.flags()
	arguments := []string{"build", "-o", output + string(filepath.Separator)}
	switch mode {
	case Debug:
		// A compiler's flags apply to the packages of the last pattern that fits, so these are the only ones.
		compiler = slices.DeleteFunc(compiler, func(flag string) bool { return flag == "-trimpath" || strings.HasPrefix(flag, "-gcflags=") })
		arguments = append(append(arguments, compiler...), "-gcflags=all=-N -l")
	default:
		arguments = append(arguments, compiler...)
		if !slices.ContainsFunc(compiler, func(flag string) bool { return strings.HasPrefix(flag, "-gcflags=") }) {
			for _, p := range w.changed {
				arguments = append(arguments, "-gcflags="+p+"=-l")
			}
		}
		if linker != "" {
			arguments = append(arguments, linkFlags+linker)
		}
	}
	for _, p := range packages {
		arguments = append(arguments, t.pattern(p))
	}
	if os.Getenv("GOGC") == "" {
		t.place.environment = append(slices.Clone(t.place.environment), "GOGC="+workshopGC)
	}
	if _, err := t.run(ctx, arguments); err != nil {
		return nil, err
	}
	folders := map[string]string{}
	for _, p := range packages {
		name := Recipe{Module: w.source.Module, Package: p}.Name()
		folders[p] = filepath.Join(folder, name)
		if err := os.MkdirAll(folders[p], 0o700); err != nil {
			return nil, fmt.Errorf("building %s: %w", p, err)
		}
		if err := os.Rename(filepath.Join(output, name), filepath.Join(folders[p], "bootstrap")); err != nil {
			return nil, fmt.Errorf("%s is not a main package: a handler needs \"package main\" and a main function: %w", p, err)
		}
	}
	return folders, nil
}

// pattern is the package as "go list" and "go build" take it.
func (t toolchain) pattern(folder string) string {
	return t.place.prefix + path.Clean(filepath.ToSlash(folder))
}

// position is a file and a line in what the toolchain prints.
var position = regexp.MustCompile(`(?m)^(vet: )?([^\s:#][^\s:]*\.go):(\d+)`)

// Text is what the toolchain printed, with names of files relative to a folder, such as the one that a developer works in.
func (e *CompileError) Text(folder string) string {
	text := position.ReplaceAllStringFunc(strings.TrimSpace(e.Output), func(found string) string {
		parts := position.FindStringSubmatch(found)
		name := parts[2]
		if !filepath.IsAbs(name) {
			name = filepath.Join(e.Directory, name)
		}
		if relative, err := filepath.Rel(folder, name); err == nil {
			name = relative
		}
		return parts[1] + name + ":" + parts[3]
	})
	return text
}
