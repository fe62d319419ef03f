package gobuild

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// vendored recreates a module in the folder, from its packages in the vendor folder of the importer
// in from, and returns the place to build it.
//
// A vendor folder has the packages of a module, but not its go.mod. Built there, the handlers
// would belong to a dependency of the importer's module, and the file names in the binaries would
// differ. So the folder becomes a main module, with links to the packages, and with the
// importer's other modules as its vendor folder. This needs neither network nor module cache.
func vendored(ctx context.Context, from, wanted string, handlers []string, folder string) (location, error) {
	// This package is always in the folder.
	library := libraryModule()
	command := exec.CommandContext(ctx, "go", "list", "-find", "-f={{.Dir}}", library+"/internal/gobuild")
	command.Dir = from
	listing, err := output(command)
	if err != nil {
		return location{}, fmt.Errorf("finding the vendor folder: %w", failure(err))
	}
	packages := strings.TrimSpace(string(listing))
	source, ok := strings.CutSuffix(packages,
		string(filepath.Separator)+filepath.FromSlash(library+"/internal/gobuild"))
	if !ok {
		return location{}, fmt.Errorf("finding the vendor folder: %s is not in one", packages)
	}
	modules, err := readVendored(filepath.Join(source, "modules.txt"))
	if err != nil {
		return location{}, err
	}
	i := slices.IndexFunc(modules, func(m vendoredModule) bool { return m.Path == wanted })
	if i < 0 {
		return location{}, fmt.Errorf("%s does not have %s: run go mod vendor", filepath.Join(source, "modules.txt"),
			wanted)
	}
	own := modules[i]
	for _, handler := range handlers {
		if !slices.Contains(own.packages, path.Join(wanted, filepath.ToSlash(handler))) {
			return location{}, fmt.Errorf("%s does not have %s of %s, which go mod vendor copies if a package that "+
				"app imports names it under some build tag: import _ %q in a file "+
				"that begins with //go:build vendoring",
				filepath.Join(source, "modules.txt"), handler, wanted, path.Join(wanted, filepath.ToSlash(handler)))
		}
	}
	modules = slices.Delete(modules, i, i+1)

	if err := own.assemble(folder, source, modules); err != nil {
		return location{}, fmt.Errorf("making a module of the vendor folder: %w", err)
	}
	return location{directory: folder, prefix: "./", flags: []string{"-mod=vendor"},
		environment: []string{"GOWORK=off"},
		origin:      source}, nil
}

// failure returns an error with the output of the toolchain, if there is any.
func failure(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}

// vendoredModule is a module with packages in a vendor folder.
type vendoredModule struct {
	module.Version
	// replacement is the module that replaces it, or the zero value.
	replacement module.Version
	// language is the version of Go in its go.mod, or empty.
	language string
	packages []string
}

// readVendored returns the modules with packages in a vendor folder's modules.txt ("Vendoring",
// Go Modules Reference).
func readVendored(name string) ([]vendoredModule, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading the vendored modules: %w", err)
	}
	defer file.Close()
	var modules []vendoredModule
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case fields[0] == "#":
			m := vendoredModule{}
			left, right := fields[1:], []string(nil)
			if i := slices.Index(left, "=>"); i >= 0 {
				left, right = left[:i], left[i+1:]
			}
			m.Version, m.replacement = version(left), version(right)
			modules = append(modules, m)
		case len(modules) == 0:
			// The file of a workspace has a line about it before the first module.
		case fields[0] == "##":
			for entry := range strings.SplitSeq(strings.TrimPrefix(line, "##"), ";") {
				if language, ok := strings.CutPrefix(strings.TrimSpace(entry), "go "); ok {
					modules[len(modules)-1].language = language
				}
			}
		default:
			m := &modules[len(modules)-1]
			m.packages = append(m.packages, fields[0])
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return slices.DeleteFunc(modules, func(m vendoredModule) bool { return len(m.packages) == 0 }), nil
}

// version makes a module version of a path and, if there is one, a version.
func version(fields []string) module.Version {
	switch len(fields) {
	case 0:
		return module.Version{}
	case 1:
		return module.Version{Path: fields[0]}
	}
	return module.Version{Path: fields[0], Version: fields[1]}
}

// assemble creates a main module in the folder from the module in the vendor folder source, with
// the others in its own vendor folder.
func (m vendoredModule) assemble(folder, source string, others []vendoredModule) error {
	var file modfile.File
	if err := file.AddModuleStmt(m.Path); err != nil {
		return err
	}
	if m.language != "" {
		if err := file.AddGoStmt(m.language); err != nil {
			return err
		}
	}
	var list strings.Builder
	var linked string
	// A nested module is in the folder of the outer one.
	slices.SortFunc(others, func(a, b vendoredModule) int { return strings.Compare(a.Path+"/", b.Path+"/") })
	for _, other := range others {
		file.AddNewRequire(other.Path, other.Version.Version, false)
		fmt.Fprintf(&list, "# %s %s", other.Path, other.Version.Version)
		if r := other.replacement; r.Path != "" {
			if err := file.AddReplace(other.Path, other.Version.Version, r.Path, r.Version); err != nil {
				return err
			}
			fmt.Fprintf(&list, " => %s", strings.TrimSpace(r.Path+" "+r.Version))
		}
		list.WriteString("\n## explicit")
		if other.language != "" {
			list.WriteString("; go " + other.language)
		}
		list.WriteString("\n" + strings.Join(other.packages, "\n") + "\n")
		if linked != "" && strings.HasPrefix(other.Path, linked+"/") {
			continue
		}
		linked = other.Path
		if err := link(filepath.Join(source, filepath.FromSlash(linked)),
			filepath.Join(folder, "vendor", filepath.FromSlash(linked))); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(filepath.Join(source, filepath.FromSlash(m.Path)))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := link(filepath.Join(source, filepath.FromSlash(m.Path), entry.Name()),
			filepath.Join(folder, entry.Name())); err != nil {
			return err
		}
	}
	description, err := file.Format()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(folder, "vendor"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "go.mod"), description, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "vendor", "modules.txt"), []byte(list.String()), 0o644)
}

// link makes a symbolic link at name, and the folders above it.
func link(target, name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.Symlink(target, name)
}
