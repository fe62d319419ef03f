package scaffold_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"

	"github.com/onesynth-cdk/onesynth/cmd/onesynth/scaffold"
)

// root is the folder of this module.
const root = "../../.."

// written writes a project into a folder of its own, and returns the contents of its files.
func written(t *testing.T, p scaffold.Project) map[string]string {
	t.Helper()
	p.Folder = filepath.Join(t.TempDir(), "project")
	files, err := p.Write()
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string]string{}
	for _, file := range files {
		contents[file] = read(t, filepath.Join(p.Folder, file))
	}
	return contents
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// The names of parts follow from the name. No action of a template is left, and Go is formatted.
func TestWrite(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ platform, title, id, module string }{
		"a":           {"a", "A", "A", "example.com/a"},
		"short-links": {"shortlinks", "Short links", "ShortLinks", "github.com/you/links"},
		"x9-y-10":     {"x9y10", "X9 y 10", "X9Y10", "example.com/x9-y-10"},
		"func":        {"func", "Func", "Func", "example.com/func"},
		strings.Repeat("a", 40): {strings.Repeat("a", 40), "A" + strings.Repeat("a", 39), "A" + strings.Repeat("a", 39),
			"example.com/" + strings.Repeat("a", 40)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := scaffold.Project{Name: name, Version: "v0.3.1"}
			if !strings.HasPrefix(want.module, "example.com/") {
				project.Module = want.module
			}
			files := written(t, project)
			for file, content := range files {
				if strings.Contains(content, "[[.") || strings.Contains(content, "<no value>") {
					t.Errorf("%s has an action of a template", file)
				}
				if formatted, err := format.Source([]byte(content)); strings.HasSuffix(file, ".go") &&
					(err != nil || string(formatted) != content) {
					t.Errorf("%s is not formatted: %v", file, err)
				}
			}
			for file, says := range map[string]string{
				"go.mod":               "module " + want.module + "\n",
				"package.json":         `"name": "` + name + `"`,
				"contract/contract.go": `Name: "` + want.platform + `", Title: "` + want.title + `"`,
				"main.go":              `construct.New(stack, "` + want.id + `", settings)`,
				"lambdas/" + want.platform + "/notesapi/main.go": `"` + want.module + `/lambdas/` + want.platform +
					`/notes"`,
				"notes_test.go":                    `Stack: "` + name + `-dev"`,
				".github/workflows/platform.yml":   name + `-" + process.env.STAGE]["` + want.id + `ApiUrl"]`,
				".github/actions/setup/action.yml": "npm ci",
				"Makefile":                         "--watch $(CONTEXT)",
				".gitignore":                       "/cdk.out/",
			} {
				if !strings.Contains(files[file], says) {
					t.Errorf("%s does not say %q", file, says)
				}
			}
		})
	}
}

// The cdk.json has the feature flags that the CDK recommends for a new app: what `cdk flags` reports is what it did not
// have.
func TestFeatureFlags(t *testing.T) {
	t.Parallel()
	const file = "node_modules/aws-cdk/lib/init-templates/.recommended-feature-flags.json"
	var recommended map[string]any
	var settings struct{ Context map[string]any }
	for text, into := range map[string]any{read(t, filepath.Join(root, file)): &recommended,
		written(t, scaffold.Project{Name: "links", Version: "v0.3.1"})["cdk.json"]: &settings} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(recommended, settings.Context); diff != "" {
		t.Errorf("cdk.json has other flags than %s (-CDK +cdk.json):\n%s", file, diff)
	}
}

