// Package constructs tests which part of the module may import which other part.
package constructs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// module begins the import paths of this module.
const module = "github.com/onesynth-cdk/onesynth/"

// listed returns the names of the platforms: the list in internal/platforms imports a construct of each. Each has three
// packages with its name: its contract in platforms, and those in constructs and lambdas.
func listed(t *testing.T) []string {
	t.Helper()
	file := filepath.Join("..", "internal", "platforms", "platforms.go")
	parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly))(t)
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

// listing is a package as "go list" describes it. Deps are the import paths of all packages that it needs, tests not
// counted.
type listing struct {
	ImportPath    string
	Imports, Deps []string
}

// list returns the packages of this module that "go list" lists with those arguments.
func list(t *testing.T, arguments ...string) (all []listing) {
	t.Helper()
	command := exec.Command("go", append([]string{"list", "-e", "-f",
		"{{.ImportPath}}\t{{join .Imports \" \"}}\t{{join .Deps \" \"}}"}, arguments...)...)
	command.Dir, command.Stderr = "..", t.Output()
	output := must.Get(command.Output())(t)
	for line := range strings.Lines(string(output)) {
		fields := strings.Split(line, "\t")
		all = append(all, listing{fields[0], strings.Fields(fields[1]), strings.Fields(fields[2])})
	}
	return all
}

// startsProcesses says of each package of this module that starts processes for the tests of make test what makes Go
// run them again: Go does not see what a process reads.
var startsProcesses = map[string]string{
	"run/command":                             "its tests run the command that it is",
	"run/command/commandtest":                 "the same",
	"constructs":                              "reads ONESYNTH_SOURCES",
	"constructs/synthtest":                    "its process is the test's own program; reads ONESYNTH_TOOLS",
	"internal/gobuild":                        "its tests build modules that they write",
	"run":                                     "its tests build modules that they write",
	"internal/engine":                         "enginetest reads ONESYNTH_TOOLS, and looks for DynamoDB Local",
	"run/internal/lake/lakecommand":           "its tests of make test start none",
	"run/internal/services/lambda":            "lambdatest reads what it builds",
	"run/internal/services/lambda/lambdatest": "reads what it builds",
	"run/internal/dev":                        "its tests list modules that they write",
	"internal/engine/enginetest/share":        "has no tests",
	"internal/processgroup":                   "starts none: those that call it do",
	"tools/mutants":                           "its tests build a module that they write",
	"tools/release/notices":                   "has no tests",
	"tools/release/prepare":                   "its tests run git in folders that they write",
	"tools/release/publish":                   "has no tests",
	"tools/summary":                           "its tests run a function of test/tier, which they read",
	"run/onesynthtest":                        "reads ONESYNTH_SOURCES and ONESYNTH_TOOLS",
	"run/onesynthtest/wait":                   "starts what its callers give it",
	"internal/shell":                          "its tests run the shell with what they write",
	"lambdas/kit/webapp/webapptest":           "reads what its scripts read, and ONESYNTH_TOOLS",
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
		t.Fatalf("test/tier: got the light packages %q, want those of all folders", light)
	}
	seen := map[string]bool{}
	for _, p := range list(t, append([]string{"-test", "-deps"}, light...)...) {
		path, _, _ := strings.Cut(p.ImportPath, " ")
		if strings.HasPrefix(path, "github.com/aws/aws-cdk-go/") {
			t.Fatalf("the light packages of test/tier need %s: leave out those that do", path)
		}
		folder, own := strings.CutPrefix(strings.TrimSuffix(path, "_test"), module)
		if !own || !slices.Contains(p.Imports, "os/exec") {
			continue
		}
		if seen[folder] = true; startsProcesses[folder] == "" {
			t.Errorf("%s starts processes: say in startsProcesses what makes Go run the tests again", folder)
		}
	}
	if !seen["internal/engine"] {
		t.Error("no test of make test needs DynamoDB Local")
	}
}

