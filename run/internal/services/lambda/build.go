package lambda

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onesynth-cdk/onesynth/internal/gobuild"
)

// progressInterval is the time between two progress lines of a build.
const progressInterval = 5 * time.Second

// foreign is one build of functions that are for another machine: of one module, for one target, with the same flags.
type foreign struct {
	source gobuild.Source
	// target is the target of the assembly's binaries.
	target    gobuild.Target
	directory string
	functions []*Declared

	// own are the binaries for this machine, and again those for the target.
	own, again map[string]gobuild.Binary
}

// takes says whether the function can be part of the build.
func (b *foreign) takes(f *Declared, target gobuild.Target) bool {
	return b.source.Module == f.recipe.Module && b.directory == f.recipe.Directory && b.target == target &&
		slices.Equal(b.source.Flags, f.recipe.Flags)
}

// BuildForThisMachine builds functions whose binaries are for another machine again for this one, if they have a
// recipe.
//
// With compare it builds for the other machine, too. If that gives other binaries than the assembly's, the source
// here is not the assembly's, and it warns. After a synth on the same machine these builds come from the cache.
//
// The folders are those whose Go modules may require the functions' modules. Log gets lines of progress and the
// warning.
func BuildForThisMachine(ctx context.Context, functions []Declared, folders []string, compare bool,
	log func(line string)) error {
	builds := foreignBuilds(functions, folders)
	if len(builds) == 0 {
		return nil
	}
	count, targets := 0, []string(nil)
	for _, b := range builds {
		count += len(b.functions)
		targets = append(targets, b.target.String())
	}
	slices.Sort(targets)
	what := fmt.Sprintf("%s for %s (template: %s)", counted(count, "function"), gobuild.Host(),
		strings.Join(slices.Compact(targets), ", "))
	began := time.Now()
	if err := during("building "+what, log, func() error { return build(ctx, builds, compare) }); err != nil {
		return fmt.Errorf("building %s: %w", what, err)
	}
	log(fmt.Sprintf("built %s in %.1f s", what, time.Since(began).Seconds()))

	var changed []string
	for _, b := range builds {
		for _, f := range b.functions {
			folder := gobuild.Folder(f.recipe.Package)
			if compare {
				same, err := isBinary(filepath.Join(f.Code, "bootstrap"), b.again[folder].Hash)
				if err != nil {
					return fmt.Errorf("function %s: %w", f.Name, err)
				}
				if !same {
					changed = append(changed, f.recipe.Package)
				}
			}
			f.Code, f.Architecture = b.own[folder].Directory, ""
		}
	}
	if len(changed) > 0 {
		slices.Sort(changed)
		log(fmt.Sprintf("warning: what runs is not the assembly's code: the source here, or the version of Go, gives "+
			"other binaries of %s; synthesise again",
			strings.Join(slices.Compact(changed), ", ")))
	}
	return nil
}

// foreignBuilds groups the functions that have a recipe and do not run here into as few builds as possible.
func foreignBuilds(functions []Declared, searched []string) []*foreign {
	return builds(functions, searched, func(f *Declared) (gobuild.Target, bool) {
		foreign := errors.Is(CheckBootstrap(f.Code, f.Architecture), ErrArchitecture)
		return gobuild.Target{System: "linux", Processor: Processor(f.Architecture)}, foreign
	})
}

// builds groups the functions that have a recipe and a target into as few builds as possible.
func builds(functions []Declared, searched []string, targetOf func(*Declared) (gobuild.Target, bool)) []*foreign {
	var builds []*foreign
	for i := range functions {
		f := &functions[i]
		if f.recipe == nil {
			continue
		}
		target, ok := targetOf(f)
		if !ok {
			continue
		}
		at := slices.IndexFunc(builds, func(b *foreign) bool { return b.takes(f, target) })
		if at < 0 {
			at = len(builds)
			b := &foreign{source: gobuild.Source{Module: f.recipe.Module, Flags: f.recipe.Flags, OwnGroup: true},
				target: target, directory: f.recipe.Directory}
			for _, folder := range searched {
				if b.directory != "" {
					b.source.From = append(b.source.From, filepath.Join(folder, filepath.FromSlash(b.directory)))
				}
				b.source.From = append(b.source.From, folder)
			}
			builds = append(builds, b)
		}
		b := builds[at]
		b.functions = append(b.functions, f)
		if !slices.Contains(b.source.Packages, f.recipe.Package) {
			b.source.Packages = append(b.source.Packages, f.recipe.Package)
		}
	}
	return builds
}

// build runs all builds in parallel; with again it builds for the other machine, too.
func build(ctx context.Context, builds []*foreign, again bool) error {
	var working sync.WaitGroup
	failures := make([]error, 2*len(builds))
	for i, b := range builds {
		working.Go(func() { b.own, failures[2*i] = gobuild.Build(ctx, b.source, gobuild.Host()) })
		if again {
			working.Go(func() { b.again, failures[2*i+1] = gobuild.Build(ctx, b.source, b.target) })
		}
	}
	working.Wait()
	// Both builds of a source have the same cause.
	err := cmp.Or(failures...)
	if errors.Is(err, gobuild.ErrUnknownModule) {
		return fmt.Errorf("%w\nrun onesynth in the folder of the app that the assembly is from: its go.mod says "+
			"where the module is", err)
	}
	return err
}

// isBinary says whether the file's SHA-256, in hexadecimal, is the hash.
func isBinary(name, hash string) (bool, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]) == hash, nil
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// during prints progress lines while the work takes long.
func during(what string, log func(line string), work func() error) error {
	done := make(chan struct{})
	var speaking sync.WaitGroup
	speaking.Go(func() {
		began, next := time.Now(), time.NewTicker(progressInterval)
		defer next.Stop()
		for {
			select {
			case <-next.C:
				log(fmt.Sprintf("%s: %.0f s", what, time.Since(began).Seconds()))
			case <-done:
				return
			}
		}
	})
	err := work()
	close(done)
	speaking.Wait()
	return err
}
