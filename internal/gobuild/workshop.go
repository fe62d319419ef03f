package gobuild

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Workshop builds functions of one module for this machine again and again, for a developer who waits for them. It
// shares what [Build] has compiled and linked, and the toolchain links again only what has changed. Make one with
// [OpenWorkshop]. It is not for concurrent use.
type Workshop struct {
	toolchain toolchain
	cache     cache
	mains     []mainPackage
	// files are the source files when it was opened.
	files []string
	// seen are the binaries by their packages' import paths.
	seen map[string]linkedBinary
}

// linkedBinary is a binary, with the id that the toolchain gave it.
type linkedBinary struct {
	id string
	Binary
}

// OpenWorkshop finds the module of the source, as [Build] does. It may write into the folder, which must stay as long
// as the workshop is in use. It fails as [Build] does.
func OpenWorkshop(ctx context.Context, source Source, folder string) (*Workshop, error) {
	if err := source.check(); err != nil {
		return nil, err
	}
	if source.Flags == nil {
		source.Flags = Flags()
	}
	cache, err := openCache(os.Getenv(cacheVariable))
	if err != nil {
		return nil, err
	}
	found, err := locate(ctx, source, folder)
	if err != nil {
		return nil, err
	}
	source.OwnGroup = true
	if os.Getenv("GOGC") == "" {
		found.environment = append(slices.Clone(found.environment), "GOGC="+workshopGC)
	}
	w := &Workshop{
		toolchain: toolchain{location: found, target: Host(), source: source},
		cache:     cache, seen: map[string]linkedBinary{},
	}
	if w.mains, w.files, err = w.toolchain.inspect(ctx); err != nil {
		return nil, err
	}
	if len(w.mains) == 0 {
		return nil, fmt.Errorf("%s in %s are not main packages", strings.Join(source.Packages, ", "), found.directory)
	}
	return w, nil
}

// workshopGC lets the compiler and the linker use more memory, which saves a tenth of the time. One's own GOGC wins.
const workshopGC = "400"

// Listing says how "go list" finds the packages of programs.
type Listing struct {
	// Directory is the working directory.
	Directory string
	// Environment is added to that of this process.
	Environment []string
	// Flags precede Patterns.
	Flags, Patterns []string
}

// Listing returns the listing of the source's packages.
func (w *Workshop) Listing() Listing {
	compiler, _ := w.toolchain.flags()
	listing := Listing{Directory: w.toolchain.location.directory, Environment: w.toolchain.environment(),
		Flags: compiler}
	for _, p := range w.toolchain.source.Packages {
		listing.Patterns = append(listing.Patterns, w.toolchain.pattern(p))
	}
	return listing
}

// Build builds some of the source's packages by the Go toolchain, and returns the binaries by package. With
// a [*CompileError] it returns those that could be built. The end of ctx ends the toolchain with all that it started.
// It fails as [Build] does.
func (w *Workshop) Build(ctx context.Context, packages []string, of *Snapshot) (map[string]Binary, error) {
	var mains []mainPackage
	for _, p := range packages {
		at := w.toolchain.index(w.mains, p)
		if at < 0 {
			return nil, fmt.Errorf("%s is not a main package: a handler needs \"package main\" and a main function", p)
		}
		mains = append(mains, w.mains[at])
	}
	temporary, err := w.cache.temporary()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	linked, unlock, err := w.cache.linked(ctx, w.toolchain.describe(w.mains[0].module))
	if err != nil {
		return nil, err
	}
	defer unlock()
	failure := w.toolchain.from(of).build(ctx, linked, temporary, mains)
	if _, refused := errors.AsType[*CompileError](failure); failure != nil && !refused {
		return nil, failure
	}
	var changed []mainPackage
	ids := map[string]string{}
	for _, m := range mains {
		id, err := readBuildID(m.file(linked))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if ids[m.importPath] = id; id == "" || w.seen[m.importPath].id != id {
			changed = append(changed, m)
		}
	}
	kept, damaged, err := w.cache.keepAll(linked, temporary, changed)
	if err != nil {
		return nil, err
	}
	for i, m := range changed {
		if !slices.ContainsFunc(damaged, func(d mainPackage) bool { return d.importPath == m.importPath }) {
			w.seen[m.importPath] = linkedBinary{ids[m.importPath], kept[i]}
		}
	}
	binaries := map[string]Binary{}
	for i, m := range mains {
		if _, linked := ids[m.importPath]; linked && w.seen[m.importPath].Hash != "" {
			binaries[packages[i]] = w.seen[m.importPath].Binary
		}
	}
	return binaries, failure
}

// formerName is the name of a package's binary for a target in a file of former binaries.
func formerName(target Target, m mainPackage) string { return target.String() + " " + m.importPath }

