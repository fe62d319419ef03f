// Package constructs tests which part of the module may import which other part.
package constructs

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// module begins the import paths of this module.
const module = "github.com/onesynth-cdk/onesynth/"

// listed returns the names of the platforms: the list in package platforms imports a construct of each. Each has three
// rooms with its name: its contract in platforms, and those in constructs and lambdas.
func listed(t *testing.T) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "platforms", "platforms.go"), nil,
		parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, i := range parsed.Imports {
		name, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module+"constructs/")
		if _, err := os.Stat(filepath.Join("..", "lambdas", name)); ok && err == nil {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		t.Fatalf("platforms of the list: got %v", names)
	}
	return names
}

// dependencies returns the import path of every package that the packages of the
// pattern need, tests not counted, by package of this module.
func dependencies(t *testing.T, pattern string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, p := range list(t, pattern) {
		all[p.ImportPath] = p.Deps
	}
	return all
}

// listing is a package as "go list" describes it.
type listing struct {
	ImportPath    string
	Imports, Deps []string
}

// list returns the packages that "go list" lists with those arguments.
func list(t *testing.T, arguments ...string) (all []listing) {
	t.Helper()
	command := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Imports,Deps"}, arguments...)...)
	command.Dir = ".."
	output, err := command.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list %v: %s", arguments, exit.Stderr)
		}
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	for {
		var p listing
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// startsProcesses says of each package of this module that starts processes for the tests of make test what makes Go
// run them again: Go does not see what a process reads.
var startsProcesses = map[string]string{
	"cmd/onesynth":            "its tests run its own main package, which they are part of",
	"run/command/commandtest": "the same",
	"constructs":              "reads ONESYNTH_SOURCES",
	"constructs/synthtest":    "its process is the test's own program; reads ONESYNTH_TOOLS",
	"gobuild":                 "its tests build modules that they write",
	"local":                   "its tests build modules that they write",
	"internal/services/dynamodb": "enginetest reads ONESYNTH_TOOLS, and looks for the release of DynamoDB " +
		"Local",
	"internal/lake/lakecommand":                   "its tests of make test start none",
	"internal/services/lambda":                    "lambdatest reads what it builds",
	"internal/services/lambda/lambdatest":         "reads what it builds",
	"internal/dev":                                "its tests list modules that they write",
	"internal/services/dynamodb/enginetest/share": "has no tests",
	"internal/processgroup":                       "starts none: those that call it do",
	"tools/release/notices":                       "has no tests",
	"tools/release/prepare":                       "its tests run git in folders that they write",
	"tools/release/publish":                       "has no tests",
	"onesynthtest":                                "reads ONESYNTH_SOURCES and ONESYNTH_TOOLS",
}

// make test keeps the results of its tests until something changes that Go knows of, and compiles no CDK for the
// packages that test/tier calls light.
func TestLightPackages(t *testing.T) {
	t.Parallel()
	_ = os.Getenv("ONESYNTH_SOURCES") // Go runs these tests again when it changes
	command := exec.Command("test/tier", "parts", "light")
	command.Dir = ".."
	output, err := command.Output()
	if err != nil {
		t.Fatalf("test/tier: %v", err)
	}
	light := strings.Fields(string(output))
	if len(light) < 50 {
		t.Fatalf("test/tier: got the light packages %q, want those of all rooms", light)
	}
	seen := map[string]bool{}
	for _, p := range list(t, append([]string{"-test", "-deps"}, light...)...) {
		path, _, _ := strings.Cut(p.ImportPath, " ")
		if strings.HasPrefix(path, "github.com/aws/aws-cdk-go/") {
			t.Fatalf("the light packages of test/tier need %s: leave out those that do", path)
		}
		room, own := strings.CutPrefix(strings.TrimSuffix(path, "_test"), module)
		if !own || !slices.Contains(p.Imports, "os/exec") {
			continue
		}
		if seen[room] = true; startsProcesses[room] == "" {
			t.Errorf("%s starts processes: say in startsProcesses what makes Go run the tests again", room)
		}
	}
	if !seen["internal/services/dynamodb"] {
		t.Error("no test of make test needs DynamoDB Local")
	}
}

// handlers returns the folders of the main packages below lambdas.
func handlers(t *testing.T) []string {
	t.Helper()
	mains, err := filepath.Glob(filepath.Join("..", "lambdas", "*", "*", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, main := range mains {
		folders = append(folders, strings.TrimPrefix(filepath.ToSlash(filepath.Dir(main)), "../"))
	}
	if len(folders) == 0 {
		t.Fatal("no handlers in lambdas")
	}
	return folders
}

// rooms returns the folders right below those folders.
func rooms(t *testing.T, folders ...string) []string {
	t.Helper()
	var all []string
	for _, folder := range folders {
		entries, err := os.ReadDir(filepath.Join("..", folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if entry.IsDir() {
				all = append(all, folder+"/"+entry.Name())
			}
		}
	}
	return all
}

// Data flows one way: from schema to constructs and lambdas, and from their output to AWS or the
// local run. So handlers compile in seconds, and the local run cannot know more than the assembly
// says.
func TestDependencies(t *testing.T) {
	t.Parallel()
	cdk := []string{"github.com/aws/aws-cdk-go/", "github.com/aws/constructs-go/", "github.com/aws/jsii-runtime-go",
		"github.com/cdklabs/"}
	aws := []string{"github.com/aws/"}
	// Packages of the CDK that need many others, which an importer's first build would compile: 38 of 204.
	costly := []string{"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53targets",
		"github.com/aws/aws-cdk-go/awscdk/v2/awsschedulertargets"}
	names := listed(t)
	// The rooms of the platforms, which the shared parts and other platforms must not know, and those of their list.
	var platforms []string
	list := []string{module + "platforms$", module + "internal/platforms/platformtest"}
	for _, name := range names {
		platforms = append(platforms, module+"constructs/"+name, module+"lambdas/"+name, module+"platforms/"+name)
	}
	type test struct {
		// part is a folder of the module, with all folders below it.
		part string
		// never are prefixes of import paths that it must not need. A $ is the end of a path.
		never []string
	}
	tests := []test{
		{"finding", append([]string{module}, aws...)},
		{"schema", append([]string{module + "check", module + "cmd", module + "constructs", module + "gobuild",
			module + "in", module + "l", module + "o", module + "p"}, aws...)},
		{"gobuild", append([]string{module}, aws...)},
		{"cron", append([]string{module}, aws...)},
		{"intrinsic", append([]string{module}, aws...)},
		{"check", append([]string{module + "cmd", module + "constructs", module + "gobuild", module + "internal",
			module + "lambdas", module + "local", module + "schema"}, aws...)},
		{"lambdas", append([]string{module + "constructs", module + "gobuild", module + "cmd"}, cdk...)},
		{"constructs", append([]string{module + "lambdas", module + "internal", module + "local", module + "cmd"},
			append(list, costly...)...)},
		// Without DuckDB, the command needs no C compiler, and is linked in a third of the time.
		{"cmd/onesynth", []string{"github.com/duckdb/", module + "internal/lake/lakequery"}},
		{"local", append([]string{module + "check", module + "constructs", module + "lambdas", module + "platforms",
			module + "schema"}, cdk...)},
		{"internal", append([]string{module + "check", module + "constructs", module + "lambdas", module + "local",
			module + "platforms", module + "schema"}, cdk...)},
		{"onesynthtest", append([]string{module + "cmd", module + "constructs", module + "lambdas",
			module + "platforms"}, cdk...)},
		{"constructs/gofunction", []string{module + "schema"}},
		{"constructs/identity", []string{module + "schema"}},
	}
	for _, room := range rooms(t, "constructs", "lambdas") {
		never := platforms
		if name := filepath.Base(room); slices.Contains(names, name) {
			never = slices.DeleteFunc(slices.Clone(platforms), func(path string) bool {
				return path == module+room || path == module+"platforms/"+name
			})
			if strings.HasPrefix(room, "lambdas/") {
				never = append(never, module+"lambdas/lake")
			}
		}
		tests = append(tests, test{room, never})
	}
	for _, handler := range handlers(t) {
		tests = append(tests, test{handler, []string{module + "internal", module + "local"}})
	}
	for _, test := range tests {
		t.Run(test.part, func(t *testing.T) {
			t.Parallel()
			packages := dependencies(t, "./"+test.part+"/...")
			if len(packages) == 0 {
				t.Fatalf("no packages in %s", test.part)
			}
			for path, needed := range packages {
				for _, need := range needed {
					// Packages of the part itself and their like below the same folder.
					if need == path || strings.HasPrefix(need, module+test.part+"/") || need == module+test.part {
						continue
					}
					// A construct needs what its contract needs.
					if test.part == "constructs" && slices.Contains(language, need) {
						continue
					}
					for _, never := range test.never {
						if strings.HasPrefix(need+"$", never) {
							t.Errorf("%s needs %s: %s must not know it", path, need, test.part)
						}
					}
				}
			}
		})
	}
}

// language is what the contracts of platforms are written in: of this module, they need nothing else.
var language = []string{
	module + "schema", module + "finding", module + "cron",
	module + "schema/problem", module + "schema/validate", module + "schema/wire",
}

// A contract says what a platform is. Constructs and handlers both read it, so it needs neither of them, nothing of
// AWS, and no store.
func TestContracts(t *testing.T) {
	t.Parallel()
	names := listed(t)
	for _, room := range rooms(t, "platforms") {
		if !slices.Contains(names, filepath.Base(room)) {
			continue
		}
		for path, needed := range dependencies(t, "./"+room+"/...") {
			for _, need := range needed {
				outside := strings.HasPrefix(need, module) && !strings.HasPrefix(need, module+room)
				if outside && !slices.Contains(language, need) || strings.HasPrefix(need, "github.com/aws/") {
					t.Errorf("%s needs %s: a contract needs, beside other modules than AWS's, no more than %v", path,
						need, language)
				}
			}
		}
	}
}

// namesPlatforms are files outside of the platforms' rooms that name several platforms, and
// what for. No further platform changes them.
var namesPlatforms = map[string]string{
	"internal/platforms/platforms.go": "it is the list",
	"run/command/platforms.go":        "it is the list of their own commands",
	"existing_test.go":                "one platform gets existing tables, and the other a table with a stream",
	"test/earlier/earlier_test.go":    "it reads what each platform left behind in an earlier version",
}

// Files that are shared know no platform, so that a further one is a line in the list: code
// names none, and a test at most the one that it has for an example. A platform's rooms are the
// folders with its name. A file whose name begins with it is a room in a shared folder: it names
// that platform, and no other.
func TestSharedFilesNameNoPlatform(t *testing.T) {
	t.Parallel()
	names := listed(t)
	words := map[string]*regexp.Regexp{}
	for _, name := range names {
		words[name] = wordOf(name)
	}
	excused := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file := strings.TrimPrefix(filepath.ToSlash(path), "../")
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata" ||
			entry.Name() == "examples" || slices.Contains(names, entry.Name())) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		named, err := named(path, words)
		if err != nil {
			return err
		}
		named = slices.DeleteFunc(named, func(name string) bool { return strings.HasPrefix(entry.Name(), name) })
		most := 0
		if strings.HasSuffix(file, "_test.go") {
			most = 1
		}
		switch _, ok := namesPlatforms[file]; {
		case ok:
			excused[file] = len(named) > most
		case len(named) > most:
			t.Errorf("%s names %v, allowed are %d: range over package platforms, or move what is of one platform "+
				"into its rooms", file, named, most)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file, why := range namesPlatforms {
		if !excused[file] {
			t.Errorf("%s names no platforms (%s): take it off namesPlatforms", file, why)
		}
	}
}

// named returns the platforms that identifiers, imports or texts of a Go file name.
func named(file string, words map[string]*regexp.Regexp) ([]string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []string
	look := func(text string) {
		for name, word := range words {
			if !slices.Contains(found, name) && word.MatchString(strings.ReplaceAll(text, "-", "")) {
				found = append(found, name)
			}
		}
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.Ident:
			if node.Name != "TODO" { // of package context
				look(node.Name)
			}
		case *ast.BasicLit:
			look(node.Value)
		}
		return true
	})
	return found, nil
}

// wordOf matches a name that begins a word: in "askahuman", "newAskAHuman" and "AskAHuman", but
// not the "todo" in "CognitoDomain".
func wordOf(name string) *regexp.Regexp {
	first, rest := name[:1], name[1:]
	return regexp.MustCompile(`(^|[^A-Za-z])(?i:` + name + `)|[a-z]` + strings.ToUpper(first) + `(?i:` + rest + `)`)
}
