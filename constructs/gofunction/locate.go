package gofunction

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

// libraryModule returns the path of the module that this package is part of,
// which whoever publishes the module under another path has changed.
func libraryModule() string {
	return strings.TrimSuffix(reflect.TypeFor[place]().PkgPath(), "/constructs/gofunction")
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
		if info, err := os.Stat(directory); err != nil || !info.IsDir() {
			return place{}, fmt.Errorf("Source.Directory is %q, where there is no folder: name the folder of the handlers' Go module", source.Directory)
		}
		return place{directory: directory, prefix: "./"}, nil
	}
	module := cmp.Or(source.Module, libraryModule())
	listing, err := output(exec.CommandContext(ctx, "go", "list", "-m", "-f={{.Main}} {{.Dir}}", module))
	main, directory, _ := strings.Cut(strings.TrimSuffix(string(listing), "\n"), " ")
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		// The working directory is not that of a module which knows this one, as when
		// a compiled app is run from elsewhere.
		if directory, err = download(ctx, module); err != nil {
			return place{}, fmt.Errorf("%w\ngo list -m: %s", err, strings.TrimSpace(string(exit.Stderr)))
		}
	case err != nil:
		return place{}, err
	case directory == "":
		// This is how go list answers when a vendor folder is in use.
		return vendored(ctx, module, source.Packages, folder)
	}
	found := place{directory: directory, prefix: "./"}
	// A module that is being worked on may have its requirements from its workspace.
	if source.Module == "" || main != "true" {
		found.environment = []string{"GOWORK=off"}
	}
	return found, nil
}

// download returns the module's folder in the module cache, in the version that
// this program was built with.
func download(ctx context.Context, module string) (string, error) {
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module && dependency.Replace == nil {
				version = dependency.Version
			}
		}
	}
	if version == "" || version == "(devel)" {
		return "", fmt.Errorf("the folder of module %s is not known here: run the app from the folder of the module that requires it", module)
	}
	listing, err := output(exec.CommandContext(ctx, "go", "mod", "download", "-json", module+"@"+version))
	if err != nil {
		return "", fmt.Errorf("finding %s@%s in the module cache: %w", module, version, err)
	}
	var answer struct{ Dir string }
	if err := json.Unmarshal(listing, &answer); err != nil || answer.Dir == "" {
		return "", fmt.Errorf("finding %s@%s in the module cache: unexpected answer %q", module, version, listing)
	}
	return answer.Dir, nil
}
