package gobuild

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// listFormat makes "go list" print what readPackages reads.
const listFormat = "-f={{.ImportPath}}\t{{with .Module}}{{.Path}}\t{{.Version}}\t{{with " +
	".Replace}}{{.Path}}\t{{.Version}}{{else}}\t{{end}}{{else}}\t\t\t{{end}}\t{{if eq .Name \"main\"}}{{join .Deps " +
	"\" \"}}{{end}}\t{{join .Match \" \"}}\t" +
	"{{with .Module}}{{if or .Main (and .Replace (not .Replace.Version))}}{{$.Dir}}" +
	"{{range $.GoFiles}}\t{{.}}{{end}}{{range $.EmbedFiles}}\t{{.}}{{end}}{{end}}{{end}}"

// noVersion is the toolchain's version of a module in a folder.
const noVersion = "(devel)"

// listed is a package as "go list" describes it.
type listed struct {
	importPath string
	// module is nil for the standard library.
	module *debug.Module
	// dependencies are the import paths of all packages that a main package needs. It is
	// empty for other packages.
	dependencies []string
	// patterns are those of the list that the package matches.
	patterns []string
	// files are its Go files and those that it embeds, unless they are in the module cache.
	files []string
}

func readPackages(listing []byte) ([]listed, error) {
	var packages []listed
	for line := range strings.Lines(string(listing)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) < 8 {
			return nil, fmt.Errorf("go list: got the line %q, want eight fields", line)
		}
		p := listed{importPath: fields[0], dependencies: strings.Fields(fields[5]),
			patterns: strings.Fields(fields[6])}
		if fields[1] != "" {
			p.module = &debug.Module{Path: fields[1], Version: cmp.Or(fields[2], noVersion)}
		}
		switch {
		case fields[3] == "":
		case fields[4] == "":
			// The path of a folder differs between machines.
			p.module.Version = noVersion
		default:
			p.module.Replace = &debug.Module{Path: fields[3], Version: fields[4]}
		}
		// The main module, too, may be in the module cache, whose folders have versions. It does not change.
		for _, name := range fields[8:] {
			if !strings.Contains(fields[7], "@v") {
				p.files = append(p.files, filepath.Join(fields[7], name))
			}
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// mainPackage is a package to be linked, with its stamp: the list of modules that
// the binary carries, for "go version -m" and for scanners of vulnerabilities.
//
// The toolchain's own list depends on the origin of modules. It has checksums, but none of vendored
// modules; versions, but not the main module's; and paths of folders that replace modules.
// A stamp has the same modules and versions, and nothing else.
type mainPackage struct {
	importPath, module, stamp string
	// patterns are those of the list that the package matches.
	patterns []string
	// earlier counts the packages before it in the list whose binaries have the same name.
	earlier int
	// sources are as in [Binary].
	sources string
}

// folder returns the package's folder, relative to that of the module; "." is the root.
func (m mainPackage) folder() string {
	if m.importPath == m.module {
		return "."
	}
	return strings.TrimPrefix(m.importPath, m.module+"/")
}

// name returns the name of the binary.
func (m mainPackage) name() string { return Recipe{Module: m.module, Package: m.folder()}.Name() }

// in returns the folder into which the toolchain links the package. It is the given folder, or one beside it if an
// earlier package has a binary of the same name: one run of the toolchain writes all its binaries into one folder.
func (m mainPackage) in(folder string) string {
	if m.earlier == 0 {
		return folder
	}
	return fmt.Sprint(folder, m.earlier+1)
}

// file returns the file of the binary that the toolchain links.
func (m mainPackage) file(folder string) string { return filepath.Join(m.in(folder), m.name()) }

// describe returns the binary with what it is of.
func (m mainPackage) describe(b Binary) Binary {
	b.Module, b.Package, b.Sources = m.module, m.folder(), m.sources
	return b
}

// mainsOf returns the main packages of a list.
func mainsOf(packages []listed, target Target) []mainPackage {
	modules, files := map[string]*debug.Module{}, map[string][]string{}
	kit := libraryModule() + "/lambdas/kit/"
	for _, p := range packages {
		modules[p.importPath] = p.module
		if !strings.HasPrefix(p.importPath, kit) {
			files[p.importPath] = p.files
		}
	}
	var mains []mainPackage
	named := map[string]int{}
	for _, p := range packages {
		if len(p.dependencies) == 0 || p.module == nil {
			continue
		}
		information := debug.BuildInfo{
			Path: p.importPath,
			Main: *p.module,
			Settings: []debug.BuildSetting{
				{Key: "-trimpath", Value: "true"}, {Key: "CGO_ENABLED", Value: "0"},
				{Key: "GOARCH", Value: target.Processor}, {Key: "GOOS", Value: target.System},
			},
		}
		for _, dependency := range p.dependencies {
			m := modules[dependency]
			if m != nil && m.Path != p.module.Path &&
				!slices.ContainsFunc(information.Deps, func(d *debug.Module) bool { return d.Path == m.Path }) {
				information.Deps = append(information.Deps, m)
			}
		}
		slices.SortFunc(information.Deps, func(a, b *debug.Module) int { return strings.Compare(a.Path, b.Path) })
		m := mainPackage{importPath: p.importPath, module: p.module.Path, stamp: information.String(),
			patterns: p.patterns}
		for _, of := range append([]string{p.importPath}, p.dependencies...) {
			if other := modules[of]; other != nil && other.Path == p.module.Path {
				for _, name := range files[of] {
					if filepath.Ext(name) == ".go" {
						m.sources += lasting(name) + "\n"
					}
				}
			}
		}
		m.earlier = named[m.name()]
		named[m.name()]++
		mains = append(mains, m)
	}
	return mains
}

// lasting is the name under which a file stays after a build: a vendored module is linked into a folder that does not.
func lasting(name string) string {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		return target
	}
	return name
}

// flag returns the flag of "go build" that links the package with the linker's
// flags and the stamp.
func (m mainPackage) flag(linker string) string {
	// Readers cut 16 bytes off both ends (debug/buildinfo, readRawBuildInfo).
	mark := strings.Repeat("\n", 16)
	return fmt.Sprintf("%s%s=%s -X 'runtime.modinfo=%s%s%s'", linkFlags, m.importPath, linker, mark, m.stamp, mark)
}
