package release

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/onesynth-cdk/onesynth/internal/platforms"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/command/commandtest"
	"github.com/onesynth-cdk/onesynth/tools/release/importertest"
)

// An importer gets the same handlers, to the byte, from the module cache, by replace, in a
// workspace and with vendor, without naming a path, and those of a platform of its own module. The assembly runs.
// Each synth links all handlers. Their runs take what was linked of the same packages.
func TestImporters(t *testing.T) {
	t.Parallel()
	// go mod vendor and workspaces need more modules than a build for this machine downloads.
	importertest.Output(t, exec.Command("go", "mod", "download"))
	library := t.TempDir()
	importertest.CopyLibrary(t, library)
	want := importertest.OwnHandlers(t, library)
	if zero, _ := importertest.CountHandlers(); len(want) != zero {
		t.Fatalf("the repository's own handlers: got %v, want %d", want, zero)
	}
	onesynth := commandtest.Path(t)
	// newImporter writes an importer that has built no handlers yet.
	newImporter := func(t *testing.T) *importertest.Importer {
		t.Helper()
		i := importertest.New(t)
		i.Handlers = t.TempDir()
		i.AddPlatform(t)
		return i
	}
	check := func(t *testing.T, assembly string, ofOwn int) {
		t.Helper()
		importertest.CheckHandlers(t, assembly, want, ofOwn)
	}

	t.Run("ModuleCache", func(t *testing.T) {
		t.Parallel()
		i := newImporter(t)
		cache := filepath.Join(t.TempDir(), "modcache")
		t.Cleanup(func() { makeWritable(t, cache) })
		linkModule(t, cache, "github.com/aws/aws-cdk-go/awscdk/v2")
		i.Environment = append(i.Environment, "GOMODCACHE="+cache,
			"GOPROXY=file://"+proxy(t, importertest.ModulePath, library, "v0.1.0")+","+importertest.CacheProxy(t))
		get := []string{"go", "get"}
		for _, p := range platforms.All() {
			get = append(get, importertest.ModulePath+"/constructs/"+p.Name()+"@v0.1.0")
		}
		i.Run(t, get...)
		i.Run(t, "go", "get", "./...")
		assembly := i.Synthesise(t, "")
		check(t, assembly, importertest.HandlersOfOwn)
		i.CheckRun(t, onesynth)
		reportWeight(t, i, cache)
		// Outside of the module, the app finds its version in its build information.
		check(t, i.Synthesise(t, t.TempDir()), 0)
	})
	t.Run("Replace", func(t *testing.T) {
		t.Parallel()
		i := newImporter(t)
		i.Database = importertest.OwnDatabase(t)
		i.Replace(t, library)
		i.Run(t, "go", "get", "./...")
		assembly := i.Synthesise(t, "")
		check(t, assembly, importertest.HandlersOfOwn)
		i.CheckRun(t, onesynth)
	})
	t.Run("Workspace", func(t *testing.T) {
		t.Parallel()
		i := newImporter(t)
		i.Database = importertest.OwnDatabase(t)
		i.Run(t, "go", "work", "init", ".", library)
		assembly := i.Synthesise(t, "")
		check(t, assembly, importertest.HandlersOfOwn)
		i.CheckRun(t, onesynth)
	})
	t.Run("Vendor", func(t *testing.T) {
		t.Parallel()
		i := newImporter(t)
		i.Database = importertest.OwnDatabase(t)
		i.Replace(t, library)
		// The module cache lacks what the tests of required modules import.
		i.Run(t, "go", "mod", "tidy", "-e")
		i.Run(t, "go", "mod", "vendor")
		i.Environment = append(i.Environment, "GOPROXY=off", "GOFLAGS=-mod=vendor",
			"GOMODCACHE="+filepath.Join(t.TempDir(), "empty"))
		assembly := i.Synthesise(t, "")
		check(t, assembly, importertest.HandlersOfOwn)
		i.CheckRun(t, onesynth)
	})
}