// WriteFormer writes a file of the binaries that workshops have built, for [FormerVariable].
func WriteFormer(name string, shops ...*Workshop) error {
	hashes := map[string]string{}
	for _, w := range shops {
		for _, m := range w.mains {
			if hash := w.seen[m.importPath].Hash; hash != "" {
				hashes[formerName(w.toolchain.target, m)] = hash
			}
		}
	}
	text, err := json.Marshal(hashes)
	if err == nil {
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing what was built: %w", err)
	}
	return nil
}

// former returns the binaries of the packages that a file of former ones has, or nil if it lacks one.
func (c cache) former(name string, target Target, mains []mainPackage) []Binary {
	text, err := os.ReadFile(name)
	var hashes map[string]string
	if err != nil || json.Unmarshal(text, &hashes) != nil {
		return nil
	}
	var binaries []Binary
	for _, m := range mains {
		hash := hashes[formerName(target, m)]
		folder := filepath.Join(c.folder, "binaries", hash)
		info, err := os.Stat(filepath.Join(folder, "bootstrap"))
		if hash == "" || err != nil {
			return nil
		}
		binaries = append(binaries, m.describe(Binary{Directory: folder, Hash: hash, Size: info.Size()}))
	}
	return binaries
}

// readBuildID reads the id that the toolchain gave a binary; it is empty where there is none that is read, as in
// files of other systems.
func readBuildID(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	binary, err := elf.NewFile(file)
	if err != nil {
		return "", nil
	}
	section := binary.Section(".note.go.buildid")
	if section == nil || section.Size < noteHeader {
		return "", nil
	}
	note, err := section.Data()
	if err != nil {
		return "", nil
	}
	return strings.TrimRight(string(note[noteHeader:]), "\x00"), nil
}

// BuildForDebugger builds a package for a debugger into the folder, as bootstrap: without optimisations, and with the
// paths of files on this machine. It fails as [Workshop.Build] does.
func (w *Workshop) BuildForDebugger(ctx context.Context, folderOfPackage, folder string, of *Snapshot) error {
	compiler, _ := w.toolchain.flags()
	// A compiler's flags apply to the packages of the last pattern that fits, so these are the only ones.
	compiler = slices.DeleteFunc(compiler, func(flag string) bool {
		return flag == "-trimpath" || strings.HasPrefix(flag, "-gcflags=")
	})
	arguments := append([]string{"build", "-o", filepath.Join(folder, "bootstrap")}, compiler...)
	arguments = append(arguments, "-gcflags=all=-N -l", w.toolchain.pattern(folderOfPackage))
	_, err := w.toolchain.from(of).run(ctx, arguments)
	return err
}

// Program builds a main package for this machine, such as an app of the CDK, as "go run" does. It returns the binary,
// and an id that changes with it. The binary stays where it is, so that the toolchain links it again only after a
// change. It fails as [Build] does.
func Program(ctx context.Context, listing Listing, of *Snapshot) (name, id string, err error) {
	cache, err := openCache(os.Getenv(cacheVariable))
	if err != nil {
		return "", "", err
	}
	folder, unlock, err := cache.linked(ctx, fmt.Sprintf("program %q", listing))
	if err != nil {
		return "", "", err
	}
	defer unlock()
	name = filepath.Join(folder, "program")
	t := toolchain{location: location{directory: listing.Directory},
		source: Source{Packages: listing.Patterns, OwnGroup: true}, snapshot: of}
	arguments := []string{"build", "-o", name}
	// What debuggers read takes a third of an app's link.
	if !strings.Contains(os.Getenv("GOFLAGS"), linkFlags) {
		arguments = append(arguments, linkFlags+"-s -w")
	}
	arguments = slices.Concat(arguments, listing.Flags, listing.Patterns)
	if _, err := t.runWith(ctx, listing.Environment, arguments); err != nil {
		return "", "", err
	}
	if id, err = readBuildID(name); id == "" && err == nil {
		var content []byte
		content, err = os.ReadFile(name)
		id = hexadecimal(sha256.Sum256(content))
	}
	if err != nil {
		return "", "", fmt.Errorf("reading the app: %w", err)
	}
	return name, id, nil
}

// Snapshot returns a snapshot of the files that the programs had when the workshop was opened. It makes the folder for
// it.
func (w *Workshop) Snapshot(folder string) (*Snapshot, error) { return snapshotOf(w.files, folder) }

// from is the toolchain that builds from a snapshot.
func (t toolchain) from(of *Snapshot) toolchain {
	t.snapshot = of
	return t
}

// pattern is the package as "go list" and "go build" take it, and as they name it again.
func (t toolchain) pattern(folder string) string {
	if Folder(folder) == "." {
		return "."
	}
	return t.location.prefix + Folder(folder)
}

// position is a file and a line in what the toolchain prints.
var position = regexp.MustCompile(`(?m)^(vet: )?([^\s:#][^\s:]*\.go):(\d+)`)

// Text returns what the toolchain printed, with names of files relative to a folder, such as the developer's working
// folder.
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
