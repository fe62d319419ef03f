package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
	"github.com/onesynth-cdk/onesynth/tools/release/importertest"
)

// examplesLimit is the most lines of Go that an example has beside its tests.
const examplesLimit = 415

// The platform in examples/shortener is short, and its tests use no support of tests but what
// is there for importers. Its own tests run it, and those of importers import it, too.
func TestExampleShortener(t *testing.T) {
	t.Parallel()
	example := filepath.Join("examples", "shortener")
	if lines := linesOfGo(t, example); lines > examplesLimit {
		t.Errorf("%s: got %d lines of Go, want at most %d", example, lines, examplesLimit)
	}
	if imported := importedForTests(t, example); imported != len(publicForTests) {
		t.Errorf("the tests of %s import %d packages for tests, want all of %v", example, imported, publicForTests)
	}
}

// The tests of examples/booking use the same support of tests, and its own start runs.
func TestExampleBooking(t *testing.T) {
	t.Parallel()
	example := filepath.Join("examples", "booking")
	if imported := importedForTests(t, example, "/run", "/run/onesynthtest/wait"); imported < len(publicForTests) {
		t.Errorf("the tests of %s import %d packages for tests, want all of %v", example, imported, publicForTests)
	}
}

// publicForTests are the packages for tests that importers have.
var publicForTests = []string{"/run/runtest", "/run/onesynthtest", "/run/onesynthtest/laketest",
	"/lambdas/kit/dynamo/dynamotest"}

// importedForTests checks that the tests of an example's app import no other packages for tests than the public ones
// and further ones, and returns how many they import, each once.
func importedForTests(t *testing.T, example string, further ...string) int {
	t.Helper()
	files := must.Get(filepath.Glob(filepath.Join(example, "*_test.go")))(t)
	imported := map[string]bool{}
	for _, file := range files {
		content := must.Get(os.ReadFile(file))(t)
		for _, found := range regexp.MustCompile(`"`+importertest.ModulePath+
			`(/[a-z/]*test[a-z/]*|/run[a-z/]*)"`).FindAllSubmatch(content, -1) {
			imported[string(found[1])] = true
			if allowed := slices.Concat(publicForTests, further); !slices.Contains(allowed, string(found[1])) {
				t.Errorf("%s imports %s, allowed are %v: make what it needs public", file, found[1], allowed)
			}
		}
	}
	return len(imported)
}

// The CDK command, which the example's README installs beside it, has template files that
// end in .go and are not Go.
func TestExampleBesideCDKCommand(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	must.OK(t, os.CopyFS(folder, os.DirFS(filepath.Join("examples", "shortener"))))
	own := must.Get(os.Getwd())(t)
	list := func() string {
		t.Helper()
		command := exec.Command("go", "list", "./...")
		command.Dir = folder
		return importertest.Output(t, command)
	}
	replace := exec.Command("go", "mod", "edit", "-replace="+importertest.ModulePath+"="+own)
	replace.Dir = folder
	importertest.Output(t, replace)
	want := list()
	template := filepath.Join(folder, "node_modules", "aws-cdk", "lib", "init-templates", "app", "go",
		"%name%.template.go")
	must.OK(t, os.MkdirAll(filepath.Dir(template), 0o755))
	must.OK(t, os.WriteFile(template, []byte("package main\n\nfunc New%name.PascalCased%Stack() {}\n"),
		0o644))
	if got := list(); got != want {
		t.Errorf("packages: got %s, want %s", got, want)
	}
}

// exampleHeader matches the first line of an example.
var exampleHeader = regexp.MustCompile(`(?m)^func Example(\w*)\(\) \{$`)

// endOfCDK is the line with which an example closes the CDK.
const endOfCDK = "\n\tdefer props.Close()\n"

