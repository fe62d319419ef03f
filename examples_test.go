package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	localrun "github.com/onesynth-cdk/onesynth/local"
	"github.com/onesynth-cdk/onesynth/local/policy"
)

// examplesLimit is the maximum number of lines of Go in an example.
const examplesLimit = 150

// The app in examples/notes, with its own data model, routes and handler, is small, and its
// assembly runs.
func TestExampleNotes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links an app")
	}
	example := filepath.Join("examples", "notes")
	if lines := linesOfGo(t, example); lines >= examplesLimit {
		t.Errorf("%s: got %d lines of Go, want fewer than %d", example, lines, examplesLimit)
	}

	// The run finds the module of the function in the folder of the assembly, so the assembly
	// is in a copy of the app.
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(example)); err != nil {
		t.Fatal(err)
	}
	library, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	app, assembly := filepath.Join(folder, "app"), filepath.Join(folder, "cdk.out")
	// A synth removes functions of earlier synths.
	binary := fmt.Sprintf("%x", sha256.Sum256([]byte("old")))
	stale := filepath.Join(assembly, fmt.Sprintf("asset.%x", sha256.Sum256([]byte(binary))))
	leave := exec.Command("sh", "-c", "mkdir $0 && printf old > $0/bootstrap", stale)
	for _, command := range []*exec.Cmd{
		exec.Command("go", "mod", "edit", "-replace="+modulePath+"="+library),
		exec.Command("go", "build", "-ldflags=-w", "-o", app, "."),
		exec.Command(app), leave, exec.Command(app),
	} {
		command.Dir = folder
		command.Env = append(os.Environ(), "CDK_OUTDIR="+assembly)
		output(t, command)
	}
	if got := handlers(t, assembly); len(got) != 1 {
		t.Errorf("handlers: got %v, want one, of the example's own module", got)
	}

	t.Run("OK", func(t *testing.T) {
		t.Parallel()
		run, err := start(t, localrun.Options{Assembly: assembly})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		notes := run.URL("notes") + "/authors/alice/notes"
		for _, text := range []string{"first", "second"} {
			send(t, http.MethodPost, notes, http.Header{"Content-Type": {"application/json"}}, `{"text":"`+text+`"}`, http.StatusCreated)
		}
		var found []struct{ ID, Text string }
		if err := json.Unmarshal([]byte(send(t, http.MethodGet, notes, nil, "", http.StatusOK)), &found); err != nil {
			t.Fatal(err)
		}
		if len(found) != 2 || found[0].Text != "second" || found[1].Text != "first" || found[0].ID == found[1].ID {
			t.Errorf("notes: got %v, want the second and then the first", found)
		}
		if body := send(t, http.MethodPost, notes, http.Header{"Content-Type": {"application/json"}}, `{"text":""}`, http.StatusUnprocessableEntity); !strings.Contains(body, "text") {
			t.Errorf("a note without text: got %s, want an error that names text", body)
		}
	})
	t.Run("ErrNotGranted", func(t *testing.T) {
		t.Parallel()
		run, err := start(t, localrun.Options{Assembly: assembly, Role: withoutPuts})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		notes := run.URL("notes") + "/authors/alice/notes"
		send(t, http.MethodPost, notes, http.Header{"Content-Type": {"application/json"}}, `{"text":"first"}`, http.StatusInternalServerError)
		if body := send(t, http.MethodGet, notes, nil, "", http.StatusOK); strings.TrimSpace(body) != "[]" {
			t.Errorf("notes: got %s, want none", body)
		}
		refused := run.AWS().Refused()
		if len(refused) != 1 || refused[0].Action != "dynamodb:PutItem" {
			t.Errorf("refused requests: got %+v, want those of dynamodb:PutItem", refused)
		}
	})
}

