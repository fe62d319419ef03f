package gobuild

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// skipShort skips a test that builds, unless the whole tests run. What README and docs/guide/start.md promise is tested
// all the same.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds with the toolchain: go test without -short does")
	}
}

// handlersModule copies a Go module with the handlers "hello" and "bye", which share a package, and returns its folder.
func handlersModule(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	must.OK(t, os.CopyFS(folder, os.DirFS("testdata/handlers")))
	return folder
}

func write(t *testing.T, folder, name, content string) {
	t.Helper()
	file := filepath.Join(folder, name)
	must.OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.OK(t, os.WriteFile(file, []byte(content), 0o644))
}

// lambda is what AWS runs handlers on by default here.
var lambda = Target{System: "linux", Processor: "arm64"}

func mustBuild(t *testing.T, source Source, cacheFolder string) map[string]Binary {
	t.Helper()
	return must.Get(build(t.Context(), source, lambda, cacheFolder))(t)
}

func both(folder string) Source {
	return Source{Directory: folder, Packages: []string{"hello", "./bye/"}}
}

// Handlers are built for AWS, and for the machines of developers.
func TestBuild(t *testing.T) {
	t.Parallel()
	for _, target := range []Target{{"linux", "arm64"}, {"linux", "amd64"}, {"darwin", "arm64"}, {"darwin", "amd64"}} {
		t.Run("OK"+target.System+target.Processor, func(t *testing.T) {
			t.Parallel()
			binaries := must.Get(build(t.Context(), both(handlersModule(t)), target, t.TempDir()))(t)
			if len(binaries) != 2 || binaries["hello"].Hash == binaries["bye"].Hash {
				t.Fatalf("binaries: got %v, want two different ones", binaries)
			}
			for name, b := range binaries {
				if b.Module != "example.com/handlers" || b.Package != name {
					t.Errorf("%s: got the package %q of module %q", name, b.Package, b.Module)
				}
				files, err := os.ReadDir(b.Directory)
				if err != nil || len(files) != 1 || files[0].Name() != "bootstrap" {
					t.Errorf("%s: folder has %v, %v, want bootstrap alone", name, files, err)
				}
				checkTarget(t, filepath.Join(b.Directory, "bootstrap"), target)
			}
		})
	}
}

// Packages whose last elements are equal are built together, into the binaries that each has alone. So is a package
// that is named twice.
func TestBuildSameName(t *testing.T) {
	skipShort(t)
	subcommands := spy(t)
	folder, cache := handlersModule(t), t.TempDir()
	for _, name := range []string{"a/hello", "b/hello"} {
		write(t, folder, name+"/main.go", fmt.Sprintf("package main\n\nfunc main() { println(%q) }\n", name))
	}
	all := Source{Directory: folder, Packages: []string{"hello", "a/hello", "b/hello", "bye", "./b/hello"}}
	want := map[string]Binary{}
	for _, p := range all.Packages {
		alone := mustBuild(t, Source{Directory: folder, Packages: []string{p}}, t.TempDir())
		want[Folder(p)] = Binary{Hash: alone[Folder(p)].Hash, Package: Folder(p)}
	}
	subcommands()
	for range 2 {
		got := mustBuild(t, all, cache)
		if len(got) != len(want) {
			t.Errorf("got %v, want the binaries of %v", got, slices.Collect(maps.Keys(want)))
		}
		for p, alone := range want {
			if got[p].Hash != alone.Hash || got[p].Package != p {
				t.Errorf("%s: got %+v, want what it is alone, %s", p, got[p], alone.Hash)
			}
		}
	}
	const again = "list build build build"
	if s, first := subcommands(), "list build link link build link build link "; s != first+again {
		t.Errorf("go was run for %q, want %q", s, first+again)
	}
}

