package watch

// Which files make which program, as the Go toolchain lists them.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// users are what a package, or a file, is part of.
type users struct {
	functions map[string]bool
	app       bool
}

func (u *users) add(other *users) {
	for name := range other.functions {
		u.function(name)
	}
	u.app = u.app || other.app
}

func (u *users) function(name string) {
	if u.functions == nil {
		u.functions = map[string]bool{}
	}
	u.functions[name] = true
}

// pack is a package whose source is on this machine, outside of the module cache.
type pack struct {
	importPath, folder string
	users              users
	// importers are the import paths of the packages that have to be compiled again after this one, itself included.
	importers map[string]bool
	// embeds are the folders of files that the package embeds.
	embeds []string
}

// files are the files of all targets.
type files struct {
	known map[string]content
	// packs are by folder; a folder may be part of several listings.
	packs map[string][]*pack
	// owners are the packages of a known file, shared what uses a file that is of no package, such as go.mod.
	owners map[string][]*pack
	shared map[string]*users
	// modules are the folders of modules.
	modules []string
}

// content is what a file says; the zero value is that of a file that does not exist.
type content struct {
	content [sha256.Size]byte
	// head has what the toolchain reads to know which files there are: imports, constraints and embedded files.
	head [sha256.Size]byte
}

func look(path string) content {
	text, err := os.ReadFile(path)
	if err != nil {
		return content{}
	}
	seen := content{content: sha256.Sum256(text)}
	if filepath.Ext(path) != ".go" {
		return seen
	}
	hash := sha256.New()
	parsed, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
	if err != nil {
		hash.Write(text)
	} else {
		for _, imported := range parsed.Imports {
			fmt.Fprintln(hash, imported.Path.Value)
		}
	}
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("//go:embed")) || bytes.HasPrefix(line, []byte("//go:build")) {
			hash.Write(line)
		}
	}
	hash.Sum(seen.head[:0])
	return seen
}

// listing is a package as "go list" describes it.
type listing struct {
	ImportPath, Name, Dir                                            string
	Standard                                                         bool
	GoFiles, CgoFiles, SFiles, HFiles, CFiles, SysoFiles, EmbedFiles []string
	IgnoredGoFiles                                                   []string
	Imports, Deps                                                    []string
	Module                                                           *struct{ GoMod string }
}

const fields = "-json=ImportPath,Name,Dir,Standard,GoFiles,CgoFiles,SFiles,HFiles,CFiles,SysoFiles,EmbedFiles,IgnoredGoFiles,Imports,Deps,Module"

// list asks the toolchain for the files of the targets, of all at the same time.
func list(ctx context.Context, targets []Target) (*files, error) {
	all := &files{known: map[string]content{}, packs: map[string][]*pack{}, owners: map[string][]*pack{}, shared: map[string]*users{}}
	listings, places := make([][]listing, len(targets)), make([]place, len(targets))
	failures := make([]error, len(targets))
	var asking sync.WaitGroup
	for i, target := range targets {
		asking.Go(func() {
			if len(target.Patterns) == 0 {
				return
			}
			if places[i], failures[i] = placeOf(ctx, target); failures[i] == nil {
				listings[i], failures[i] = ask(ctx, target)
			}
		})
	}
	asking.Wait()
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	for i, target := range targets {
		all.add(target, places[i], listings[i])
	}
	return all, nil
}

// place is where the toolchain keeps things.
type place struct{ GOMODCACHE, GOWORK string }

func placeOf(ctx context.Context, target Target) (found place, err error) {
	text, err := run(ctx, target, "env", "-json", "GOMODCACHE", "GOWORK")
	if err != nil {
		return found, err
	}
	return found, json.Unmarshal(text, &found)
}

func ask(ctx context.Context, target Target) (packages []listing, err error) {
	// With -e, packages that do not compile are listed, too.
	text, err := run(ctx, target, slices.Concat([]string{"list", "-e", "-deps", fields}, target.Flags, target.Patterns)...)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		var one listing
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, one)
	}
}

func run(ctx context.Context, target Target, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = target.Directory
	command.Env = append(os.Environ(), target.Environment...)
	var failure bytes.Buffer
	command.Stderr = &failure
	text, err := command.Output()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("go %s in %s: %w: %s", arguments[0], target.Directory, err, bytes.TrimSpace(failure.Bytes()))
	}
	return text, nil
}