// What importers ship knows nothing of the local run: a program of theirs has none of it. Packages for tests, whose names
// end in test, may start DynamoDB Local.
func TestLibraryKnowsNoRun(t *testing.T) {
	t.Parallel()
	run := []string{"run", "cmd", "tools"}
	for _, p := range list(t, "./schema/...", "./platforms/...", "./constructs/...", "./lambdas/...", "./check/...",
		"./internal/...") {
		needs := p.Deps
		if strings.HasSuffix(p.ImportPath, "test") {
			needs = p.Imports
		}
		for _, need := range needs {
			part, own := strings.CutPrefix(need, module)
			if first, _, _ := strings.Cut(part, "/"); own && slices.Contains(run, first) {
				t.Errorf("%s needs %s, which is of the local run: the library runs without it", p.ImportPath, need)
			}
		}
	}
}

// foldersIn returns the folders right below those folders.
func foldersIn(t *testing.T, folders ...string) []string {
	t.Helper()
	var all []string
	for _, folder := range folders {
		entries := must.Get(os.ReadDir(filepath.Join("..", folder)))(t)
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
	// The packages of the platforms, which the shared parts and other platforms must not know.
	var platforms []string
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
		{"schema/finding", append([]string{module}, aws...)},
		{"schema", append([]string{module + "check", module + "cmd", module + "constructs", module + "lambdas",
			module + "platforms", module + "run"}, aws...)},
		{"internal/cron", append([]string{module}, aws...)},
		{"internal/engine", append([]string{module + "check", module + "constructs", module + "lambdas",
			module + "platforms", module + "run", module + "schema"}, cdk...)},
		{"internal/gobuild", append([]string{module}, aws...)},
		{"internal/intrinsic", append([]string{module}, aws...)},
		{"internal/pattern", append([]string{module}, aws...)},
		{"check", append([]string{module + "cmd", module + "constructs", module + "lambdas", module + "run",
			module + "schema$"}, aws...)},
		{"lambdas", append([]string{module + "constructs", module + "internal/gobuild", module + "cmd",
			module + "run"}, cdk...)},
		{"constructs", append([]string{module + "lambdas", module + "run", module + "cmd"},
			append([]string{module + "internal/platforms"}, costly...)...)},
		// Without DuckDB, the command needs no C compiler, and is linked in a third of the time.
		{"cmd/onesynth", append([]string{"github.com/duckdb/", module + "run/internal/lake/lakequery",
			module + "constructs"}, cdk...)},
		{"run/internal", append([]string{module + "check", module + "constructs", module + "lambdas",
			module + "platforms", module + "run/command", module + "run/onesynthtest", module + "schema"}, cdk...)},
		{"run/onesynthtest", append([]string{module + "cmd", module + "constructs", module + "lambdas",
			module + "platforms"}, cdk...)},
		{"lambdas/kit/site", append([]string{module}, aws...)},
		{"lambdas/kit/must", append([]string{module}, aws...)},
		{"constructs/gofunction", []string{module + "schema$"}},
		{"constructs/identity", []string{module + "schema$"}},
	}
	for _, folder := range foldersIn(t, "constructs", "lambdas") {
		never := platforms
		if name := filepath.Base(folder); slices.Contains(names, name) {
			never = slices.DeleteFunc(slices.Clone(platforms), func(path string) bool {
				return path == module+folder || path == module+"platforms/"+name
			})
			if strings.HasPrefix(folder, "lambdas/") {
				never = append(never, module+"lambdas/lake")
			}
		}
		tests = append(tests, test{folder, never})
	}
	for _, test := range tests {
		t.Run(test.part, func(t *testing.T) {
			t.Parallel()
			packages := list(t, "./"+test.part+"/...")
			if len(packages) == 0 {
				t.Fatalf("no packages in %s", test.part)
			}
			for _, p := range packages {
				for _, need := range p.Deps {
					// Packages of the part itself and their like below the same folder.
					if need == p.ImportPath || need == module+test.part ||
						strings.HasPrefix(need, module+test.part+"/") {
						continue
					}
					// A construct needs what its contract needs.
					if test.part == "constructs" && slices.Contains(language, need) {
						continue
					}
					if slices.Contains(anywhere, need) {
						continue
					}
					for _, never := range test.never {
						if strings.HasPrefix(need+"$", never) {
							t.Errorf("%s needs %s: %s must not know it", p.ImportPath, need, test.part)
						}
					}
				}
			}
		})
	}
}