// checkTarget checks what a binary is for, by its header and by what is stamped into
// it, and that it has nothing which it need not have.
func checkTarget(t *testing.T, file string, target Target) {
	t.Helper()
	information := must.Get(buildinfo.ReadFile(file))(t)
	for key, want := range map[string]string{"GOOS": target.System, "GOARCH": target.Processor} {
		if !slices.Contains(information.Settings, debug.BuildSetting{Key: key, Value: want}) {
			t.Errorf("%s: got %v, want %s=%s", file, information.Settings, key, want)
		}
	}
	if target.System == "darwin" {
		f := must.Get(macho.Open(file))(t)
		defer f.Close()
		if want := map[string]macho.Cpu{"arm64": macho.CpuArm64,
			"amd64": macho.CpuAmd64}[target.Processor]; f.Cpu != want {
			t.Errorf("%s: processor: got %v, want %v", file, f.Cpu, want)
		}
		return
	}
	f := must.Get(elf.Open(file))(t)
	defer f.Close()
	if want := map[string]elf.Machine{"arm64": elf.EM_AARCH64,
		"amd64": elf.EM_X86_64}[target.Processor]; f.Machine != want {
		t.Errorf("%s: processor: got %v, want %v", file, f.Machine, want)
	}
	if f.Section(".debug_info") != nil || f.Section(".interp") != nil {
		t.Errorf("%s has debugging information or needs a dynamic linker", file)
	}
}

// A build with the flags of another one gives the same binaries, and other flags give
// others.
func TestBuildFlags(t *testing.T) {
	skipShort(t)
	t.Parallel()
	source, cache := both(handlersModule(t)), t.TempDir()
	plain := mustBuild(t, source, cache)
	source.Flags = Flags()
	if got := mustBuild(t, source, cache); !reflect.DeepEqual(got["hello"], plain["hello"]) {
		t.Errorf("got %v, want %v", got, plain)
	}
	write(t, source.Directory, "hello/debug.go",
		"//go:build debug\n\npackage main\n\nfunc init() { println(\"debugging\") }\n")
	source.Flags = []string{"-trimpath", "-buildvcs=false", "-tags=debug"}
	got := mustBuild(t, source, cache)
	if got["hello"].Hash == plain["hello"].Hash || got["hello"].Size <= plain["hello"].Size {
		t.Errorf("got %v with symbols and another file, want more than %v", got["hello"], plain["hello"])
	}
	information, err := buildinfo.ReadFile(filepath.Join(got["hello"].Directory, "bootstrap"))
	if err != nil || information.Main.Path != "example.com/handlers" {
		t.Errorf("got %v, %v, want the stamp with any flags", information, err)
	}
}

func TestBuildIsReproducible(t *testing.T) {
	skipShort(t)
	t.Parallel()
	first := mustBuild(t, both(handlersModule(t)), t.TempDir())
	second := mustBuild(t, both(handlersModule(t)), t.TempDir())
	for name := range first {
		if first[name].Hash != second[name].Hash {
			t.Errorf("%s: got %s and %s in two folders, want one hash", name, first[name].Hash, second[name].Hash)
		}
	}
}

// A developer's settings for other builds have no effect.
func TestBuildIgnoresEnvironment(t *testing.T) {
	skipShort(t)
	folder := handlersModule(t)
	plain := mustBuild(t, both(folder), t.TempDir())
	t.Setenv("GOFLAGS", "-tags=other -ldflags=-v")
	t.Setenv("GOARM64", "v8.4")
	t.Setenv("CGO_ENABLED", "1")
	t.Setenv("GOOS", "darwin")
	if got := mustBuild(t, both(folder), t.TempDir()); got["hello"].Hash != plain["hello"].Hash {
		t.Errorf("hash: got %s, want %s", got["hello"].Hash, plain["hello"].Hash)
	}
}

// spy puts a go command in front of the real one that notes its subcommands, and what it links.
func spy(t *testing.T) (subcommands func() string) {
	t.Helper()
	real := must.Get(exec.LookPath("go"))(t)
	folder := t.TempDir()
	notes := filepath.Join(folder, "notes")
	must.OK(t, os.WriteFile(filepath.Join(folder, "go"), must.Get(os.ReadFile("testdata/spy.sh"))(t), 0o755))
	t.Setenv("SPY_NOTES", notes)
	t.Setenv("SPY_GO", real)
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() string {
		content := must.Get(os.ReadFile(notes))(t)
		must.OK(t, os.Remove(notes))
		return strings.Join(strings.Fields(string(content)), " ")
	}
}