// reportWeight logs how many modules an importer needs, and fails if one of them is for this
// repository's command or tests alone.
func reportWeight(t *testing.T, i *importertest.Importer, cache string) {
	t.Helper()
	content := must.Get(os.ReadFile(filepath.Join(i.Folder, "go.mod")))(t)
	requirements := must.Get(modfile.Parse("go.mod", content, nil))(t)
	sums := must.Get(os.ReadFile(filepath.Join(i.Folder, "go.sum")))(t)
	var archives []string
	var size int64
	must.OK(t, filepath.WalkDir(filepath.Join(cache, "cache", "download"),
		func(path string, entry fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".zip" {
				return err
			}
			information, err := os.Stat(path)
			if err != nil {
				return err
			}
			archives = append(archives, path)
			size += information.Size()
			return nil
		}))
	t.Logf("an importer's go.mod names %d modules, its go.sum has %d lines, and building, synthesising included, "+
		"fetches %d modules of %d MB",
		len(requirements.Require), bytes.Count(sums, []byte("\n")), len(archives), size/1_000_000)
	document := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "guide", "import.md")))(t)
	if says := fmt.Sprintf("names %d modules", len(requirements.Require)); !bytes.Contains(document, []byte(says)) {
		t.Errorf("docs/guide/import.md does not say that an importer's go.mod %s", says)
	}
	for _, unwanted := range []string{"terratest", "duckdb", "gofakes3", "kong", "cdk-nag", "rapid",
		"porcupine", "moremath", "golang.org/x/perf"} {
		if bytes.Contains(sums, []byte(unwanted)) {
			t.Errorf("the importer's go.sum names %s", unwanted)
		}
		for _, path := range archives {
			if strings.Contains(path, unwanted) {
				t.Errorf("the importer fetched %s", path)
			}
		}
	}
}

// proxy writes a module proxy that has the library under that path in that version.
func proxy(t *testing.T, path, library, version string) string {
	t.Helper()
	folder := t.TempDir()
	versions := filepath.Join(folder, filepath.FromSlash(path), "@v")
	must.OK(t, os.MkdirAll(versions, 0o755))
	archive := must.Get(os.Create(filepath.Join(versions, version+".zip")))(t)
	defer archive.Close()
	must.OK(t, modzip.CreateFromDir(archive, module.Version{Path: path, Version: version},
		library))
	description := must.Get(os.ReadFile(filepath.Join(library, "go.mod")))(t)
	information := must.Get(json.Marshal(map[string]any{"Version": version, "Time": time.Unix(0, 0)}))(t)
	for name, content := range map[string][]byte{version + ".mod": description, version + ".info": information,
		"list": []byte(version + "\n")} {
		must.OK(t, os.WriteFile(filepath.Join(versions, name), content, 0o644))
	}
	return folder
}

// linkModule links a required module of this machine's module cache into another cache.
// Unpacking the CDK would take longer than the rest of the test.
func linkModule(t *testing.T, cache, path string) {
	t.Helper()
	version := strings.TrimSpace(importertest.Output(t, exec.Command("go", "list", "-m", "-f", "{{.Version}}", path)))
	own, folder := importertest.ModuleCache(t), filepath.FromSlash(path)
	names := []string{folder + "@" + version}
	for _, suffix := range []string{".info", ".mod", ".zip", ".ziphash"} {
		names = append(names, filepath.Join("cache", "download", folder, "@v", version+suffix))
	}
	for _, name := range names {
		link := filepath.Join(cache, name)
		must.OK(t, os.MkdirAll(filepath.Dir(link), 0o755))
		must.OK(t, os.Symlink(filepath.Join(own, name), link))
	}
}

// makeWritable makes the folders of a module cache, which the toolchain makes read-only,
// removable.
func makeWritable(t *testing.T, cache string) {
	t.Helper()
	if err := filepath.WalkDir(cache, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			err = os.Chmod(path, 0o755)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
