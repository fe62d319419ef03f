package gobuild

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
)

// place is where and how the toolchain has to run to find a source's packages.
type place struct {
	// directory is the working directory.
	directory string
	// prefix goes before a package's folder to make it a package pattern.
	prefix string
	// flags and environment are added to every run.
	flags, environment []string
}

// libraryModule returns the path of the module that this package is part of. It is
// another one after the module is published under another path.
func libraryModule() string {
	return strings.TrimSuffix(reflect.TypeFor[place]().PkgPath(), "/gobuild")
}

// locate finds the source's module. It may fill the folder, which is there for as
// long as the build takes.
//
// Handlers are built in their module's own folder, with its own go.mod: built from an
// importer's folder they would need go.sum entries that the importer does not have,
// and would not be the same to the byte.
func locate(ctx context.Context, source Source, folder string) (place, error) {
	if source.Directory != "" {
		directory, err := filepath.Abs(source.Directory)
		if err != nil {
			return place{}, fmt.Errorf("resolving Source.Directory: %w", err)
		}
		if !isFolder(directory) {
			return place{}, fmt.Errorf("Source.Directory is %q, where there is no folder: name the folder of the handlers' Go module", source.Directory)
		}
		return place{directory: directory, prefix: "./"}, nil
	}
	module := cmp.Or(source.Module, libraryModule())
	from := source.From
	if from == nil {
		from = []string{"."}
	}
	var refusals []string
	for _, asked := range from {
		if !isFolder(asked) {
			continue
		}
		command := exec.CommandContext(ctx, "go", "list", "-m", "-f={{.Main}} {{.Dir}}", module)
		command.Dir = asked
		listing, err := output(command)
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
			// The folder's module does not know this one, as when a compiled
			// app is run from elsewhere.
			refusals = append(refusals, fmt.Sprintf("\n%s: %s", asked, strings.TrimSpace(string(exit.Stderr))))
			continue
		}
		if err != nil {
			return place{}, err
		}
		main, directory, _ := strings.Cut(strings.TrimSuffix(string(listing), "\n"), " ")
		if directory == "" {
			// This is how go list answers when a vendor folder is in use.
			return vendored(ctx, asked, module, source.Packages, folder)
		}
		found := inFolder(directory)
		// A module that is being worked on may have its requirements from its workspace.
		if module != libraryModule() && main == "true" {
			found.environment = nil
		}
		return found, nil
	}
	directory, err := download(ctx, module)
	if err != nil {
		return place{}, fmt.Errorf("%w%s", err, strings.Join(refusals, ""))
	}
	return inFolder(directory), nil
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// inFolder is a module as it is published, without its workspace.
func inFolder(directory string) place {
	return place{directory: directory, prefix: "./", environment: []string{"GOWORK=off"}}
}

// download returns the module's folder in the module cache, in the version that
// this program was built with.
func download(ctx context.Context, module string) (string, error) {
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = versionOf(info, module)
	}
	if version == "" {
		return "", fmt.Errorf("%w: %s", ErrUnknownModule, module)
	}
	listing, err := output(exec.CommandContext(ctx, "go", "mod", "download", "-json", module+"@"+version))
	if err != nil {
		return "", fmt.Errorf("%w: %s: fetching %s, the version that this program was built with: %w", ErrUnknownModule, module, version, failure(err))
	}
	var answer struct{ Dir string }
	if err := json.Unmarshal(listing, &answer); err != nil || answer.Dir == "" {
		return "", fmt.Errorf("fetching %s@%s: go mod download gave the unexpected answer %q", module, version, listing)
	}
	return answer.Dir, nil
}

// versionOf returns the version of a module that a program was built with, or ""
// if it has none, or was built with a folder.
func versionOf(info *debug.BuildInfo, module string) string {
	for _, m := range append(info.Deps, &info.Main) {
		// A build of a changed checkout has a version that cannot be fetched.
		if m.Path == module && m.Replace == nil && m.Version != noVersion && !strings.HasSuffix(m.Version, "+dirty") {
			return m.Version
		}
	}
	return ""
}