func TestCache(t *testing.T) {
	skipShort(t)
	subcommands := spy(t)
	folder, cacheFolder := handlersModule(t), t.TempDir()
	hash := ""
	steps := []struct {
		name string
		// change is made before the build.
		change func()
		// want are the subcommands of go that the build takes, and a "link" for each binary that it links.
		want string
		// new says that the binary must differ from that of the step before.
		new bool
	}{
		{"First", func() {}, "list build link link", true},
		{"NothingChanged", func() {}, "list build", false},
		{"Touched", func() {
			now := time.Now().Add(time.Hour)
			must.OK(t, os.Chtimes(filepath.Join(folder, "hello/main.go"), now, now))
		}, "list build", false},
		{"SharedPackageOfSharedPackageChanged", func() {
			write(t, folder, "words/words.go", "package words\n\n//go:noinline\nfunc All() string { return "+
				"\"salutations \" }\n")
		}, "list build link link", true},
		{"OneChanged", func() {
			write(t, folder, "hello/main.go", "package main\n\nfunc main() { println(\"changed\") }\n")
		}, "list build link", true},
		{"OutsideFileChanged", func() { write(t, folder, "README.md", "hello") }, "list build", false},
		{"BinaryDamaged", func() {
			must.OK(t, os.Truncate(filepath.Join(cacheFolder, "binaries", hash, "bootstrap"), 10))
		}, "list build", false},
		{"LinkedDamaged", func() { damage(t, linked(t, cacheFolder, "hello"), 10) }, "list build build link", false},
		{"LinkedTruncated", func() {
			must.OK(t, os.Truncate(linked(t, cacheFolder, "hello"), 100_000))
		}, "list build build link", false},
		{"NothingChangedAgain", func() {}, "list build", false},
	}
	for _, step := range steps {
		step.change()
		got := mustBuild(t, both(folder), cacheFolder)["hello"].Hash
		if s := subcommands(); s != step.want {
			t.Errorf("%s: go was run for %q, want %q", step.name, s, step.want)
		}
		if (got != hash) != step.new {
			t.Errorf("%s: hash: got %s after %s, want a new one: %v", step.name, got, hash, step.new)
		}
		hash = got
	}
}

// linked returns the path of the binary that the toolchain has linked.
func linked(t *testing.T, cacheFolder, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(cacheFolder, "linked", "*", "bin", name))
	if err != nil || len(files) != 1 {
		t.Fatalf("linked binaries: got %v, %v, want one", files, err)
	}
	return files[0]
}

// damage changes one byte at a distance from the end of a file.
func damage(t *testing.T, file string, distance int) {
	t.Helper()
	content := must.Get(os.ReadFile(file))(t)
	content[len(content)-distance]++
	must.OK(t, os.WriteFile(file, content, 0o755))
}

func TestCacheRemovesUnused(t *testing.T) {
	skipShort(t)
	t.Parallel()
	folder, cacheFolder := handlersModule(t), t.TempDir()
	before := mustBuild(t, both(folder), cacheFolder)["hello"]
	mustBuild(t, Source{Directory: folder, Packages: []string{"hello"}, Flags: []string{"-trimpath"}}, cacheFolder)
	old := time.Now().Add(-unusedAfter - time.Hour)
	for _, pattern := range []string{"linked/*", "binaries/*"} {
		entries, err := filepath.Glob(filepath.Join(cacheFolder, pattern))
		if err != nil || len(entries) == 0 {
			t.Fatalf("%s: got %v, %v", pattern, entries, err)
		}
		for _, e := range entries {
			must.OK(t, os.Chtimes(e, old, old))
		}
	}
	write(t, folder, "words/words.go", "package words\n\n//go:noinline\nfunc All() string { return \"new \" }\n")
	after := mustBuild(t, both(folder), cacheFolder)["hello"]
	if _, err := os.Stat(before.Directory); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unused binary is still there: %v", err)
	}
	if _, err := os.Stat(after.Directory); err != nil {
		t.Errorf("the new binary is not there: %v", err)
	}
	linked(t, cacheFolder, "hello") // the other one is not there
}