// add adds the files of a target.
func (f *files) add(target Target, at place, packages []listing) {
	everything := &users{app: target.App}
	for _, names := range target.Functions {
		for _, name := range names {
			everything.function(name)
		}
	}
	for _, path := range target.Files {
		f.share(path, everything)
	}
	byPath, local := map[string]*listing{}, map[string]*pack{}
	for i := range packages {
		p := &packages[i]
		byPath[p.ImportPath] = p
		if p.Standard || p.Dir == "" || below(p.Dir, at.GOMODCACHE) {
			continue
		}
		one := &pack{importPath: p.ImportPath, folder: p.Dir, importers: map[string]bool{p.ImportPath: true}, users: users{app: target.App}}
		local[p.ImportPath] = one
		f.packs[p.Dir] = append(f.packs[p.Dir], one)
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles, p.SFiles, p.HFiles, p.CFiles, p.SysoFiles, p.IgnoredGoFiles, p.EmbedFiles) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			path := filepath.Join(p.Dir, name)
			f.known[path] = content{}
			f.owners[path] = append(f.owners[path], one)
		}
		for _, name := range p.EmbedFiles {
			if folder := filepath.Dir(filepath.Join(p.Dir, name)); !slices.Contains(one.embeds, folder) {
				one.embeds = append(one.embeds, folder)
			}
		}
		if p.Module != nil && p.Module.GoMod != "" {
			module := filepath.Dir(p.Module.GoMod)
			if !slices.Contains(f.modules, module) {
				f.modules = append(f.modules, module)
			}
			for _, name := range []string{"go.mod", "go.sum"} {
				f.share(filepath.Join(module, name), everything)
			}
		}
	}
	if at.GOWORK != "" && at.GOWORK != "off" {
		f.share(at.GOWORK, everything)
	}
	for _, p := range packages {
		importer := local[p.ImportPath]
		for _, dependency := range p.Deps {
			used := local[dependency]
			if used == nil {
				continue
			}
			if importer != nil {
				used.importers[p.ImportPath] = true
			}
			for _, name := range target.Functions[p.ImportPath] {
				used.users.function(name)
			}
		}
		if importer != nil {
			for _, name := range target.Functions[p.ImportPath] {
				importer.users.function(name)
			}
		}
	}
}

// share notes a file that is of no package. It need not exist.
func (f *files) share(path string, by *users) {
	f.known[path] = content{}
	if f.shared[path] == nil {
		f.shared[path] = &users{}
	}
	f.shared[path].add(by)
}

// folders are those to watch: those of the files, and all of the modules, in which packages may come.
func (f *files) folders() []string {
	found := map[string]bool{}
	for path := range f.known {
		found[filepath.Dir(path)] = true
	}
	for _, module := range f.modules {
		_ = filepath.WalkDir(module, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil, !entry.IsDir():
				return nil
			case path != module && ignored(path, entry.Name()):
				return filepath.SkipDir
			}
			found[path] = true
			return nil
		})
	}
	all := make([]string, 0, len(found))
	for folder := range found {
		all = append(all, folder)
	}
	slices.Sort(all)
	return all
}

// ignored reports whether no package of the module is in the folder: the toolchain ignores it, or it is another module's.
func ignored(path, name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || slices.Contains([]string{"testdata", "node_modules", "vendor", "cdk.out"}, name) {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

func below(path, folder string) bool {
	return folder != "" && strings.HasPrefix(path, folder+string(filepath.Separator))
}

// isSource reports whether the toolchain would take the file into a program.
func isSource(path string) bool {
	name := filepath.Base(path)
	return filepath.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_")
}

// mayBelong reports whether a file that is not known may be part of a known package: it is a Go file in its folder, or in one that
// the package embeds files of.
func (f *files) mayBelong(path string) bool { return len(f.ownersOf(path)) > 0 }

func (f *files) ownersOf(path string) []*pack {
	if owners := f.owners[path]; owners != nil {
		return owners
	}
	folder := filepath.Dir(path)
	if isSource(path) {
		return f.packs[folder]
	}
	if filepath.Ext(path) == ".go" || strings.HasPrefix(filepath.Base(path), ".") {
		return nil
	}
	var owners []*pack
	for _, packs := range f.packs {
		for _, one := range packs {
			if slices.Contains(one.embeds, folder) {
				owners = append(owners, one)
			}
		}
	}
	return owners
}

// inModule reports whether the file is a Go file of one of the modules.
func (f *files) inModule(path string) bool {
	return isSource(path) && slices.ContainsFunc(f.modules, func(module string) bool { return below(path, module) })
}

// changed is what the change of a file makes necessary.
func (f *files) changed(path string, was, now content) Change {
	change := Change{Files: []string{path}, Relist: f.shared[path] != nil || was.head != now.head || was == content{} || now == content{}}
	if f.owners[path] == nil {
		change.Relist = true
	}
	var of users
	if shared := f.shared[path]; shared != nil {
		of.add(shared)
	}
	packages := map[string]bool{}
	for _, owner := range f.ownersOf(path) {
		of.add(&owner.users)
		for importer := range owner.importers {
			packages[importer] = true
		}
	}
	change.Synth = of.app
	for name := range of.functions {
		change.Functions = append(change.Functions, name)
	}
	for name := range packages {
		change.Packages = append(change.Packages, name)
	}
	slices.Sort(change.Functions)
	slices.Sort(change.Packages)
	return change
}