// The CDK command, which the example's README installs beside it, has template files that
// end in .go and are not Go.
func TestExampleNotesBesideCDKCommand(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("examples", "notes"))); err != nil {
		t.Fatal(err)
	}
	own, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	list := func() string {
		t.Helper()
		command := exec.Command("go", "list", "./...")
		command.Dir = folder
		return output(t, command)
	}
	replace := exec.Command("go", "mod", "edit", "-replace="+modulePath+"="+own)
	replace.Dir = folder
	output(t, replace)
	want := list()
	template := filepath.Join(folder, "node_modules", "aws-cdk", "lib", "init-templates", "app", "go", "%name%.template.go")
	if err := os.MkdirAll(filepath.Dir(template), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(template, []byte("package main\n\nfunc New%name.PascalCased%Stack() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := list(); got != want {
		t.Errorf("packages: got %s, want %s", got, want)
	}
}

// withoutPuts removes the grant of the access pattern AddNote from a role.
func withoutPuts(_ string, role *policy.Role) *policy.Role {
	for _, grant := range role.Grants() {
		if grant.Action == "dynamodb:PutItem" {
			role = role.Without(grant)
		}
	}
	return role
}

// exampleHeader matches the first line of an example.
var exampleHeader = regexp.MustCompile(`(?m)^func Example(\w*)\(\) \{$`)

// endOfCDK is the line with which an example closes the CDK.
const endOfCDK = "\n\tdefer jsii.Close()\n"

// examplesProgram is the start of the program that runs the examples in turn.
const examplesProgram = `package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/jsii-runtime-go"
)

func run(name string, example func()) {
	fmt.Println(name)
	example()
	if err := os.Rename(os.Getenv("CDK_OUTDIR"), filepath.Join(os.Args[1], name)); err != nil {
		panic(err)
	}
}

func main() {
	defer jsii.Close()
`

// The examples of the constructs synthesise. Those with an Output comment run in the tests of
// their packages. The others only compile there, because each would start the CDK; here one
// program runs them all.
func TestExamplesOfPackages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("links an app")
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("constructs", "*", "example_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("examples: got %v, %v", files, err)
	}
	folder := t.TempDir()
	write := func(content string, path ...string) string {
		t.Helper()
		name := filepath.Join(append([]string{folder}, path...)...)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	// The program has one function for each example. An overlay makes it a package of this
	// module. After each example it moves the assembly away.
	sources, calls, examples := map[string]string{}, "", []string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		room := filepath.Base(filepath.Dir(file))
		_, code, _ := strings.Cut(string(content), "\n")
		for _, found := range exampleHeader.FindAllStringSubmatchIndex(code, -1) {
			body, _, _ := strings.Cut(code[found[1]:], "\n}\n")
			if strings.Contains(body, "// Output:") {
				continue
			}
			name := room + "_" + code[found[2]:found[3]]
			examples = append(examples, name)
			calls += fmt.Sprintf("\trun(%q, example_%s)\n", name, name)
			if strings.Count(body, endOfCDK) != 1 {
				t.Errorf("%s does not end the CDK once", name)
			}
		}
		code = exampleHeader.ReplaceAllString(code, "func example_"+room+"_$1() {")
		code = strings.ReplaceAll(code, endOfCDK, "\n\t_ = jsii.Close\n")
		sources[filepath.Join(root, "examplesofpackages", room+".go")] = write("package main\n"+code, "sources", room+".go")
	}
	sources[filepath.Join(root, "examplesofpackages", "main.go")] = write(examplesProgram+calls+"}\n", "sources", "main.go")
	overlay, err := json.Marshal(map[string]any{"Replace": sources})
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "program")
	output(t, exec.Command("go", "build", "-ldflags=-w", "-overlay", write(string(overlay), "overlay.json"), "-o", program, "./examplesofpackages"))

	// The examples name handlers of the importer's module.
	write("module example.com/app\n\ngo 1.26\n\nrequire "+modulePath+" v0.0.0\n\nreplace "+modulePath+" => "+root+"\n", "app", "go.mod")
	for _, handler := range []string{"handlers/invoices", "handlers/orders", "handlers/packer", "handlers/report", "lambdas/bookings/bookingsapi"} {
		write("package main\n\nfunc main() {}\n", "app", handler, "main.go")
	}
	assemblies := filepath.Join(folder, "assemblies")
	if err := os.Mkdir(assemblies, 0o755); err != nil {
		t.Fatal(err)
	}
	synth := exec.Command(program, assemblies)
	synth.Dir = filepath.Join(folder, "app")
	synth.Env = append(os.Environ(), "CDK_OUTDIR="+filepath.Join(folder, "cdk.out"))
	output(t, synth)
	for _, example := range examples {
		if templates, err := filepath.Glob(filepath.Join(assemblies, example, "*.template.json")); err != nil || len(templates) == 0 {
			t.Errorf("%s synthesises nothing", example)
		}
	}
	if len(examples) < 15 {
		t.Errorf("got the examples %v, want those of all constructs", examples)
	}
}

// linesOfGo counts the lines of all Go files below a folder.
func linesOfGo(t *testing.T, folder string) int {
	t.Helper()
	lines := 0
	if err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
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