// Builds at the same time link a binary once, and so do builds of other packages beside it.
func TestBuildsAtOnce(t *testing.T) {
	skipShort(t)
	subcommands := spy(t)
	folder, cacheFolder := handlersModule(t), t.TempDir()
	var group sync.WaitGroup
	hashes := make([]string, 4)
	for i := range hashes {
		group.Go(func() {
			binaries, err := build(t.Context(), both(folder), lambda, cacheFolder)
			if err != nil {
				t.Error(err)
				return
			}
			hashes[i] = binaries["hello"].Hash
		})
	}
	group.Wait()
	for _, h := range hashes {
		if h != hashes[0] {
			t.Errorf("hashes: got %v, want one", hashes)
		}
	}
	if n := strings.Count(subcommands(), "link"); n != 2 {
		t.Errorf("%d builds of two binaries at the same time linked %d times, want twice", len(hashes), n)
	}
	alone := mustBuild(t, Source{Directory: folder, Packages: []string{"hello"}}, cacheFolder)
	if s := subcommands(); s != "list build" || len(alone) != 1 || alone["hello"].Hash != hashes[0] {
		t.Errorf("hello alone: go was run for %q and gave %v, want %s from the cache", s, alone, hashes[0])
	}
}

func TestBuildErrCompile(t *testing.T) {
	skipShort(t)
	t.Parallel()
	folder := handlersModule(t)
	write(t, folder, "hello/main.go", "package main\n\nfunc main() { undefinedHere() }\n")
	_, err := build(t.Context(), both(folder), lambda, t.TempDir())
	failed, ok := errors.AsType[*CompileError](err)
	if !ok {
		t.Fatalf("got %T %v, want a *CompileError", err, err)
	}
	for _, want := range []string{"hello/main.go:3", "undefined: undefinedHere", folder} {
		if !strings.Contains(failed.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, failed)
		}
	}
}

