package gobuild

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/module"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

func TestReadVendored(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "modules.txt")
	write(t, filepath.Dir(file), filepath.Base(file), `## workspace
# example.com/a v1.0.0
## explicit; go 1.24.0
example.com/a
example.com/a/sub
# example.com/a/nested v0.1.0 => ../nested
## go 1.26
example.com/a/nested
# example.com/b v1.0.0 => example.com/fork v1.2.0
example.com/b/sub
# example.com/nothing v1.0.0
## explicit
# example.com/a/nested => ../nested
# example.com/b v1.0.0 => example.com/fork v1.2.0
`)
	got := must.Get(readVendored(file))(t)
	want := []vendoredModule{
		{Version: module.Version{Path: "example.com/a", Version: "v1.0.0"}, language: "1.24.0",
			packages: []string{"example.com/a", "example.com/a/sub"}},
		{Version: module.Version{Path: "example.com/a/nested", Version: "v0.1.0"},
			replacement: module.Version{Path: "../nested"}, language: "1.26",
			packages: []string{"example.com/a/nested"}},
		{Version: module.Version{Path: "example.com/b", Version: "v1.0.0"},
			replacement: module.Version{Path: "example.com/fork", Version: "v1.2.0"},
			packages:    []string{"example.com/b/sub"}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(vendoredModule{})); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
	if _, err := readVendored(filepath.Join(t.TempDir(), "no")); err == nil ||
		!strings.Contains(err.Error(), "vendored modules") {
		t.Errorf("got %v, want an error that says what was read", err)
	}
}

// vendoredTree writes modules that need each other, one of them within another's
// folder and one with a replacement: as each is in the module library's own vendor
// folder, or as all are in an importer's.
func vendoredTree(t *testing.T, folder, library string) {
	t.Helper()
	must.OK(t, os.CopyFS(folder, os.DirFS("testdata/vendored")))
	must.OK(t, os.CopyFS(filepath.Join(folder, library), os.DirFS("testdata/library")))
}

// A vendored library is built as its own module with the same versions is.
func TestVendoredIsBuiltAsTheModuleIs(t *testing.T) {
	skipShort(t)
	t.Parallel()
	versions := []vendoredModule{
		{Version: module.Version{Path: "example.com/a", Version: "v1.0.0"}, language: "1.24",
			packages: []string{"example.com/a"}},
		{Version: module.Version{Path: "example.com/a/nested", Version: "v0.1.0"}, language: "1.24",
			packages: []string{"example.com/a/nested"}},
		{Version: module.Version{Path: "example.com/b", Version: "v1.0.0"},
			replacement: module.Version{Path: "example.com/fork", Version: "v1.2.0"},
			packages:    []string{"example.com/b/sub"}},
	}
	const requirements = "example.com/a v1.0.0\n\texample.com/a/nested v0.1.0\n\texample.com/b v1.0.0\n"

	importer := t.TempDir()
	vendoredTree(t, importer, "example.com/library")
	assembled := filepath.Join(t.TempDir(), "assembled")
	library := vendoredModule{Version: module.Version{Path: "example.com/library", Version: "v0.2.0"}, language: "1.25"}
	must.OK(t, library.assemble(assembled, importer, versions))

	own := t.TempDir()
	vendoredTree(t, filepath.Join(own, "vendor"), "library")
	must.OK(t, os.Rename(filepath.Join(own, "vendor", "library", "lambdas"), filepath.Join(own, "lambdas")))
	must.OK(t, os.Rename(filepath.Join(own, "vendor", "library", "schema"), filepath.Join(own, "schema")))
	write(t, own, "go.mod", "module example.com/library\n\ngo 1.25\n\nrequire (\n\t"+requirements+
		")\n\nreplace example.com/b v1.0.0 => example.com/fork v1.2.0\n")
	write(t, own, "vendor/modules.txt", `# example.com/a v1.0.0
## explicit; go 1.24
example.com/a
# example.com/a/nested v0.1.0
## explicit; go 1.24
example.com/a/nested
# example.com/b v1.0.0 => example.com/fork v1.2.0
## explicit
example.com/b/sub
`)

	got := mustBuild(t, Source{Directory: assembled, Packages: []string{"lambdas/hello"}}, t.TempDir())["lambdas/hello"]
	want := mustBuild(t, Source{Directory: own, Packages: []string{"lambdas/hello"}}, t.TempDir())["lambdas/hello"]
	if got.Hash != want.Hash {
		t.Errorf("hash: got %s, want that of the module, %s", got.Hash, want.Hash)
	}
	content := must.Get(os.ReadFile(filepath.Join(got.Directory, "bootstrap")))(t)
	for _, name := range []string{"example.com/library/schema/schema.go", "example.com/a/nested@v0.1.0/nested.go"} {
		if !bytes.Contains(content, []byte(name)) {
			t.Errorf("the binary does not name its source %s", name)
		}
	}
	for _, folder := range []string{importer, assembled} {
		if bytes.Contains(content, []byte(folder)) {
			t.Errorf("the binary names the folder %s", folder)
		}
	}
}
