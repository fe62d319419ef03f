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

// location says where, and with which flags, the toolchain finds the packages of a source.
type location struct {
	// directory is the working directory.
	directory string
	// prefix turns the folder of a package into a package pattern.
	prefix string
	// flags and environment are added to every run.
	flags, environment []string
	// origin is the folder that a directory which ends with the build is a copy of; otherwise it is empty.
	origin string
}

// libraryModule returns the path of this package's module, which changes if the module is
// published under another path.
func libraryModule() string {
	return strings.TrimSuffix(reflect.TypeFor[location]().PkgPath(), "/internal/gobuild")
}

// locate finds the module of the source. It may write into the folder, which exists until the
// build ends.
//
// Handlers are built in their module's own folder, with its own go.mod: built from an
// importer's folder they would need go.sum entries that the importer does not have,
// and would not be the same to the byte.
func locate(ctx context.Context, source Source, folder string) (location, error) {
	if source.Directory != "" {
		directory, err := filepath.Abs(source.Directory)
		if err != nil {
			return location{}, fmt.Errorf("resolving Source.Directory: %w", err)
		}
		if !isFolder(directory) {
			return location{}, fmt.Errorf("Source.Directory is %q, where there is no folder: name the folder of the "+
				"handlers' Go module", source.Directory)
		}
		return location{directory: directory, prefix: "./"}, nil
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
			// The module of the folder does not require this one, for example because a
			// compiled app runs in another folder.
			refusals = append(refusals, fmt.Sprintf("\n%s: %s", asked, strings.TrimSpace(string(exit.Stderr))))
			continue
		}
		if err != nil {
			return location{}, err
		}
		main, directory, _ := strings.Cut(strings.TrimSuffix(string(listing), "\n"), " ")
		if directory == "" {
			// go list prints this if a vendor folder is in use.
			return vendored(ctx, asked, module, source.Packages, folder)
		}
		found := inFolder(directory)
		// A module in a workspace may get its requirements from it.
		if module != libraryModule() && main == "true" {
			found.environment = nil
		}
		return found, nil
	}
	directory, err := download(ctx, module)
	if err != nil {
		return location{}, fmt.Errorf("%w%s", err, strings.Join(refusals, ""))
	}
	return inFolder(directory), nil
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// inFolder returns the place of a module in a folder, without a workspace.
func inFolder(directory string) location {
	return location{directory: directory, prefix: "./", environment: []string{"GOWORK=off"}}
}

// download returns the folder in the module cache of the module's version in this program.
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
		return "", fmt.Errorf("%w: %s: fetching %s, the version that this program was built with: %w", ErrUnknownModule,
			module, version, failure(err))
	}
	var answer struct{ Dir string }
	if err := json.Unmarshal(listing, &answer); err != nil || answer.Dir == "" {
		return "", fmt.Errorf("fetching %s@%s: go mod download gave the unexpected answer %q", module, version, listing)
	}
	return answer.Dir, nil
}

// versionOf returns the version of a module in a program, or "" if the program does not have
// the module, or has it from a folder.
func versionOf(info *debug.BuildInfo, module string) string {
	for _, m := range append(info.Deps, &info.Main) {
		// A modified checkout has a version that no proxy has.
		if m.Path == module && m.Replace == nil && m.Version != noVersion && !strings.HasSuffix(m.Version, "+dirty") {
			return m.Version
		}
	}
	return ""
}
