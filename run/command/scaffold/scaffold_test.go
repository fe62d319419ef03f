package scaffold_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/run/command/scaffold"
)

// root is the folder of this module.
const root = "../../.."

// written writes a project into a folder of its own, and returns the contents of its files.
func written(t *testing.T, p scaffold.Project) map[string]string {
	t.Helper()
	p.Folder = filepath.Join(t.TempDir(), "project")
	files := must.Get(p.Write())(t)
	contents := map[string]string{}
	for _, file := range files {
		contents[file] = read(t, filepath.Join(p.Folder, file))
	}
	return contents
}

func read(t *testing.T, file string) string {
	t.Helper()
	content := must.Get(os.ReadFile(file))(t)
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
				if strings.HasSuffix(file, ".go") {
					checkFormat(t, file, content)
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

// platforms are the names of this library's platforms.
func platforms(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "constructs", "*", "testdata", "environments.json"))
	if err != nil || len(files) < 2 {
		t.Fatalf("got the platforms %v, %v", files, err)
	}
	for _, file := range files {
		names = append(names, filepath.Base(filepath.Dir(filepath.Dir(file))))
	}
	return names
}

// A platform that is taken over has all files of its packages, in packages of the project, but for what compares it
// with its origin. They import nothing of the
// library that others may not, or that knows its platforms. What the modules of its page import is there, too. Links
// lead to files of the project or of the library.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	const module = "example.com/ours"
	ofPage := regexp.MustCompile(`['"](\.[\w./-]+\.(?:js|css))['"]`)
	library := scaffold.LibraryModule()
	for _, name := range platforms(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := written(t, scaffold.Project{Name: "ours", From: name, Version: "v0.1.0", Library: root})
			for _, parent := range []string{"platforms", "constructs", "lambdas"} {
				source := os.DirFS(filepath.Join(root, parent, name))
				if err := fs.WalkDir(source, ".", func(file string, entry fs.DirEntry, err error) error {
					if err == nil && parent == "constructs" && file == "testdata" {
						return fs.SkipDir
					}
					_, there := files[path.Join(parent, name, file)]
					if of := path.Base(file) == "origin_test.go"; err == nil && !entry.IsDir() && there == of {
						t.Errorf("%s/%s/%s is taken: %t", parent, name, file, there)
					}
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			folders := map[string]bool{}
			for file := range files {
				folders[path.Dir(file)] = true
			}
			link := regexp.MustCompile(`\]\(([^)#:\s]+)[)#]|https://` + regexp.QuoteMeta(library) +
				`/(?:blob|tree)/main/([\w./-]+)`)
			for file, content := range files {
				if strings.HasSuffix(file, ".go") {
					checkFormat(t, file, content)
					for _, imported := range imports(t, file, content) {
						folder, ours := strings.CutPrefix(imported, module+"/")
						shared, theirs := strings.CutPrefix(imported, library+"/")
						first, _, _ := strings.Cut(shared, "/")
						if ours && !folders[folder] {
							t.Errorf("%s imports %s, which is not there", file, imported)
						}
						if theirs && (path.Base(shared) == name ||
							slices.Contains([]string{"internal", "platforms", "release", "test", "cmd"}, first)) {
							t.Errorf("%s imports %s, which is not for others", file, imported)
						}
					}
				}
				if path.Base(path.Dir(file)) == "modules" {
					for _, found := range ofPage.FindAllStringSubmatch(content, -1) {
						if to := path.Join(path.Dir(file), found[1]); files[to] == "" {
							t.Errorf("%s imports %s, which is not there", file, to)
						}
					}
				}
				if !strings.HasPrefix(file, "docs/") && file != "README.md" {
					continue
				}
				for _, found := range link.FindAllStringSubmatch(content, -1) {
					to := path.Join(path.Dir(file), found[1])
					if _, there := files[to]; found[1] != "" && !there && !folders[to] {
						t.Errorf("%s leads to %s, which is not there", file, found[1])
					}
					if _, err := os.Stat(filepath.Join(root, found[2])); found[2] != "" && err != nil {
						t.Errorf("%s leads to %s of the library: %v", file, found[2], err)
					}
				}
			}
			golden := "constructs/" + name + "/testdata/golden/tokens.txt"
			whole := read(t, filepath.Join(root, golden))
			for line := range strings.Lines(whole) {
				if of := strings.Contains(line, "Metadata.onesynth"); of == strings.Contains(files[golden], line) {
					t.Errorf("%s: got %s; want all lines but those of builds", golden, line)
				}
			}
			if page := "docs/platforms/" + name + ".md"; files[page] == "" || files["LICENSE"] == "" {
				t.Errorf("got no %s, or no licence", page)
			}
			if says := name + `.New(stack, "`; !strings.Contains(files["main.go"], says) ||
				!strings.Contains(files["constructs/"+name+"/"+name+".go"], `const module = "`+module+`"`) {
				t.Errorf("main.go does not say %s, or its construct has another module", says)
			}
		})
	}
}