// anywhere are packages that know nothing else of this module: the console serves its page as functions serve theirs,
// and tests of all packages end in one way.
var anywhere = []string{module + "lambdas/kit/site", module + "lambdas/kit/must", module + "lambdas/kit/goldentest"}

// language is what the contracts of platforms are written in: of this module, they need nothing else.
var language = []string{
	module + "schema", module + "schema/finding", module + "schema/model", module + "schema/problem",
	module + "schema/validate", module + "schema/wire", module + "internal/cron",
}

// A contract says what a platform is. Constructs and handlers both read it, so it needs neither of them, nothing of
// AWS, and no store.
func TestContracts(t *testing.T) {
	t.Parallel()
	names := listed(t)
	for _, folder := range foldersIn(t, "platforms") {
		if !slices.Contains(names, filepath.Base(folder)) {
			continue
		}
		for _, p := range list(t, "./"+folder+"/...") {
			for _, need := range p.Deps {
				outside := strings.HasPrefix(need, module) && !strings.HasPrefix(need, module+folder)
				if outside && !slices.Contains(language, need) || strings.HasPrefix(need, "github.com/aws/") {
					t.Errorf("%s needs %s: of this module and of AWS's, a contract may import %v alone",
						p.ImportPath, need, language)
				}
			}
		}
	}
}

// A contract is made of values and types: what derives forms of them, and what speaks HTTP, is package openapi's and the
// servers'.
func TestSchemaIsValues(t *testing.T) {
	t.Parallel()
	for _, p := range list(t, "./schema") {
		for _, need := range p.Deps {
			if need == "net/http" || strings.HasPrefix(need, "github.com/danielgtaylor/") {
				t.Errorf("%s needs %s: package openapi, or the server, is for that", p.ImportPath, need)
			}
		}
	}
	for _, p := range list(t, "./platforms/...", "./constructs/...", "./run/...", "./lambdas/...") {
		if slices.Contains(p.Imports, "github.com/danielgtaylor/huma/v2") && !strings.HasSuffix(p.ImportPath, "test") {
			t.Errorf("%s imports huma: package openapi derives forms", p.ImportPath)
		}
	}
}

// namesPlatforms are files outside of the platforms' packages that name several platforms, and
// what for. No further platform changes them.
var namesPlatforms = map[string]string{
	"internal/platforms/platforms.go": "it is the list",
	"run/command/platforms.go":        "it is the list of their own commands",
	"existing_test.go":                "one platform gets existing tables, and the other a table with a stream",
	"test/earlier/earlier_test.go":    "it reads what each platform left behind in an earlier version",
}

// Files that are shared know no platform, so that a further one is a line in the list: code
// names none, and a test at most the one that it has for an example. A platform's packages are the
// folders with its name. A file whose name begins with it is its part of a shared folder: it names
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
			entry.Name() == "examples" || path == filepath.Join("..", "bin") || slices.Contains(names, entry.Name())) {
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
				"into its packages", file, named, most)
		}
		return nil
	})
	must.OK(t, err)
	for file, why := range namesPlatforms {
		if !excused[file] {
			t.Errorf("%s names no platforms (%s): take it off namesPlatforms", file, why)
		}
	}
}

// What a time zone's name is has one place, cron.Zone: time.LoadLocation also takes the names of files that lie beside
// the zones of a machine.
func TestTimeZones(t *testing.T) {
	t.Parallel()
	callers := []string{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"bin", "examples", "node_modules", "testdata"}, entry.Name()):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), "time.LoadLocation(") {
			callers = append(callers, strings.TrimPrefix(filepath.ToSlash(path), "../"))
		}
		return err
	})
	if want := []string{"internal/cron/zone.go"}; err != nil || !slices.Equal(callers, want) {
		t.Errorf("time.LoadLocation is called in %v, %v; want %v alone: call cron.Zone", callers, err, want)
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