func TestBuildErr(t *testing.T) {
	t.Parallel()
	folder := handlersModule(t)
	tests := map[string]struct {
		source Source
		want   string
	}{
		"NoPackages":     {Source{Directory: folder}, "name at least one"},
		"EmptyPackage":   {Source{Directory: folder, Packages: []string{""}}, "relative to the module"},
		"FlagAsPackage":  {Source{Directory: folder, Packages: []string{"-o=/etc/passwd"}}, "relative to the module"},
		"AbsoluteFolder": {Source{Directory: folder, Packages: []string{folder + "/hello"}}, "relative to the module"},
		"NoFlag": {Source{Directory: folder, Packages: []string{"hello"}, Flags: []string{"std"}},
			"-name=value"},
		"FlagAsModule": {Source{Module: "-u", Packages: []string{"hello"}}, "path of a Go module"},
		"TwoPlaces": {Source{Directory: folder, Module: "example.com/handlers", Packages: []string{"hello"}},
			"leave one of them out"},
		"UnknownModule": {Source{Module: "example.com/nowhere", Packages: []string{"hello"}},
			"module is not known here: example.com/nowhere"},
		"NoFolder":  {Source{Directory: filepath.Join(folder, "no"), Packages: []string{"hello"}}, "no folder"},
		"NoPackage": {Source{Directory: folder, Packages: []string{"no"}}, "no"},
		"NoMain":    {Source{Directory: folder, Packages: []string{"words"}}, "words in "},
		"NoMainToo": {Source{Directory: folder, Packages: []string{"hello", "words"}}, "words in "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := build(t.Context(), test.source, lambda, t.TempDir())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
	t.Run("Cancelled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := build(ctx, both(folder), lambda, t.TempDir()); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
}

func TestBuildErrNoToolchain(t *testing.T) {
	folder := handlersModule(t)
	t.Setenv("PATH", t.TempDir())
	_, err := build(t.Context(), both(folder), lambda, t.TempDir())
	if !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "install Go") {
		t.Errorf("got %v, want one that says to install Go", err)
	}
}

func TestBuildErrCacheFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must.OK(t, os.WriteFile(file, nil, 0o644))
	_, err := build(t.Context(), both(handlersModule(t)), lambda, file)
	if err == nil || !strings.Contains(err.Error(), cacheVariable) {
		t.Errorf("got %v, want one that names %s", err, cacheVariable)
	}
}

// The library's own module is found without a path.
func TestLocate(t *testing.T) {
	t.Parallel()
	found := must.Get(locate(t.Context(), Source{Packages: []string{"x"}}, t.TempDir()))(t)
	want := must.Get(filepath.Abs("../.."))(t)
	if found.directory != want || found.prefix != "./" {
		t.Errorf("got %+v, want folder %s", found, want)
	}
}

// proxied adds the module in a folder to a module proxy.
func proxied(t *testing.T, proxy, folder string, version module.Version) {
	t.Helper()
	description := must.Get(os.ReadFile(filepath.Join(folder, "go.mod")))(t)
	var archive bytes.Buffer
	must.OK(t, zip.CreateFromDir(&archive, version, folder))
	stem := filepath.Join(version.Path, "@v", version.Version)
	write(t, proxy, stem+".info", fmt.Sprintf("{\"Version\": %q}", version.Version))
	write(t, proxy, stem+".mod", string(description))
	write(t, proxy, stem+".zip", archive.String())
}

// run runs the toolchain in a folder.
func run(t *testing.T, folder string, arguments ...string) {
	t.Helper()
	command := exec.Command("go", arguments...)
	command.Dir = folder
	if _, err := output(command); err != nil {
		t.Fatal(failure(err))
	}
}

// A module of a user of the library is found in its own folder, below it, and where it is required: in the module
// cache, by replace, in a workspace and in a vendor folder. The binary is the same to the byte, whatever the toolchain
// knows there of the checksums of the modules in it.
func TestModule(t *testing.T) {
	proxy, cache := t.TempDir(), t.TempDir()
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy))
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOMODCACHE", cache)
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOWORK", "")
	dependency, library, folder := t.TempDir(), t.TempDir(), handlersModule(t)
	write(t, dependency, "go.mod", "module example.com/dependency\n\ngo 1.24\n")
	write(t, dependency, "dependency.go", "package dependency\n\nfunc Name() string { return \"you\" }\n")
	proxied(t, proxy, dependency, module.Version{Path: "example.com/dependency", Version: "v1.2.3"})
	write(t, library, "go.mod", "module "+libraryModule()+"\n\ngo 1.24\n")
	write(t, library, "internal/gobuild/build.go", "package gobuild\n")
	proxied(t, proxy, library, module.Version{Path: libraryModule(), Version: "v1.0.0"})
	write(t, folder, "constructs/hello.go", "package constructs\n")
	write(t, folder, "hello/main.go",
		"package main\n\nimport (\n\t\"example.com/dependency\"\n\t\"example.com/handlers/greeting\"\n)\n\n"+
			"func main() { println(greeting.Of(dependency.Name())) }\n")
	run(t, folder, "get", "example.com/dependency@v1.2.3")
	proxied(t, proxy, folder, module.Version{Path: "example.com/handlers", Version: "v1.0.0"})
	source := Source{Module: "example.com/handlers", Packages: []string{"hello"}}

	importer := func() string {
		app := t.TempDir()
		write(t, app, "go.mod", "module example.com/app\n\ngo 1.24\n")
		write(t, app, "main.go", "package main\n\nimport _ \""+libraryModule()+
			"/internal/gobuild\"\n\nfunc main() {}\n")
		write(t, app, "vendoring.go", "//go:build vendoring\n\npackage main\n\nimport _ "+
			"\"example.com/handlers/hello\"\n")
		run(t, app, "get", "example.com/handlers@v1.0.0", libraryModule()+"@v1.0.0")
		run(t, app, "mod", "tidy")
		return app
	}
	required, replacing, working, vendoring := importer(), importer(), importer(), importer()
	run(t, replacing, "mod", "edit", "-replace=example.com/handlers="+folder)
	run(t, working, "work", "init", ".", folder)
	run(t, vendoring, "mod", "vendor")

	hashes := map[string]string{}
	for name, working := range map[string]string{
		"Own": folder, "Below": filepath.Join(folder, "constructs"),
		"ModuleCache": required, "Replace": replacing, "Workspace": working, "Vendor": vendoring,
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(working)
			if name == "Vendor" {
				t.Setenv("GOPROXY", "off")
				t.Setenv("GOMODCACHE", t.TempDir())
			}
			hashes[name] = mustBuild(t, source, t.TempDir())["hello"].Hash
		})
	}
	// From elsewhere the folders are asked in turn.
	t.Run("From", func(t *testing.T) {
		t.Chdir(t.TempDir())
		asked := source
		asked.From = []string{filepath.Join(folder, "no"), t.TempDir(), vendoring, folder}
		hashes["From"] = mustBuild(t, asked, t.TempDir())["hello"].Hash
		asked.From = asked.From[:2]
		_, err := build(t.Context(), asked, lambda, t.TempDir())
		if !errors.Is(err, ErrUnknownModule) || !strings.Contains(err.Error(), asked.From[1]+": ") ||
			strings.Contains(err.Error(), asked.From[0]) {
			t.Errorf("got %v, want one that names the folder that was asked", err)
		}
	})
	t.Run("ErrNotVendored", func(t *testing.T) {
		t.Chdir(vendoring)
		missing := source
		missing.Packages = []string{"bye"}
		if _, err := build(t.Context(), missing, lambda, t.TempDir()); err == nil ||
			!strings.Contains(err.Error(), `import _ "example.com/handlers/bye"`) {
			t.Errorf("got %v, want one that says how to vendor the package", err)
		}
	})
	for name, hash := range hashes {
		if hash != hashes["Own"] {
			t.Errorf("%s: got the hash %s, want that of the module's folder, %s", name, hash, hashes["Own"])
		}
	}
}