// imports are the import paths of a file.
func imports(t *testing.T, file, content string) (paths []string) {
	t.Helper()
	parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, content, parser.ImportsOnly))(t)
	for _, i := range parsed.Imports {
		paths = append(paths, strings.Trim(i.Path.Value, `"`))
	}
	return paths
}

// checkFormat checks that a file of Go is formatted.
func checkFormat(t *testing.T, file, content string) {
	t.Helper()
	if formatted, err := format.Source([]byte(content)); err != nil || string(formatted) != content {
		t.Errorf("%s is not formatted: %v", file, err)
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
		must.OK(t, json.Unmarshal([]byte(text), into))
	}
	if diff := cmp.Diff(recommended, settings.Context); diff != "" {
		t.Errorf("cdk.json has other flags than %s (-CDK +cdk.json):\n%s", file, diff)
	}
}

// The go.mod requires the version of the command. With a checkout, it takes the library from there.
func TestGoMod(t *testing.T) {
	t.Parallel()
	own := must.Get(modfile.Parse("go.mod", []byte(read(t, filepath.Join(root, "go.mod"))), nil))(t)
	parsed := func(p scaffold.Project) *modfile.File {
		t.Helper()
		p.Name = "links"
		requirements := must.Get(modfile.Parse("go.mod", []byte(written(t, p)["go.mod"]), nil))(t)
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
	must.OK(t, os.Mkdir(checkout, 0o700))
	must.OK(t, os.WriteFile(filepath.Join(checkout, "go.mod"), []byte("module "+scaffold.LibraryModule()+"\n"),
		0o600))
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
		must.OK(t, json.Unmarshal([]byte(text), into))
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

// The workflows install the versions that docs/project/versions.md says everything is tested with.
func TestWorkflowVersions(t *testing.T) {
	t.Parallel()
	action := written(t, scaffold.Project{Name: "links", Version: "v0.3.1"})[".github/actions/setup/action.yml"]
	versions := read(t, filepath.Join(root, "docs", "project", "versions.md"))
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
			t.Errorf("action.yml installs %s %q; docs/project/versions.md says %q", tool, version, row)
		}
	}
}

// All that is wrong is said at once, and nothing is written.
func TestWriteErr(t *testing.T) {
	t.Parallel()
	full := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(full, "notes.txt"), nil, 0o600))
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
		"From": {scaffold.Project{Name: "links", From: "notes", Checkout: root},
			[]string{`from: got "notes": write one of ` + strings.Join(platforms(t), ", ")}, nil},
		"NoSource": {scaffold.Project{Name: "links", From: "notes", Version: "v0.1.0", Library: full},
			[]string{"which has no platforms"}, nil},
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
	must.OK(t, os.Mkdir(filepath.Join(folder, ".git"), 0o700))
	if files, err := (scaffold.Project{Name: "links", Version: "v0.1.0", Folder: folder}).Write(); err != nil ||
		len(files) != 20 {
		t.Errorf("got %d files, %v; want 20", len(files), err)
	}
}