// The go.mod requires the version of the command. With a checkout, it takes the library from there.
func TestGoMod(t *testing.T) {
	t.Parallel()
	own, err := modfile.Parse("go.mod", []byte(read(t, filepath.Join(root, "go.mod"))), nil)
	if err != nil {
		t.Fatal(err)
	}
	parsed := func(p scaffold.Project) *modfile.File {
		t.Helper()
		p.Name = "links"
		requirements, err := modfile.Parse("go.mod", []byte(written(t, p)["go.mod"]), nil)
		if err != nil {
			t.Fatal(err)
		}
		if requirements.Go.Version != own.Go.Version || len(requirements.Require) != 1 ||
			requirements.Require[0].Mod.Path != own.Module.Mod.Path ||
			len(requirements.Tool) != 1 || requirements.Tool[0].Path != own.Module.Mod.Path+"/cmd/onesynth" {
			t.Errorf("got go %s, require %v, tool %v; want those of %s", requirements.Go.Version, requirements.Require,
				requirements.Tool, own.Module.Mod.Path)
		}
		return requirements
	}
	if got := parsed(scaffold.Project{Version: "v0.3.1"}); got.Require[0].Mod.Version != "v0.3.1" ||
		len(got.Replace) != 0 {
		t.Errorf("got %v, %v; want v0.3.1", got.Require[0], got.Replace)
	}
	// A path with a space needs quotes.
	checkout := filepath.Join(t.TempDir(), "a checkout")
	if err := os.Mkdir(checkout, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(checkout, "go.mod"), []byte("module "+scaffold.LibraryModule()+"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if got := parsed(scaffold.Project{Checkout: checkout}); got.Require[0].Mod.Version != scaffold.DevelopmentVersion ||
		len(got.Replace) != 1 || got.Replace[0].New.Path != checkout {
		t.Errorf("got %v, %v; want the folder %s", got.Require[0], got.Replace, checkout)
	}
}

// The packages of npm are those that this repository is tested with.
func TestPackages(t *testing.T) {
	t.Parallel()
	type lock struct {
		Packages map[string]map[string]any
	}
	decode := func(text string, into any) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	files := written(t, scaffold.Project{Name: "links", Version: "v0.3.1"})
	var own, got lock
	decode(read(t, filepath.Join(root, "package-lock.json")), &own)
	decode(files["package-lock.json"], &got)
	var packages struct {
		Name            string
		Engines         map[string]any
		DevDependencies map[string]any
	}
	decode(files["package.json"], &packages)
	if first := got.Packages[""]; first["name"] != packages.Name ||
		!cmp.Equal(first["devDependencies"], any(packages.DevDependencies)) ||
		!cmp.Equal(first["engines"], any(packages.Engines)) {
		t.Errorf("package-lock.json is of %v; package.json has %+v", first, packages)
	}
	for name, version := range packages.DevDependencies {
		if locked := got.Packages["node_modules/"+name]; locked == nil || locked["version"] != version {
			t.Errorf("package.json has %s %v; package-lock.json %v", name, version, locked)
		}
	}
	delete(got.Packages, "")
	for name, entry := range got.Packages {
		if diff := cmp.Diff(own.Packages[name], entry); diff != "" {
			t.Errorf("package-lock.json, %s (-this repository's +the project's):\n%s", name, diff)
		}
	}
	for _, file := range []string{".npmrc", "package-lock.json"} {
		if bytes.Contains([]byte(files[file]), []byte("://")) {
			t.Errorf("%s names a host", file)
		}
	}
}

// The workflows install the versions that docs/VERSIONS.md says everything is tested with.
func TestWorkflowVersions(t *testing.T) {
	t.Parallel()
	action := written(t, scaffold.Project{Name: "links", Version: "v0.3.1"})[".github/actions/setup/action.yml"]
	versions := read(t, filepath.Join(root, "docs", "VERSIONS.md"))
	for tool, setting := range map[string]string{"Java": "java-version", "Node.js": "node-version"} {
		_, after, _ := strings.Cut(action, setting+": ")
		version, _, _ := strings.Cut(after, "\n")
		row := ""
		for line := range strings.Lines(versions) {
			if strings.HasPrefix(line, "| "+tool+",") {
				row = strings.TrimSpace(line)
			}
		}
		if version == "" || !strings.HasSuffix(row, " "+version+" |") {
			t.Errorf("action.yml installs %s %q; docs/VERSIONS.md says %q", tool, version, row)
		}
	}
}

// All that is wrong is said at once, and nothing is written.
func TestWriteErr(t *testing.T) {
	t.Parallel()
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		project scaffold.Project
		says    []string
		is      error
	}{
		"Nothing": {scaffold.Project{}, []string{`name: got ""`, "library: this command was built from a checkout",
			"--onesynth DIR"}, nil},
		"Name": {scaffold.Project{Name: "Short_Links", Version: "v0.1.0"},
			[]string{`name: got "Short_Links": write at most 40 lower-case letters`}, nil},
		"Hyphens": {scaffold.Project{Name: "short--links", Version: "v0.1.0"}, []string{`name: got "short--links"`},
			nil},
		"Digit": {scaffold.Project{Name: "9lives", Version: "v0.1.0"}, []string{`name: got "9lives"`}, nil},
		"Path":  {scaffold.Project{Name: "../links", Version: "v0.1.0"}, []string{`name: got "../links"`}, nil},
		"Long":  {scaffold.Project{Name: strings.Repeat("a", 41), Version: "v0.1.0"}, []string{"at most 40"}, nil},
		"Vendor": {scaffold.Project{Name: "vendor", Version: "v0.1.0"},
			[]string{"means something else to the Go toolchain"}, nil},
		"Module": {scaffold.Project{Name: "links", Module: "links", Version: "v0.1.0"},
			[]string{`module: got "links": missing dot in first path element: write the path`}, nil},
		"OwnModule": {scaffold.Project{Name: "links", Module: scaffold.LibraryModule(), Version: "v0.1.0"},
			[]string{"which is this library's own"}, nil},
		"Version": {scaffold.Project{Name: "links", Version: "latest"}, []string{`library: got version "latest"`},
			nil},
		"Checkout": {scaffold.Project{Name: "links", Checkout: full},
			[]string{"which has no go.mod of " + scaffold.LibraryModule()}, nil},
		"Folder": {scaffold.Project{Name: "links", Version: "v0.1.0", Folder: full},
			[]string{"which has notes.txt in it", "name another one"}, scaffold.ErrExists},
		"File": {scaffold.Project{Name: "links", Version: "v0.1.0", Folder: filepath.Join(full, "notes.txt")},
			[]string{"folder: got "}, nil},
		"Everything": {scaffold.Project{Name: "Links", Module: "x y", Checkout: full, Folder: full},
			[]string{"name: got", "module: got", "library: got", "folder: got"}, scaffold.ErrExists},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := test.project
			if project.Folder == "" {
				project.Folder = filepath.Join(t.TempDir(), "project")
			}
			_, err := project.Write()
			for _, says := range test.says {
				if err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("got %v; want %q", err, says)
				}
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %v; want %v", err, test.is)
			}
			if entries, err := os.ReadDir(project.Folder); err == nil && project.Folder != full {
				t.Errorf("it wrote %v", entries)
			}
		})
	}
	if entries, err := os.ReadDir(full); err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v; want what was there", entries, err)
	}
}

// An empty repository is as good as no folder.
func TestWriteIntoRepository(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if files, err := (scaffold.Project{Name: "links", Version: "v0.1.0", Folder: folder}).Write(); err != nil ||
		len(files) != 19 {
		t.Errorf("got %d files, %v; want 19", len(files), err)
	}
}