// A module that is being worked on is built in its workspace, which may be the only
// place that says where its requirements are.
func TestModuleOfWorkspace(t *testing.T) {
	skipShort(t)
	folder := t.TempDir()
	write(t, folder, "go.work", "go 1.24\n\nuse (\n\t./handlers\n\t./greetings\n)\n")
	write(t, folder, "greetings/go.mod", "module example.com/greetings\n\ngo 1.24\n")
	write(t, folder, "greetings/greetings.go", "package greetings\n\nconst Hello = \"hello\"\n")
	write(t, folder, "handlers/go.mod", "module example.com/handlers\n\ngo 1.24\n\nrequire example.com/greetings "+
		"v1.0.0\n")
	write(t, folder, "handlers/hello/main.go",
		"package main\n\nimport \"example.com/greetings\"\n\nfunc main() { println(greetings.Hello) }\n")
	t.Chdir(filepath.Join(folder, "handlers"))
	mustBuild(t, Source{Module: "example.com/handlers", Packages: []string{"hello"}}, t.TempDir())
}

// A program knows the versions of the modules that it was built with, its own too.
func TestVersionOf(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		main, dependency debug.Module
		want             string
	}{
		"Dependency": {debug.Module{Path: "example.com/app", Version: "v1.0.0"},
			debug.Module{Path: "example.com/handlers", Version: "v1.2.3"}, "v1.2.3"},
		"Own": {debug.Module{Path: "example.com/handlers", Version: "v1.2.3"},
			debug.Module{Path: "example.com/other", Version: "v0.1.0"}, "v1.2.3"},
		"ErrUnknown": {debug.Module{Path: "example.com/app"},
			debug.Module{Path: "example.com/other", Version: "v0.1.0"}, ""},
		"ErrFolder": {debug.Module{Path: "example.com/app"},
			debug.Module{Path: "example.com/handlers", Version: "v1.2.3", Replace: &debug.Module{Path: "../handlers"}},
			""},
		"ErrCheckout": {debug.Module{Path: "example.com/handlers", Version: "(devel)"}, debug.Module{}, ""},
		"ErrChangedSince": {debug.Module{Path: "example.com/handlers",
			Version: "v1.2.4-0.20260101000000-0123456789ab+dirty"}, debug.Module{}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := versionOf(&debug.BuildInfo{Main: test.main, Deps: []*debug.Module{&test.dependency}},
				"example.com/handlers"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
