package lakecommand

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// name is the command's.
const name = "onesynth-lake"

// undetermined is the version of a module that was built from a folder.
const undetermined = "(devel)"

// program is the one that asks, whose version the command must have.
type program struct {
	// module and version are those of its main package.
	module, version string
	// beside are the folders where the command may be, PATH aside.
	beside []string
	// cache is the folder of what was built; empty where there is none.
	cache string
}

func thisProgram() program {
	p := program{version: undetermined}
	if info, ok := debug.ReadBuildInfo(); ok {
		p.module, p.version = info.Main.Path, versionOf(info.Main)
	}
	if path, err := os.Executable(); err == nil {
		p.beside = []string{filepath.Dir(path)}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			p.beside = append(p.beside, filepath.Dir(real))
		}
	}
	if folder, err := os.UserCacheDir(); err == nil {
		p.cache = filepath.Join(folder, "onesynth", "lake")
	}
	return p
}

func versionOf(module debug.Module) string {
	if module.Replace != nil {
		module = *module.Replace
	}
	if module.Version == "" {
		return undetermined
	}
	return module.Version
}

// installed is where the command is. Without a path, refused says what is there of another version.
type installed struct {
	path    string
	refused error
}

func (p program) installed() (found installed) {
	var candidates []string
	for _, folder := range p.beside {
		candidates = append(candidates, filepath.Join(folder, file()))
	}
	if path, err := exec.LookPath(name); err == nil {
		candidates = append(candidates, path)
	}
	for _, path := range candidates {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			info = &debug.BuildInfo{}
		}
		if err := p.check(info); err != nil {
			found.refused = fmt.Errorf("%s %w", path, err)
			continue
		}
		return installed{path: path}
	}
	return found
}

// check returns nil for the command, of the program's version and with DuckDB. The error says what it is otherwise, and
// what to do.
func (p program) check(info *debug.BuildInfo) error {
	if info.Path != p.module+"/cmd/"+name || versionOf(info.Main) != p.version {
		return fmt.Errorf("is not of version %s, as onesynth is: remove it, or replace it by one that is", p.version)
	}
	if slices.Contains(info.Settings, debug.BuildSetting{Key: "CGO_ENABLED", Value: "0"}) {
		return errors.New("was built with CGO_ENABLED=0, so without DuckDB, which needs cgo and a C compiler such as " +
			"gcc: remove it, or build it again with CGO_ENABLED=1")
	}
	return nil
}

// fits reports whether the file is the command, as [program.check] wants it.
func (p program) fits(path string) bool {
	info, err := buildinfo.ReadFile(path)
	return err == nil && p.check(info) == nil
}

func file() string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// kept is where a built command is.
func (p program) kept() string {
	return filepath.Join(p.cache, strings.Trim(p.version, "()"), file())
}

// published reports whether the version names one source for ever.
func (p program) published() bool {
	return semver.IsValid(p.version) && semver.Build(p.version) != "+dirty"
}

// build builds the command for the program, and returns its path. What a version names is built once; Go looks at each
// use whether a folder has changed.
func (p program) build(ctx context.Context, log io.Writer) (string, error) {
	if p.published() && p.fits(p.kept()) {
		return p.kept(), nil
	}
	if _, err := exec.LookPath("go"); err != nil || p.cache == "" {
		return "", p.explain(errors.New("SQL needs the command " + name +
			", which is not there, and cannot be built without Go"))
	}
	folder, err := p.source(ctx)
	if err != nil {
		return "", p.explain(err)
	}
	into := filepath.Dir(p.kept())
	if err := os.MkdirAll(into, 0o755); err != nil {
		return "", err
	}
	if _, err := os.Stat(p.kept()); err != nil {
		fmt.Fprintln(log, "building "+name+", which brings DuckDB (about a minute, once)")
	}
	arguments := []string{"install", p.module + "/cmd/" + name + "@" + p.version}
	if folder != "" {
		arguments = []string{"build", "-o", p.kept(), "./cmd/" + name}
		if p.version == undetermined {
			arguments = append(arguments[:1], append([]string{"-buildvcs=false"}, arguments[1:]...)...)
		}
	}
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = folder
	// Go moves what it has linked to its place, at once if both are in one file system.
	command.Env = append(os.Environ(), "CGO_ENABLED=1", "GOWORK=off", "GOBIN="+into, "GOTMPDIR="+into)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(arguments, " "), err, bytes.TrimSpace(output.Bytes()))
		return "", errors.Join(ctx.Err(), p.explain(err))
	}
	if !p.fits(p.kept()) {
		return "", fmt.Errorf("the source in %s is no longer of version %s, as onesynth is: build onesynth again",
			folder, p.version)
	}
	return p.kept(), nil
}

// source is the folder to build in, empty for a module that Go fetches.
func (p program) source(ctx context.Context) (string, error) {
	const folderOf = "{{if .Main}}{{.Dir}}{{else}}{{with .Replace}}{{if not .Version}}{{.Dir}}{{end}}{{end}}{{end}}"
	command := exec.CommandContext(ctx, "go", "list", "-m", "-f="+folderOf, p.module)
	listing, err := command.Output()
	folder := strings.TrimSpace(string(listing))
	if err != nil || folder == "" {
		if p.published() {
			return "", nil
		}
		return "", fmt.Errorf("SQL needs the command %s, which is not there, and its source was not found: "+
			"run onesynth in a folder of its module, or of one that replaces it", name)
	}
	return folder, nil
}

// MissingError says that the command is not there, and could not be built.
type MissingError struct {
	// Err says why it could not be built.
	Err error
	// Install is the command that gets it.
	Install string
}

// Error says why, and how people get the command.
func (e *MissingError) Error() string {
	return fmt.Sprintf("%v\nWith Go and a C compiler, such as gcc, this gets it: %s", e.Err, e.Install)
}

// Unwrap returns why it could not be built.
func (e *MissingError) Unwrap() error { return e.Err }

// explain adds how people get the command.
func (p program) explain(err error) error {
	version := "latest"
	if p.published() {
		version = p.version
	}
	return &MissingError{err, fmt.Sprintf("CGO_ENABLED=1 go install %s/cmd/%s@%s", p.module, name, version)}
}
