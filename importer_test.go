package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

const modulePath = "github.com/onesynth-cdk/onesynth"

// importerProgram is an importer's CDK app, as far as it builds the handlers.
const importerProgram = `package main

import (
	"context"
	"fmt"
	"os"
	"path"

	"github.com/onesynth-cdk/onesynth/constructs/askahuman"
	"github.com/onesynth-cdk/onesynth/constructs/gofunction"
	"github.com/onesynth-cdk/onesynth/constructs/todo"
)

func main() {
	for _, source := range []gofunction.Source{askahuman.Handlers(gofunction.X86_64), todo.Handlers(gofunction.X86_64)} {
		build := gofunction.Start(context.Background(), source)
		for _, folder := range source.Packages {
			binary, err := build.Binary(path.Base(folder))
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			fmt.Println(folder, binary.Hash)
		}
	}
}
`

// importer is a module that imports this one.
type importer struct {
	folder      string
	environment []string
}

// newImporter writes the importer's module. Its requirements are this module's
// own and, unless the version is empty, this module; its go.sum has what this
// module's has. No more is needed, and nothing is fetched.
func newImporter(t *testing.T, version string) *importer {
	t.Helper()
	i := &importer{folder: t.TempDir()}
	content, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	requirements, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"module example.com/importer", "go " + requirements.Go.Version}
	if version != "" {
		lines = append(lines, "require "+modulePath+" "+version)
	}
	for _, r := range requirements.Require {
		lines = append(lines, fmt.Sprintf("require %s %s", r.Mod.Path, r.Mod.Version))
	}
	i.write(t, "go.mod", strings.Join(lines, "\n")+"\n")
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	i.write(t, "go.sum", string(sums))
	i.write(t, "main.go", importerProgram)
	i.environment = append(os.Environ(), "GOPROXY=off", "GONOSUMDB=*", "GOFLAGS=", "GOWORK=", "ONESYNTH_CACHE="+filepath.Join(t.TempDir(), "cache"))
	return i
}

func (i *importer) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(i.folder, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run runs a command in the importer's folder and returns what it prints.
func (i *importer) run(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Dir = i.folder
	command.Env = i.environment
	return output(t, command)
}

// hashes builds the importer's app, runs it and returns the handlers' hashes as
// it prints them.
func (i *importer) hashes(t *testing.T) string {
	t.Helper()
	// With -trimpath the CDK comes from the build cache also when it is in a vendor
	// folder.
	i.run(t, "go", "build", "-trimpath", "-o", "app", ".")
	return i.run(t, filepath.Join(i.folder, "app"))
}

// An importer gets the handlers built however it has this module, and gets the
// same ones, without naming a path.
func TestImporters(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links four apps")
	}
	// An importer vendors for every system, and a workspace looks at more modules
	// than this machine's own build has brought.
	if output, err := exec.Command("go", "mod", "download").CombinedOutput(); err != nil {
		t.Fatalf("go mod download: %v\n%s", err, output)
	}
	library := t.TempDir()
	copyTree(t, library)
	want := ""

	t.Run("Replace", func(t *testing.T) {
		i := newImporter(t, "v0.0.0")
		i.run(t, "go", "mod", "edit", "-replace="+modulePath+"="+library)
		want = i.hashes(t)
		if strings.Count(want, "\n") != 7 {
			t.Errorf("got %q, want seven hashes", want)
		}
	})
	t.Run("Workspace", func(t *testing.T) {
		// The workspace gives the module: a version that is not published would be
		// looked up all the same.
		i := newImporter(t, "")
		i.run(t, "go", "work", "init", ".", library)
		if got := i.hashes(t); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
	t.Run("ModuleCache", func(t *testing.T) {
		// A version of its own, so that nothing stale is found; it is taken out of
		// the module cache at the end.
		version := fmt.Sprintf("v0.0.1-test.%d", time.Now().UnixNano())
		i := newImporter(t, version)
		i.environment = append(i.environment, "GOPROXY=file://"+proxy(t, library, version), "GOFLAGS=-mod=mod")
		t.Cleanup(func() { forget(t, version) })
		if got := i.hashes(t); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		// Away from the module, the app knows its version from its build.
		elsewhere := exec.Command(filepath.Join(i.folder, "app"))
		elsewhere.Dir = t.TempDir()
		elsewhere.Env = i.environment
		if got := output(t, elsewhere); got != want {
			t.Errorf("run elsewhere: got\n%swant\n%s", got, want)
		}
	})
	t.Run("Vendor", func(t *testing.T) {
		i := newImporter(t, "v0.0.0")
		i.run(t, "go", "mod", "edit", "-replace="+modulePath+"="+library)
		i.run(t, "go", "mod", "vendor")
		// The folder of a vendored module has no go.mod, so that paths within the
		// binaries, and with them the hashes, are others than in the module.
		if got := i.hashes(t); strings.Count(got, "\n") != 7 {
			t.Errorf("got %q, want seven hashes", got)
		}
	})
}

// proxy writes a module proxy that has the library in that version.
func proxy(t *testing.T, library, version string) string {
	t.Helper()
	folder := t.TempDir()
	versions := filepath.Join(folder, filepath.FromSlash(modulePath), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if err := modzip.CreateFromDir(archive, module.Version{Path: modulePath, Version: version}, library); err != nil {
		t.Fatal(err)
	}
	description, err := os.ReadFile(filepath.Join(library, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	information, err := json.Marshal(map[string]any{"Version": version, "Time": time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	for suffix, content := range map[string][]byte{".mod": description, ".info": information} {
		if err := os.WriteFile(filepath.Join(versions, version+suffix), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// forget takes a version of this module out of the module cache.
func forget(t *testing.T, version string) {
	t.Helper()
	cache := strings.TrimSpace(output(t, exec.Command("go", "env", "GOMODCACHE")))
	unpacked := filepath.Join(cache, filepath.FromSlash(modulePath)+"@"+version)
	// The toolchain makes the folders of the module cache read-only.
	if err := filepath.WalkDir(unpacked, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = os.Chmod(path, 0o755)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	downloads, err := filepath.Glob(filepath.Join(cache, "cache", "download", filepath.FromSlash(modulePath), "@v", version+".*"))
	if err != nil {
		t.Error(err)
	}
	for _, path := range slices.Concat([]string{unpacked}, downloads) {
		if err := os.RemoveAll(path); err != nil {
			t.Error(err)
		}
	}
}