// The examples of the constructs synthesise. Those with an Output comment run in the tests of
// their packages. The others only compile there, because each would start the CDK; here one
// program runs them all. The same program makes the mistakes that end an app.
func TestExamplesOfPackages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links an app: go test without -short does")
	}
	root := must.Get(os.Getwd())(t)
	files, err := filepath.Glob(filepath.Join("constructs", "*", "example_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("examples: got %v, %v", files, err)
	}
	folder := t.TempDir()
	write := func(content string, path ...string) string {
		t.Helper()
		name := filepath.Join(append([]string{folder}, path...)...)
		must.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.OK(t, os.WriteFile(name, []byte(content), 0o644))
		return name
	}
	// The program, in testdata/examples, has one function for each example. An overlay makes it a package of this module.
	sources, calls, examples := map[string]string{}, "", []string{}
	for _, file := range files {
		content := must.Get(os.ReadFile(file))(t)
		folder := filepath.Base(filepath.Dir(file))
		_, code, _ := strings.Cut(string(content), "\n")
		for _, found := range exampleHeader.FindAllStringSubmatchIndex(code, -1) {
			body, _, _ := strings.Cut(code[found[1]:], "\n}\n")
			if strings.Contains(body, "// Output:") {
				continue
			}
			name := folder + "_" + code[found[2]:found[3]]
			examples = append(examples, name)
			calls += fmt.Sprintf("\t{%q, example_%s},\n", name, name)
			if strings.Count(body, endOfCDK) != 1 {
				t.Errorf("%s does not end the CDK once", name)
			}
		}
		code = exampleHeader.ReplaceAllString(code, "func example_"+folder+"_$1() {")
		code = strings.ReplaceAll(code, endOfCDK, "\n\t_ = props.Close\n")
		sources[filepath.Join(root, "examplesofpackages", folder+".go")] = write("package main\n"+code, "sources",
			folder+".go")
	}
	sources[filepath.Join(root, "examplesofpackages", "examples.go")] = write("package main\n\nvar examples = "+
		"[]struct {\n\tname string\n\trun  func()\n}{\n"+calls+"}\n", "sources", "examples.go")
	for _, file := range []string{"main.go", "mistake.go"} {
		sources[filepath.Join(root, "examplesofpackages", file)] = filepath.Join(root, "testdata", "examples", file)
	}
	overlay := must.Get(json.Marshal(map[string]any{"Replace": sources}))(t)
	program := filepath.Join(folder, "program")
	importertest.Output(t, exec.Command("go", "build", "-ldflags=-w", "-overlay",
		write(string(overlay), "overlay.json"), "-o", program, "./examplesofpackages"))

	t.Run("Refused", func(t *testing.T) {
		t.Parallel()
		checkRefused(t, program)
	})

	// The examples name handlers of the importer's module.
	write("module example.com/app\n\ngo 1.26\n\nrequire "+importertest.ModulePath+" v0.0.0\n\nreplace "+
		importertest.ModulePath+" => "+root+"\n", "app", "go.mod")
	for _, handler := range []string{"handlers/invoices", "handlers/orders", "handlers/packer", "handlers/report",
		"lambdas/bookings/bookingsapi"} {
		write("package main\n\nfunc main() {}\n", "app", handler, "main.go")
	}
	assemblies := filepath.Join(folder, "assemblies")
	must.OK(t, os.Mkdir(assemblies, 0o755))
	synth := exec.Command(program, "examples", assemblies)
	synth.Dir = filepath.Join(folder, "app")
	synth.Env = append(os.Environ(), "CDK_OUTDIR="+filepath.Join(folder, "cdk.out"))
	importertest.Output(t, synth)
	for _, example := range examples {
		if templates, err := filepath.Glob(filepath.Join(assemblies, example, "*.template.json")); err != nil ||
			len(templates) == 0 {
			t.Errorf("%s synthesises nothing", example)
		}
	}
	if len(examples) < 15 {
		t.Errorf("got the examples %v, want those of all constructs", examples)
	}
}

// linesOfGo counts the lines of all Go files below a folder, without tests.
func linesOfGo(t *testing.T, folder string) int {
	t.Helper()
	lines := 0
	if err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		lines += strings.Count(string(content), "\n")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return lines
}
