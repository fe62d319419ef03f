package workflows_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/onesynth-cdk/onesynth/lambdas/kit/goldentest"
	"github.com/onesynth-cdk/onesynth/lambdas/kit/must"
)

// file is a file of Go of the tests.
type file struct {
	*ast.File
	path string
}

// bubbles reports whether the file's tests may be in bubbles of testing/synctest, where timers take no time.
func (f file) bubbles() bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing/synctest"` })
}

// testFiles returns the files of the tests of all modules, and of the packages that support them, by folder.
func testFiles(t *testing.T) map[string][]file {
	t.Helper()
	root, files := filepath.Join("..", ".."), map[string][]file{}
	must.OK(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		switch {
		case entry.IsDir() &&
			slices.Contains([]string{".git", "bin", "cdk.out", "node_modules", "testdata"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		case !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "test/") &&
			!strings.HasPrefix(name, "tools/bench/routes/") && !strings.HasPrefix(name, "run/onesynthtest/"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(name))
		files[folder] = append(files[folder], file{parsed, name})
		return nil
	}))
	return files
}

// uses is what the body of a function names: functions and methods of its package, and what it waits for.
type uses struct{ names, waits map[string]bool }

// kinds are what a test waits for when it calls a function of a package.
var kinds = map[string]string{
	"exec.Command": "a process", "exec.CommandContext": "a process", "wait.Start": "a process",
	"testscript.Run": "a process",
	"gobuild.Build":  "a build", "dev.New": "a watch", "run.Start": "a run", "run.Run": "a run",
	"suite.OwnRun": "a run", "suite.OwnRunOf": "a run", "suite.EditedRun": "a run", "suite.FastSchedules": "a run",
	"suite.Start":   "a run",
	"browser.Start": "a browser", "browser.Require": "a browser", "browser.Evaluate": "a browser",
	"time.After": "a timer", "time.Sleep": "a timer", "time.AfterFunc": "a timer", "time.NewTimer": "a timer",
	"time.NewTicker": "a timer",
}

func usesOf(body ast.Node, bubbles bool) uses {
	found := uses{map[string]bool{}, map[string]bool{}}
	var visit func(ast.Node)
	look := func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.Ident:
			found.names[node.Name] = true
		case *ast.SelectorExpr:
			found.names["."+node.Sel.Name] = true
			visit(node.X)
			return false
		case *ast.BasicLit:
			if node.Value == `"--watch"` {
				found.waits["a watch"] = true
			}
		case *ast.CallExpr:
			selector, ok := node.Fun.(*ast.SelectorExpr)
			if index, generic := node.Fun.(*ast.IndexExpr); generic {
				selector, ok = index.X.(*ast.SelectorExpr)
			}
			if !ok {
				break
			}
			of, ok := selector.X.(*ast.Ident)
			if !ok {
				break
			}
			name := of.Name + "." + selector.Sel.Name
			if kind := kinds[name]; kind != "" && !(bubbles && kind == "a timer") {
				if kind == "a process" && len(node.Args) > 1 && isGo(node.Args) {
					kind = "a build"
				}
				found.waits[kind] = true
			}
			switch name {
			case "wait.Until", "wait.For":
				found.waits[cmp.Or(text(node.Args[1]), "a state")] = true
			case "wait.Said":
				found.waits["a line of output"] = true
			}
			if of.Name == "tab" {
				found.waits["a browser"] = true
			}
		}
		return true
	}
	visit = func(node ast.Node) { ast.Inspect(node, look) }
	visit(body)
	return found
}

// isGo reports whether the arguments of a command begin with the Go command.
func isGo(arguments []ast.Expr) bool {
	return slices.ContainsFunc(arguments[:2], func(argument ast.Expr) bool {
		literal, ok := argument.(*ast.BasicLit)
		return ok && literal.Value == `"go"`
	})
}

// text returns the parts of an expression that are literals, with … for the others.
func text(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.BasicLit:
		plain, err := strconv.Unquote(e.Value)
		if err != nil {
			return ""
		}
		return strings.NewReplacer("%d", "…", "%v", "…", "%s", "…", "%q", "…").Replace(plain)
	case *ast.BinaryExpr:
		return cmp.Or(text(e.X), "…") + cmp.Or(text(e.Y), "…")
	case *ast.CallExpr:
		if len(e.Args) > 0 {
			return text(e.Args[0])
		}
	}
	return ""
}

// waitsOf returns what each test of a folder waits for, by itself and by the functions of its package.
func waitsOf(files []file) map[string][]string {
	functions, tests := map[string][]uses{}, map[string]bool{}
	for _, f := range files {
		for _, declared := range f.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if !ok || function.Body == nil {
				continue
			}
			name := function.Name.Name
			if function.Recv != nil {
				name = "." + name
			}
			functions[name] = append(functions[name], usesOf(function.Body, f.bubbles()))
			if strings.HasPrefix(name, "Test") && name != "TestMain" &&
				strings.HasSuffix(f.path, "_test.go") {
				tests[name] = true
			}
		}
	}
	found := map[string][]string{}
	for test := range tests {
		waits, seen := map[string]bool{}, map[string]bool{test: true}
		for left := []string{test}; len(left) > 0; left = left[1:] {
			for _, of := range functions[left[0]] {
				maps.Copy(waits, of.waits)
				for name := range of.names {
					if !seen[name] && functions[name] != nil && !tests[name] {
						seen[name] = true
						left = append(left, name)
					}
				}
			}
		}
		if len(waits) > 1 {
			delete(waits, "a state") // of a helper, whose callers name it
		}
		if len(waits) > 0 {
			found[test] = slices.Sorted(maps.Keys(waits))
		}
	}
	return found
}

// test/waits.txt has each test that waits for a process, a build, a watch, a run of its own, a browser or a timer, with
// the states that it waits for.
func TestWaits(t *testing.T) {
	t.Parallel()
	_ = os.Getenv("ONESYNTH_SOURCES") // Go runs this test again when it changes
	var lines []string
	for folder, files := range testFiles(t) {
		for test, waits := range waitsOf(files) {
			lines = append(lines, folder+" "+test+": "+strings.Join(waits, ", ")+"\n")
		}
	}
	slices.Sort(lines)
	goldentest.Check(t, filepath.Join("..", "waits.txt"), []byte(strings.Join(lines, "")))
	if len(lines) < 100 {
		t.Errorf("got %d tests that wait, want those of all modules", len(lines))
	}
}

// A test waits for a state by package wait. Where one sleeps, test/sleeps.txt says what the time is.
func TestSleeps(t *testing.T) {
	t.Parallel()
	_ = os.Getenv("ONESYNTH_SOURCES")
	found := map[string]bool{}
	for _, files := range testFiles(t) {
		for _, f := range files {
			bubbles := f.bubbles()
			ast.Inspect(f.File, func(node ast.Node) bool {
				if selector, ok := node.(*ast.SelectorExpr); ok && selector.Sel.Name == "Sleep" && !bubbles {
					if of, ok := selector.X.(*ast.Ident); ok && of.Name == "time" {
						found[f.path] = true
					}
				}
				return true
			})
		}
	}
	text := must.Get(os.ReadFile("../sleeps.txt"))(t)
	reasons := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		path, reason, said := strings.Cut(strings.TrimSpace(line), ": ")
		if reasons[path] = true; !found[path] || !said || reason == "" {
			t.Errorf("test/sleeps.txt: %s: this file does not sleep, or the line has no reason", path)
		}
	}
	for path := range found {
		if !reasons[path] {
			t.Errorf("%s sleeps: wait for a state by package wait, or say in test/sleeps.txt what the time is", path)
		}
	}
}
